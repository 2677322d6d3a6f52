"""Chance that falls the same way on every run: what it gives follows from a topic's name."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TypeVar

from dashboard.contract.dates import MARK_PREFIX, write_mark

ThingT = TypeVar("ThingT")
_IDS_BEGIN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_A_WEEK_MS = 7 * 24 * 60 * 60 * 1000


def chance(*topic: object) -> Random:
    """Return the dice of a topic: asked again, they fall the same way."""
    return Random(repr(topic))  # noqa: S311 (nothing is guarded by it)


def sample_id(kind: str, *topic: object) -> str:
    """Return the id of a topic, such as `page_…`: the same whenever the sample is made."""
    dice = chance(kind, *topic)
    moment = _IDS_BEGIN + timedelta(milliseconds=dice.randrange(_A_WEEK_MS))
    return f"{kind}_{mark(moment, dice).removeprefix(MARK_PREFIX)}"


def mark(moment: datetime, dice: Random) -> str:
    """Return the mark of a moment."""
    return write_mark(moment, random_bits=dice.getrandbits)


def between(dice: Random, start: datetime, end: datetime) -> datetime:
    """Return a moment between two: the later half is likelier, and so is a weekday."""
    moment = start + (end - start) * dice.random() ** 0.6
    return max(start, on_a_weekday(dice, moment))


def on_a_weekday(dice: Random, moment: datetime) -> datetime:
    """Move most moments of a weekend back into the week before: little is done on Sundays."""
    # Always two throws, whatever the day: what is thrown afterwards must not hang on the weekday.
    stays, back = dice.random() < 0.2, dice.random()
    if moment.weekday() < 5 or stays:
        return moment
    return moment - timedelta(days=moment.weekday() - 4 + int(back * 5))


def weighted(dice: Random, weights: dict[ThingT, float]) -> ThingT:
    """Return one of the keys, each as likely as its weight says."""
    return dice.choices(list(weights), list(weights.values()))[0]


def some(dice: Random, things: Sequence[ThingT], most: int) -> tuple[ThingT, ...]:
    """Return one to `most` different things."""
    return tuple(dice.sample(things, dice.randint(1, min(most, len(things)))))
