"""The life cycle of a version as a pure rule: one version is live after any order of events."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dashboard.contract.audiences import VersionStatus
from dashboard.contract.wire import read_date, write_mark
from dashboard.embedded_api.lifecycle import DATE_NAMES, CancelledVersionError, Dates, publish

START = datetime(2026, 3, 9, 12, tzinfo=UTC)
DELAYS = {"queue": timedelta(seconds=3), "processing": timedelta(seconds=4)}
UNDER_WAY = {VersionStatus.QUEUED, VersionStatus.PROCESSING, VersionStatus.PUBLISHED}


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def draft() -> Dates:
    return Dates(became_draft_at=write_mark(START - timedelta(days=1)))


def published(versions: dict[str, Dates], target: str, seconds: float) -> dict[str, Dates]:
    return versions | publish(versions, target, now=after(seconds), **DELAYS)


def statuses(versions: dict[str, Dates], seconds: float) -> list[str]:
    return [dates.status(after(seconds)).value for dates in versions.values()]


def test_a_version_is_queued_then_processed_then_live() -> None:
    versions = published({"a": draft()}, "a", 0)
    assert statuses(versions, 0) == statuses(versions, 2.999) == ["queued"]
    assert statuses(versions, 3) == statuses(versions, 6.999) == ["processing"]
    assert statuses(versions, 7) == statuses(versions, 1e6) == ["published"]


def test_dates_to_come_are_not_shown_before_they_come() -> None:
    dates = published({"a": draft()}, "a", 0)["a"]
    dates_by_step = [
        [name for name in DATE_NAMES if getattr(dates.at(after(seconds)), name)]
        for seconds in (1, 4, 8)
    ]
    assert dates_by_step[0] == ["became_draft_at", "queued_at"]
    assert dates_by_step[1] == ["became_draft_at", "queued_at", "processing_at"]
    assert dates_by_step[2] == ["became_draft_at", "queued_at", "processing_at", "published_at"]


def test_the_queue_time_is_known_once_over() -> None:
    dates = published({"a": draft()}, "a", 0)["a"]
    assert dates.queue_duration_ms(after(2.9)) is None
    assert dates.queue_duration_ms(after(3)) == 3_000
    assert dates.queue_duration_ms(after(1e6)) == 3_000


def test_the_version_before_is_retired_at_the_very_moment() -> None:
    versions = published(published({"a": draft(), "b": draft()}, "a", 0), "b", 10)
    assert statuses(versions, 16.999) == ["published", "processing"]
    assert statuses(versions, 17) == ["archived", "published"]
    assert versions["a"].archived_at == versions["a"].obsolete_at == versions["b"].published_at


def test_another_queued_version_is_cancelled_and_retires_nothing() -> None:
    versions = published({"a": draft(), "b": draft(), "c": draft()}, "a", 0)
    versions = published(published(versions, "b", 10), "c", 12)
    assert statuses(versions, 12) == ["published", "cancelled", "queued"]
    assert statuses(versions, 18) == ["published", "cancelled", "processing"]
    assert statuses(versions, 19) == ["archived", "cancelled", "published"]
    with pytest.raises(CancelledVersionError):
        published(versions, "b", 100)


def test_one_that_is_processed_goes_live_before_the_next() -> None:
    versions = published(published({"a": draft(), "b": draft()}, "a", 0), "b", 5)
    assert statuses(versions, 7) == ["published", "queued"]
    assert statuses(versions, 12) == ["archived", "published"]


def test_an_archived_version_can_be_published_again() -> None:
    versions = published(published({"a": draft(), "b": draft()}, "a", 0), "b", 10)
    versions = published(versions, "a", 20)
    assert statuses(versions, 20) == ["queued", "published"]
    assert versions["a"].at(after(20)).archived_at is None
    assert statuses(versions, 27) == ["published", "archived"]


@pytest.mark.parametrize("seconds", [1, 5, 9])
def test_publishing_what_is_under_way_changes_nothing(seconds: float) -> None:
    versions = published({"a": draft()}, "a", 0)
    assert publish(versions, "a", now=after(seconds), **DELAYS) == {}


def test_a_pending_version_can_be_published_too() -> None:
    versions = {"a": Dates()}
    assert statuses(versions, 0) == ["pending"]
    assert statuses(published(versions, "a", 0), 7) == ["published"]


@given(
    st.lists(st.sampled_from(["draft", "live"]), min_size=1, max_size=3),
    st.integers(0, 10_000),
    st.integers(0, 10_000),
)
def test_without_delays_a_version_is_live_at_once(kinds: list[str], queue: int, wait: int) -> None:
    slow = {"queue": timedelta(milliseconds=queue), "processing": timedelta(0)}
    at_once = {"queue": timedelta(0), "processing": timedelta(0)}
    versions = {str(index): draft() for index, _ in enumerate(kinds)} | {"target": draft()}
    for key in list(versions)[:-1]:
        versions |= publish(versions, key, now=START, **slow)
    now = START + timedelta(milliseconds=wait)
    versions |= publish(versions, "target", now=now, **at_once)
    end = now + timedelta(seconds=60)
    assert versions["target"].status(end) is VersionStatus.PUBLISHED


class OneAudience(RuleBasedStateMachine):
    """Any order of publishing, waiting and changed delays."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.versions: dict[int, Dates] = {}
        self.delays = DELAYS
        self.was_live = False

    @rule(is_draft=st.booleans())
    def add_version(self, *, is_draft: bool) -> None:
        mark = write_mark(self.now) if is_draft else None
        self.versions[len(self.versions)] = Dates(became_draft_at=mark)

    @rule(milliseconds=st.integers(0, 9_000))
    def wait(self, milliseconds: int) -> None:
        self.now += timedelta(milliseconds=milliseconds)

    @rule(queue=st.integers(0, 4_000), processing=st.integers(0, 4_000))
    def change_delays(self, queue: int, processing: int) -> None:
        self.delays = {
            "queue": timedelta(milliseconds=queue),
            "processing": timedelta(milliseconds=processing),
        }

    @precondition(lambda self: self.versions)
    @rule(choice=st.integers(0, 1_000))
    def publish(self, choice: int) -> None:
        target = choice % len(self.versions)
        before = self.versions[target].status(self.now)
        try:
            changed = publish(self.versions, target, now=self.now, **self.delays)
        except CancelledVersionError:
            assert before is VersionStatus.CANCELLED
            return
        assert (not changed) is (before in UNDER_WAY)
        self.versions |= changed
        assert self.versions[target].status(self.now) in UNDER_WAY

    @invariant()
    def once_one_was_live_exactly_one_is_at_any_moment_to_come(self) -> None:
        for moment in self.moments_to_come():
            live = [
                key
                for key, dates in self.versions.items()
                if dates.status(moment) is VersionStatus.PUBLISHED
            ]
            assert len(live) <= 1
            assert live or not self.was_live
            self.was_live = self.was_live or (bool(live) and moment == self.now)

    @invariant()
    def dates_are_in_order(self) -> None:
        for dates in self.versions.values():
            lived = (
                dates.became_draft_at,
                dates.queued_at,
                dates.processing_at,
                dates.published_at,
            )
            ended = dates.archived_at or dates.cancelled_at
            moments = [read_date(mark) for mark in (*lived, ended) if mark]
            assert moments == sorted(moments)  # type: ignore[type-var]

    @invariant()
    def what_comes_last_stays_last(self) -> None:
        end = self.now + timedelta(days=1)
        under_way = {VersionStatus.QUEUED, VersionStatus.PROCESSING}
        assert not [key for key in self.versions if self.versions[key].status(end) in under_way]

    def moments_to_come(self) -> list[datetime]:
        marks = [getattr(dates, name) for dates in self.versions.values() for name in DATE_NAMES]
        ahead = [moment for mark in marks if (moment := read_date(mark)) and moment > self.now]
        return sorted({self.now, *ahead})


OneAudience.TestCase.settings = settings(max_examples=60, stateful_step_count=25)
TestOneAudience = OneAudience.TestCase
