"""A check settles only what it proves."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models.operations import Outcome
from dashboard.operations.verdicts import Verdict, publish_verdict
from tests.support import wire

REQUESTED_AT = datetime(2026, 3, 12, 14, 6, 12, tzinfo=UTC)
BEFORE, SLIGHTLY_BEFORE, AFTER = (
    (REQUESTED_AT + timedelta(minutes=minutes)).isoformat() for minutes in (-60, -1, 1)
)


def version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.version(**differs))


DRAFT = version().publish_state
WAS_LIVE = version(status="archived", queuedAt=BEFORE, publishedAt=BEFORE)
JUST_LIVE = version(status="published", queuedAt=SLIGHTLY_BEFORE, publishedAt=SLIGHTLY_BEFORE)
JUST_REPLACED = JUST_LIVE.model_copy(update={"status": "archived", "archived_at": AFTER})
QUEUED = version(status="queued", queuedAt=BEFORE).publish_state
WITHOUT_DATES = {"queuedAt": None, "publishedAt": None}


def verdict(before: Any, seen: AudienceVersion | None, *, is_rejected: bool = False) -> Verdict:
    return publish_verdict(
        number=2,
        before=before,
        version=seen,
        live=AudienceVersion.model_validate(wire.live_version()),
        requested_at=REQUESTED_AT,
        is_rejected=is_rejected,
    )


@pytest.mark.parametrize(
    ("before", "seen"),
    [
        (DRAFT, version(status="queued", queuedAt=AFTER)),
        (DRAFT, version(status="queued", queuedAt=SLIGHTLY_BEFORE)),
        (DRAFT, version(status="published", queuedAt=AFTER, publishedAt=AFTER)),
        (DRAFT, version(status="cancelled", queuedAt=AFTER)),
        (DRAFT, version(status="processing", **WITHOUT_DATES)),
        (DRAFT, version(status="queued", queuedAt="not a date")),
        (None, version(status="queued", queuedAt=AFTER)),
        (WAS_LIVE.publish_state, version(status="queued", queuedAt=AFTER)),
        (JUST_LIVE.publish_state, version(status="published", queuedAt=AFTER, publishedAt=AFTER)),
        (QUEUED, version(status="published", queuedAt=AFTER, publishedAt=AFTER)),
    ],
)
def test_a_version_queued_or_published_since_was_published(
    before: Any, seen: AudienceVersion
) -> None:
    assert verdict(before, seen).outcome is Outcome.ACCEPTED


@pytest.mark.parametrize(
    ("before", "seen"),
    [
        (DRAFT, version()),
        (DRAFT, None),
        (DRAFT, version(status="archived", archivedAt=AFTER)),
        (DRAFT, version(status="cancelled", cancelledAt=AFTER)),
        (DRAFT, version(status="published", queuedAt=BEFORE, publishedAt=BEFORE)),
        (None, version(status="published", **WITHOUT_DATES)),
        (None, version()),
        (WAS_LIVE.publish_state, WAS_LIVE),
        (JUST_LIVE.publish_state, JUST_LIVE),
        (JUST_LIVE.publish_state, JUST_REPLACED),
        (DRAFT, version(status="napping")),
        (QUEUED, version(status="published", queuedAt=BEFORE, publishedAt=AFTER)),
        (QUEUED, version(status="processing", queuedAt=BEFORE)),
    ],
)
def test_a_state_with_another_possible_cause_proves_nothing(
    before: Any, seen: AudienceVersion | None
) -> None:
    assert verdict(before, seen).outcome is Outcome.UNKNOWN


def test_the_finding_names_the_status_and_the_live_version() -> None:
    assert verdict(DRAFT, version()).detail == "version 2 is still draft (live: version 1)"


def test_a_rejected_retry_of_an_unchanged_version_is_rejected() -> None:
    assert verdict(DRAFT, version(), is_rejected=True).outcome is Outcome.REJECTED


@pytest.mark.parametrize("status", ["queued", "processing", "published", "cancelled"])
def test_a_rejected_retry_proves_nothing_without_effect(status: str) -> None:
    seen = version(status=status, queuedAt=BEFORE, publishedAt=BEFORE)
    assert verdict(seen.publish_state, seen, is_rejected=True).outcome is Outcome.UNKNOWN


def test_the_finding_names_an_earlier_publish_in_progress() -> None:
    seen = version(status="published", queuedAt=BEFORE, publishedAt=AFTER)
    result = verdict(QUEUED, seen).detail
    assert "it was already in progress before this request, so this proves nothing" in result


def test_a_rejected_retry_of_an_executed_publish_is_accepted() -> None:
    queued = version(status="queued", queuedAt=AFTER)
    assert verdict(DRAFT, queued, is_rejected=True).outcome is Outcome.ACCEPTED
    assert verdict(DRAFT, None, is_rejected=True).outcome is Outcome.UNKNOWN
