"""Random choices that are the same on every run, because the seed is a topic's name."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TypeVar

from dashboard.contract.dates import MARK_PREFIX, write_mark

ItemT = TypeVar("ItemT")
_IDS_BEGIN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_A_WEEK_MS = 7 * 24 * 60 * 60 * 1000


def seeded_random(*topic: object) -> Random:
    """Return a random generator seeded with the topic."""
    return Random(repr(topic))  # noqa: S311 (not for security)


def sample_id(kind: str, *topic: object) -> str:
    """Return the id of a topic, such as `page_…`, the same on every run."""
    rng = seeded_random(kind, *topic)
    moment = _IDS_BEGIN + timedelta(milliseconds=rng.randrange(_A_WEEK_MS))
    return f"{kind}_{mark(moment, rng).removeprefix(MARK_PREFIX)}"


def mark(moment: datetime, rng: Random) -> str:
    """Return a mark of that time."""
    return write_mark(moment, random_bits=rng.getrandbits)


def random_moment(rng: Random, start: datetime, end: datetime) -> datetime:
    """Return a time in between; later times and weekdays are more likely."""
    moment = start + (end - start) * rng.random() ** 0.6
    return max(start, shift_to_weekday(rng, moment))


def shift_to_weekday(rng: Random, moment: datetime) -> datetime:
    """Move most times on weekends to a weekday before."""
    # Draw both numbers on any day, so that later draws don't depend on the weekday.
    stays, back = rng.random() < 0.2, rng.random()
    if moment.weekday() < 5 or stays:
        return moment
    return moment - timedelta(days=moment.weekday() - 4 + int(back * 5))


def weighted_choice(rng: Random, weights: dict[ItemT, float]) -> ItemT:
    """Return one of the keys, by weight."""
    return rng.choices(list(weights), list(weights.values()))[0]


def random_sample(rng: Random, items: Sequence[ItemT], max_count: int) -> tuple[ItemT, ...]:
    """Return 1 to `max_count` different items."""
    return tuple(rng.sample(items, rng.randint(1, min(max_count, len(items)))))
