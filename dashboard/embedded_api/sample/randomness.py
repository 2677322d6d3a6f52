"""The texts of the sample, and random choices that repeat on every run."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from random import Random
from typing import Any, TypeVar

from dashboard.contract.wire import MARK_PREFIX, write_mark

TEXTS: dict[str, Any] = tomllib.loads(
    files(__package__).joinpath("sample.toml").read_text(encoding="utf-8")
)
ItemT = TypeVar("ItemT")
_IDS_BEGIN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_A_WEEK_MS = 7 * 24 * 60 * 60 * 1000


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill in the {placeholders} of a text, or of a list or table of texts.

    A text that consists of one placeholder becomes the value itself, such as a number.
    """
    match template:
        case str():
            name = template[1:-1]
            is_value = template == f"{{{name}}}" and name in values
            return values[name] if is_value else template.format(**values)
        case dict():
            return {key: fill(item, values) for key, item in template.items()}
        case list():
            return [fill(item, values) for item in template]
    return template


def seeded_random(*topic: object) -> Random:
    return Random(repr(topic))  # noqa: S311 (not for security)


def sample_id(kind: str, *topic: object) -> str:
    """Return the id of a topic, such as `page_…`. It is the same on every run."""
    rng = seeded_random(kind, *topic)
    moment = _IDS_BEGIN + timedelta(milliseconds=rng.randrange(_A_WEEK_MS))
    return f"{kind}_{mark(moment, rng).removeprefix(MARK_PREFIX)}"


def mark(moment: datetime, rng: Random) -> str:
    return write_mark(moment, random_bits=rng.getrandbits)


def random_moment(rng: Random, start: datetime, end: datetime) -> datetime:
    """Return a time in between. Later times and weekdays are more likely."""
    moment = start + (end - start) * rng.random() ** 0.6
    return max(start, shift_to_weekday(rng, moment))


def shift_to_weekday(rng: Random, moment: datetime) -> datetime:
    """Move most times on weekends to an earlier weekday."""
    # Draw both numbers on any day, so that later draws don't depend on the weekday.
    stays, back = rng.random() < 0.2, rng.random()
    if moment.weekday() < 5 or stays:
        return moment
    return moment - timedelta(days=moment.weekday() - 4 + int(back * 5))


def weighted_choice(rng: Random, weights: Mapping[ItemT, float]) -> ItemT:
    return rng.choices(list(weights), list(weights.values()))[0]


def random_sample(rng: Random, items: Sequence[ItemT], max_count: int) -> list[ItemT]:
    return rng.sample(items, rng.randint(1, min(max_count, len(items))))
