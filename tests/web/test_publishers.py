"""Who published what is live is said of the publish that brought it, and of no other."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.web.publishers import publish_behind
from tests import wire
from tests.far_end import FarEnd
from tests.web.html import text
from tests.web.one_audience import get
from tests.web.publishing_service import PublishingService
from tests.web.test_publish import EARLIER, publish, shown

ASKED = datetime(2026, 3, 12, 14, 6, 12, tzinfo=UTC)
BEFORE, THEN, LATER = ((ASKED + timedelta(minutes=minutes)).isoformat() for minutes in (-60, 1, 60))


def asked(**differs: Any) -> Operation:
    given: dict[str, Any] = {
        "version_id": "ver_2",
        "outcome": Outcome.ACCEPTED,
        "requested_at": ASKED,
        "settled_at": ASKED + timedelta(seconds=1),
    }
    return Operation(**given | differs)


def live(queued_at: str | None, published_at: str | None) -> AudienceVersion:
    sent = wire.version(status="published", queuedAt=queued_at, publishedAt=published_at)
    return AudienceVersion.model_validate(sent)


@pytest.mark.parametrize(
    ("version", "publish", "is_it"),
    [
        (live(THEN, THEN), asked(), True),
        (live(THEN, LATER), asked(), True),
        (live("soon", LATER), asked(), True),
        (live(LATER, LATER), asked(settled_at=ASKED + timedelta(hours=1)), True),
        (live(LATER, LATER), asked(), False),
        (live(BEFORE, THEN), asked(), False),
        (live(None, BEFORE), asked(), False),
        (live(None, None), asked(), False),
        (live(THEN, THEN), asked(before={"queuedAt": THEN}), False),
        (live(None, THEN), asked(before={"publishedAt": THEN}), False),
        (live(THEN, THEN), asked(outcome=Outcome.UNKNOWN), False),
        (live(THEN, THEN), asked(version_id="ver_1"), False),
    ],
)
def test_a_version_belongs_to_the_publish_that_queued_it(
    version: AudienceVersion, publish: Operation, *, is_it: bool
) -> None:
    assert publish_behind(version, [publish]) is (publish if is_it else None)


def test_of_two_publishes_the_one_that_queued_it_counts() -> None:
    first = asked()
    second = asked(requested_at=ASKED + timedelta(seconds=90), before={"queuedAt": THEN})
    assert publish_behind(live(THEN, THEN), [second, first]) is first


@pytest.mark.django_db
@pytest.mark.parametrize("is_again_elsewhere", [False, True])
def test_nobody_here_is_named_for_what_was_published_again_elsewhere(
    is_again_elsewhere: bool, as_publisher: Client, far_end: FarEnd
) -> None:
    far_end.answer = service = PublishingService()
    publish(as_publisher)
    service.moves_on("published")
    if is_again_elsewhere:
        later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        service.moves_on("published", queuedAt=later)
    told = [
        "By paula" in text(get(as_publisher, "audience-detail")),
        "Published by paula." in text(get(as_publisher, "version-list")),
        ", paula" in text(shown(as_publisher, EARLIER)),
    ]
    assert told == [not is_again_elsewhere] * 3
