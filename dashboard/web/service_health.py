"""How the service has been answering: one tally a minute, kept in the cache for an hour.

Taken from the calls that pages make; nothing is asked for the sake of measuring.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median

from django.core.cache import cache
from django.utils import timezone
from redis.exceptions import RedisError

from dashboard.client import CallReport, NoAnswerError, ServiceFaultError

SLOW_MS = 2_000
MINUTES = 60
_KEPT_SAMPLES = 20


@dataclass
class Minute:
    """The calls of one minute."""

    answered: int = 0
    slow: int = 0
    failed: int = 0
    durations_ms: list[float] = field(default_factory=list)
    """Of up to 20 calls."""

    @property
    def calls(self) -> int:
        """How many calls were made."""
        return self.answered + self.failed


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
    key = _key(report.started_at)
    minute: Minute = cache.get(key) or Minute()
    if isinstance(report.error, NoAnswerError | ServiceFaultError):
        minute.failed += 1
    else:
        minute.answered += 1
        minute.slow += report.duration_ms > SLOW_MS
        minute.durations_ms = [*minute.durations_ms[1 - _KEPT_SAMPLES :], report.duration_ms]
    is_answering = not isinstance(report.error, NoAnswerError | ServiceFaultError)
    cache.set_many({key: minute, "service:answering": is_answering}, timeout=MINUTES * 60)


def health_now() -> Health:
    """Return how the service answered in the last hour."""
    now = timezone.now()
    keys = [_key(now - timedelta(minutes=back)) for back in range(MINUTES - 1, -1, -1)]
    try:
        found = cache.get_many([*keys, "service:answering"])
    except RedisError:
        # The pages go on without a cache; /health/ready tells of it.
        found = {}
    minutes: list[Minute | None] = [found.get(key) for key in keys]
    seen = [minute for minute in minutes if minute]
    durations = [duration for minute in seen for duration in minute.durations_ms]
    return Health(
        minutes=minutes,
        is_answering=found.get("service:answering"),
        median_ms=median(durations) if durations else None,
        slow=sum(minute.slow for minute in seen),
        failed=sum(minute.failed for minute in seen),
    )


def _key(moment: datetime) -> str:
    return f"service:minute:{moment.astimezone(UTC):%Y%m%d%H%M}"
