"""How the service has been answering: one tally a minute, kept in the cache for an hour.

Taken from the calls that pages make; nothing is asked for the sake of measuring. The minutes of an
hour of the clock are kept as one: each page looks at the last sixty.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple

from django.core.cache import cache
from django.utils import timezone

from dashboard.client import CallReport, NoAnswerError, ServiceFaultError

SLOW_MS, QUICK_MS = 2_000, 300
MINUTES = 60
_KEPT_SAMPLES = 5
_KEPT_S = 2 * 60 * MINUTES


class Minute(NamedTuple):
    """The calls of one minute. The cache packs sixty of them at each call: tuples take least."""

    answered: int = 0
    slow: int = 0
    failed: int = 0
    is_answering: bool = False
    """Of the last call."""
    durations_ms: tuple[float, ...] = ()
    """Of the last 5 calls at most: each page looks at those of an hour."""

    @property
    def calls(self) -> int:
        """How many calls were made."""
        return self.answered + self.failed

    def with_call(self, report: CallReport) -> "Minute":
        """Return the minute with one more call."""
        if isinstance(report.error, NoAnswerError | ServiceFaultError):
            return self._replace(failed=self.failed + 1, is_answering=False)
        took = report.duration_ms
        durations = (*self.durations_ms[1 - _KEPT_SAMPLES :], took)
        slow = self.slow + (took > SLOW_MS)
        return Minute(
            self.answered + 1, slow, self.failed, is_answering=True, durations_ms=durations
        )


@dataclass(frozen=True)
class Health:
    """The last hour, oldest minute first; None where no call was made."""

    minutes: list[Minute | None]
    is_answering: bool | None
    """Of the last call; None when there was none within the hour."""
    median_ms: float | None
    slow: int
    failed: int

    @property
    def asked(self) -> int:
        """In how many minutes it was asked anything."""
        return sum(minute is not None for minute in self.minutes)


def note_call(report: CallReport) -> None:
    """Add one call to its minute. Two processes may lose a tally to each other: it is a gauge."""
    began = report.started_at.astimezone(UTC)
    tallies: dict[int, Minute] = cache.get(_key(began)) or {}
    tallies[began.minute] = tallies.get(began.minute, Minute()).with_call(report)
    cache.set(_key(began), tallies, timeout=_KEPT_S)


def health_now() -> Health:
    """Return how the service answered in the last hour."""
    now = timezone.now().astimezone(UTC)
    before = now - timedelta(hours=1)
    found = cache.get_many([_key(before), _key(now)])
    earlier, tallies = found.get(_key(before), {}), found.get(_key(now), {})
    minutes: list[Minute | None] = [
        *(earlier.get(minute) for minute in range(now.minute + 1, MINUTES)),
        *(tallies.get(minute) for minute in range(now.minute + 1)),
    ]
    seen = [minute for minute in minutes if minute]
    durations = [duration for minute in seen for duration in minute.durations_ms]
    return Health(
        minutes=minutes,
        is_answering=seen[-1].is_answering if seen else None,
        median_ms=median(durations) if durations else None,
        slow=sum(minute.slow for minute in seen),
        failed=sum(minute.failed for minute in seen),
    )


def is_quick() -> bool:
    """Whether the service answers, and lately so soon that a page may wait for it."""
    health = health_now()
    return bool(health.is_answering and (health.median_ms or 0) <= QUICK_MS)


def _key(moment: datetime) -> str:
    return f"service:calls:{int(moment.timestamp()) // 3600}"
