"""Progress reports the stage of a publish, and polls less and less often until the end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.operations.checking import VersionSnapshot
from dashboard.operations.publish_progress import (
    POLLING_PERIOD,
    PublishProgress,
    QueueTime,
    Stage,
    TypicalTimes,
    poll_interval_s,
    publish_progress,
    queue_time,
    summarize_times,
)
from tests.support import wire

REQUESTED_AT = datetime(2026, 3, 12, 14, 6, 12, tzinfo=UTC)
BEFORE, AFTER, LATER = (
    (REQUESTED_AT + timedelta(minutes=minutes)).isoformat() for minutes in (-60, 1, 2)
)


def version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.version(**differs))


def live_version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.live_version(**{"publishedAt": BEFORE} | differs))


def progress(seen: AudienceVersion | None, **differs: Any) -> PublishProgress:
    values: dict[str, Any] = {
        "outcome": Outcome.ACCEPTED,
        "live": live_version(),
        "is_returned": True,
        "usual": None,
        "now": REQUESTED_AT + timedelta(seconds=30),
    } | differs
    operation = Operation(outcome=values["outcome"], requested_at=REQUESTED_AT)
    snapshot = VersionSnapshot(seen, values["is_returned"], values["live"], as_of=values["now"])
    return publish_progress(operation, snapshot, usual=values["usual"], now=values["now"])


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
        (None, {}, Stage.IN_PROGRESS),
        (version(), {}, Stage.IN_PROGRESS),
        (version(status="queued"), {}, Stage.IN_PROGRESS),
        (version(status="napping"), {}, Stage.IN_PROGRESS),
        (PUBLISHED, {"live": PUBLISHED}, Stage.LIVE),
        (PUBLISHED, {"live": None}, Stage.LIVE),
        (PUBLISHED, {}, Stage.LIVE),
        (PUBLISHED, {"live": OTHER_LATER}, Stage.REPLACED),
        (OVER, {"live": OTHER_LATER}, Stage.REPLACED),
        (version(status="queued"), {"live": OTHER_LATER}, Stage.IN_PROGRESS),
        (version(status="queued"), {"live": OTHER_LATER, "is_returned": False}, Stage.OVERTAKEN),
        (version(status="queued"), {"live": OTHER_BEFORE, "is_returned": False}, Stage.IN_PROGRESS),
        (
            version(status="queued"),
            {"live": OTHER_WITHOUT_ITS_QUEUE, "is_returned": False},
            Stage.OVERTAKEN,
        ),
        (version(status="queued"), {"is_returned": False}, Stage.IN_PROGRESS),
        (version(status="cancelled", cancelledAt=AFTER), {}, Stage.CANCELLED),
        (version(status="archived", archivedAt=AFTER), {}, Stage.ARCHIVED),
        (version(status="archived", archivedAt=BEFORE, publishedAt=BEFORE), {}, Stage.IN_PROGRESS),
    ],
)
def test_the_stage_follows_from_the_versions_of_the_service(
    seen: AudienceVersion | None, differs: dict[str, Any], stage: Stage
) -> None:
    assert progress(seen, **differs).stage is stage


def states(progress: PublishProgress) -> list[tuple[str, str]]:
    return [(step.label, step.state) for step in progress.steps]


def test_the_steps_fill_up_one_by_one() -> None:
    todo = [("Queued", "todo"), ("Processing", "todo"), ("Live", "todo")]
    assert states(progress(version())) == [("Draft", "now"), *todo]
    queued = [("Draft", "done"), ("Queued", "now"), *todo[1:]]
    assert states(progress(version(status="queued"))) == queued
    assert {state for _, state in states(progress(PUBLISHED))} == {"done"}


def test_a_failed_step_ends_the_list() -> None:
    cancelled = progress(version(status="cancelled", cancelledAt=AFTER))
    assert states(cancelled)[-1] == ("Canceled", "now")
    assert cancelled.steps[-1].at == REQUESTED_AT + timedelta(minutes=1)


def test_publishing_an_earlier_version_starts_over() -> None:
    again = progress(version(status="archived", publishedAt=BEFORE, archivedAt=BEFORE))
    assert states(again)[0] == ("Draft", "now")


def test_a_finished_publish_stops_polling_and_timing() -> None:
    over = progress(PUBLISHED, now=REQUESTED_AT + timedelta(days=7))
    assert (over.next_poll_s, over.elapsed) == (None, timedelta(minutes=1))


def test_a_publish_is_long_after_the_usual_time() -> None:
    usual = TypicalTimes(median=timedelta(seconds=10), p95=timedelta(seconds=20), count=9)
    assert progress(version(status="queued"), usual=usual).is_long
    assert not progress(version(status="queued")).is_long
    assert not progress(PUBLISHED, usual=usual).is_long


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=20).map(sorted))
def test_poll_intervals_grow_from_1_to_10_seconds(seconds: list[int]) -> None:
    waits = [poll_interval_s(timedelta(seconds=second)) for second in seconds]
    polled = [wait for wait in waits if wait is not None]
    assert polled == sorted(polled)
    assert all(1 <= wait <= 10 for wait in polled)
    assert waits[len(polled) :] == [None] * (len(waits) - len(polled))


def test_polling_stops_after_the_polling_period() -> None:
    assert poll_interval_s(POLLING_PERIOD + timedelta(seconds=1)) is None


def queue_time_of(seconds: int) -> QueueTime:
    return QueueTime(REQUESTED_AT, timedelta(seconds=seconds))


def test_usual_times_need_enough_versions() -> None:
    assert summarize_times([queue_time_of(1)] * 4) is None
    usual = summarize_times([queue_time_of(second) for second in range(1, 101)])
    assert usual == TypicalTimes(timedelta(seconds=50), timedelta(seconds=95), 100)


def test_missing_or_disordered_dates_are_not_counted() -> None:
    at = REQUESTED_AT.isoformat()
    assert queue_time(version(queuedAt=at, publishedAt=AFTER)) == QueueTime(
        REQUESTED_AT + timedelta(minutes=1), timedelta(minutes=1)
    )
    assert queue_time(version(queuedAt=at, publishedAt=BEFORE)) is None
    assert queue_time(version(queuedAt="soon", publishedAt=None)) is None
