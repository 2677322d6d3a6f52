"""How long the service has been unreachable, and whether that was reported."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self

from dashboard.time_limits import call_limit

UNREACHABLE_AFTER = timedelta(minutes=5)
"""Source: our choice."""
INTERVAL = timedelta(minutes=1)
"""Between two checks, beside what each takes."""


def forgotten_after() -> timedelta:
    """Return how long without a check a failure says nothing of the time between any more."""
    return 2 * (INTERVAL + call_limit())


@dataclass(frozen=True)
class Outage:
    """A time in which every check of the service failed."""

    since: datetime
    last_failure_at: datetime
    is_reported: bool = False
    reason: str = ""
    """Why the last check failed, as a sentence."""

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self | None:
        """Return the outage that was saved, or None if there was none."""
        if not value:
            return None
        return cls(
            since=datetime.fromisoformat(value["since"]),
            last_failure_at=datetime.fromisoformat(value["last_failure_at"]),
            is_reported=value["is_reported"],
            reason=value["reason"],
        )

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` reads."""
        return {
            "since": self.since.isoformat(),
            "last_failure_at": self.last_failure_at.isoformat(),
            "is_reported": self.is_reported,
            "reason": self.reason,
        }

    def minutes(self, now: datetime) -> int:
        """Return how long it has lasted, in minutes."""
        return round((now - self.since) / timedelta(minutes=1))


def after_failure(outage: Outage | None, now: datetime, reason: str = "") -> Outage:
    """Return the outage after another check that failed; it is reported once it is long enough."""
    if outage is None or now - outage.last_failure_at > forgotten_after():
        return Outage(since=now, last_failure_at=now, reason=reason)
    is_long = now - outage.since >= UNREACHABLE_AFTER
    return replace(
        outage, last_failure_at=now, is_reported=outage.is_reported or is_long, reason=reason
    )
