"""The lifecycle of a version has every date once, in order; gaps are listed, nothing is guessed."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import VersionRecord
from dashboard.web.versions.history import DATES, gap_between, lifecycle_of
from tests.support import wire

NOW = datetime(2026, 3, 12, 14, 6, tzinfo=UTC)
MOMENTS = st.integers(0, 10_000_000).map(
    lambda seconds: (NOW - timedelta(seconds=seconds)).isoformat()
)
TEXTS = st.one_of(st.none(), MOMENTS, st.just(wire.MARK), st.text(min_size=1))
NAMES = [name for _, name, _ in DATES]


def version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.version(**differs))


def seen_version(number: int, first_seen_at: datetime) -> VersionRecord:
    return VersionRecord(version_number=number, first_seen_at=first_seen_at)


@given(st.fixed_dictionaries(dict.fromkeys(NAMES[1:], TEXTS)), TEXTS.filter(bool), st.booleans())
def test_every_date_is_exactly_one_step(
    dates: dict[str, str | None], created: str, is_live: bool
) -> None:
    life = lifecycle_of(version(createdAt=created, **dates), is_live=is_live, now=NOW)
    given_texts = sorted(text for text in [created, *dates.values()] if text)
    assert sorted(step.text for step in life.steps) == given_texts


@given(st.fixed_dictionaries(dict.fromkeys(NAMES[1:], st.none() | MOMENTS)), MOMENTS)
def test_steps_follow_time_and_the_times_between_add_up(
    dates: dict[str, str | None], created: str
) -> None:
    life = lifecycle_of(version(createdAt=created, **dates), is_live=False, now=NOW)
    moments = [step.moment for step in life.steps if step.moment]
    assert moments == sorted(moments)
    took = sum((step.duration or timedelta() for step in life.steps), timedelta())
    assert took == moments[-1] - moments[0]


@given(st.lists(st.tuples(st.integers(-3, 40), st.integers(0, 5)), min_size=2, unique=True))
def test_seen_numbers_and_gaps_together_are_all_numbers(seen: list[tuple[int, int]]) -> None:
    versions = [seen_version(number, NOW + timedelta(days=day)) for number, day in seen]
    versions.sort(key=lambda item: item.version_number, reverse=True)
    gaps = [gap for above, below in pairwise(versions) if (gap := gap_between(above, below))]
    missing = {number for gap in gaps for number in range(gap.first, gap.last + 1)}
    numbers = {version.version_number for version in versions}
    assert missing | numbers == set(range(min(numbers), max(numbers) + 1))
    assert not missing & numbers


def test_a_draft_is_open_since_it_became_one() -> None:
    life = lifecycle_of(version(), is_live=False, now=datetime(2026, 3, 1, 9, 47, tzinfo=UTC))
    assert (life.state, life.lasted) == ("In draft", timedelta(minutes=42))
    assert [(step.label, step.duration) for step in life.steps] == [
        ("Created", None),
        ("Draft", timedelta(minutes=5)),
    ]


def test_a_live_version_is_live_since_it_was_published() -> None:
    published = version(status="published", publishedAt="2026-03-12T13:06:00Z")
    life = lifecycle_of(published, is_live=True, now=NOW)
    assert (life.state, life.lasted) == ("Live", timedelta(hours=1))


@pytest.mark.parametrize(
    ("differs", "doubt"),
    [
        ({"status": "published"}, "The status is published, but publishedAt is empty."),
        ({"becameDraftAt": None}, "The status is draft, but becameDraftAt is empty."),
        ({"becameDraftAt": "2026-02-01T00:00:00Z"}, "becameDraftAt is before createdAt."),
        (
            {"queuedAt": "2026-03-03T00:00:00Z", "publishedAt": "2026-03-02T00:00:00Z"},
            "publishedAt is before queuedAt.",
        ),
        ({"archivedAt": "last spring"}, "archivedAt isn’t a readable date: “last spring”."),
    ],
)
def test_dates_that_contradict_their_names_are_flagged(differs: dict[str, Any], doubt: str) -> None:
    assert doubt in lifecycle_of(version(**differs), is_live=False, now=NOW).doubts


def test_a_version_republished_after_archiving_is_not_doubted() -> None:
    again = version(
        status="published",
        obsoleteAt="2026-03-02T00:00:00Z",
        archivedAt="2026-03-02T00:00:00Z",
        queuedAt="2026-03-03T00:00:00Z",
        publishedAt="2026-03-03T00:01:00Z",
    )
    life = lifecycle_of(again, is_live=True, now=NOW)
    assert [step.label for step in life.steps][-2:] == ["Queued", "Live"]
    assert life.doubts == ()


def test_a_gap_has_the_two_checks_it_lies_between() -> None:
    early, late = NOW - timedelta(days=9), NOW
    gap = gap_between(seen_version(5, late), seen_version(3, early))
    assert gap is not None
    assert (gap.first, gap.last, gap.checks) == (4, 4, (early, late))
    at_once = gap_between(seen_version(5, late), seen_version(3, late))
    assert at_once is not None
    assert at_once.precedes_first_check
    assert at_once.checks is None
