"""Progress says where a publish stands, and looks again less and less often, until it is over."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models.operations import Outcome
from dashboard.operations.publish_progress import (
    POLLING_PERIOD,
    Progress,
    Stage,
    poll_interval_s,
    publish_progress,
)
from dashboard.operations.typical_times import QueueTime, TypicalTimes, queue_time, summarise_times
from tests import wire

ASKED = datetime(2026, 3, 12, 14, 6, 12, tzinfo=UTC)
BEFORE, AFTER, LATER = ((ASKED + timedelta(minutes=minutes)).isoformat() for minutes in (-60, 1, 2))


def version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.version(**differs))


def live_version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.live_version(**{"publishedAt": BEFORE} | differs))


def progress(seen: AudienceVersion | None, **differs: Any) -> Progress:
    given_: dict[str, Any] = {
        "outcome": Outcome.ACCEPTED,
        "live": live_version(),
        "is_named": True,
        "requested_at": ASKED,
        "usual": None,
        "now": ASKED + timedelta(seconds=30),
    }
    return publish_progress(version=seen, **given_ | differs)


PUBLISHED = version(status="published", publishedAt=AFTER)
OVER = version(status="archived", publishedAt=AFTER, archivedAt=LATER)
OTHER_LATER = live_version(versionId="ver_3", versionNumber=3, queuedAt=AFTER, publishedAt=LATER)
OTHER_BEFORE = live_version(versionId="ver_3", versionNumber=3, queuedAt=BEFORE, publishedAt=AFTER)
OTHER_WITHOUT_ITS_QUEUE = live_version(versionId="ver_3", queuedAt="soon", publishedAt=LATER)


@pytest.mark.parametrize(
    ("seen", "differs", "stage"),
    [
        (version(), {"outcome": Outcome.SENDING}, Stage.SENDING),
        (version(), {"outcome": Outcome.UNKNOWN}, Stage.UNKNOWN),
        (None, {}, Stage.UNDER_WAY),
        (version(), {}, Stage.UNDER_WAY),
        (version(status="queued"), {}, Stage.UNDER_WAY),
        (version(status="napping"), {}, Stage.UNDER_WAY),
        (PUBLISHED, {"live": PUBLISHED}, Stage.LIVE),
        (PUBLISHED, {"live": None}, Stage.LIVE),
        (PUBLISHED, {}, Stage.LIVE),
        (PUBLISHED, {"live": OTHER_LATER}, Stage.REPLACED),
        (OVER, {"live": OTHER_LATER}, Stage.REPLACED),
        (version(status="queued"), {"live": OTHER_LATER}, Stage.UNDER_WAY),
        (version(status="queued"), {"live": OTHER_LATER, "is_named": False}, Stage.OVERTAKEN),
        (version(status="queued"), {"live": OTHER_BEFORE, "is_named": False}, Stage.UNDER_WAY),
        (
            version(status="queued"),
            {"live": OTHER_WITHOUT_ITS_QUEUE, "is_named": False},
            Stage.OVERTAKEN,
        ),
        (version(status="queued"), {"is_named": False}, Stage.UNDER_WAY),
        (version(status="cancelled", cancelledAt=AFTER), {}, Stage.CANCELLED),
        (version(status="archived", archivedAt=AFTER), {}, Stage.ARCHIVED),
        (version(status="archived", archivedAt=BEFORE, publishedAt=BEFORE), {}, Stage.UNDER_WAY),
    ],
)
def test_a_publish_stands_where_the_service_says(
    seen: AudienceVersion | None, differs: dict[str, Any], stage: Stage
) -> None:
    assert progress(seen, **differs).stage is stage


def states(shown: Progress) -> list[tuple[str, str]]:
    return [(step.word, step.state) for step in shown.steps]


def test_the_steps_fill_up_one_by_one() -> None:
    todo = [("Queued", "todo"), ("Processing", "todo"), ("Published", "todo")]
    assert states(progress(version())) == [("Draft", "now"), *todo]
    queued = [("Draft", "done"), ("Queued", "now"), *todo[1:]]
    assert states(progress(version(status="queued"))) == queued
    assert {state for _, state in states(progress(PUBLISHED))} == {"done"}


def test_a_step_that_came_to_nothing_ends_them() -> None:
    cancelled = progress(version(status="cancelled", cancelledAt=AFTER))
    assert states(cancelled)[-1] == ("Cancelled", "now")
    assert cancelled.steps[-1].at == ASKED + timedelta(minutes=1)


def test_publishing_an_earlier_version_begins_anew() -> None:
    again = progress(version(status="archived", publishedAt=BEFORE, archivedAt=BEFORE))
    assert states(again)[0] == ("Draft", "now")


def test_what_is_over_is_not_looked_at_again_and_counts_no_further() -> None:
    over = progress(PUBLISHED, now=ASKED + timedelta(days=7))
    assert (over.next_look_s, over.elapsed) == (None, timedelta(minutes=1))


def test_longer_than_usual_is_said() -> None:
    usual = TypicalTimes(half=timedelta(seconds=10), most=timedelta(seconds=20), seen=9)
    assert progress(version(status="queued"), usual=usual).is_long
    assert not progress(version(status="queued")).is_long
    assert not progress(PUBLISHED, usual=usual).is_long


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=20).map(sorted))
def test_looks_come_less_and_less_often_between_1_and_10_seconds(seconds: list[int]) -> None:
    waits = [poll_interval_s(timedelta(seconds=second)) for second in seconds]
    still = [wait for wait in waits if wait is not None]
    assert still == sorted(still)
    assert all(1 <= wait <= 10 for wait in still)
    assert waits[len(still) :] == [None] * (len(waits) - len(still))


def test_nobody_watches_for_ever() -> None:
    assert poll_interval_s(POLLING_PERIOD + timedelta(seconds=1)) is None


def queue_time_of(seconds: int) -> QueueTime:
    return QueueTime(ASKED, timedelta(seconds=seconds))


def test_what_is_usual_is_said_of_enough() -> None:
    assert summarise_times([queue_time_of(1)] * 4) is None
    usual = summarise_times([queue_time_of(second) for second in range(1, 101)])
    assert usual == TypicalTimes(timedelta(seconds=50), timedelta(seconds=95), 100)


def test_dates_that_are_missing_or_out_of_order_are_not_counted() -> None:
    at = ASKED.isoformat()
    assert queue_time(version(queuedAt=at, publishedAt=AFTER)) == QueueTime(
        ASKED + timedelta(minutes=1), timedelta(minutes=1)
    )
    assert queue_time(version(queuedAt=at, publishedAt=BEFORE)) is None
    assert queue_time(version(queuedAt="soon", publishedAt=None)) is None
