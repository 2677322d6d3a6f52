"""When a user last visited the overview, on any device, to show what changed since."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from dashboard.ledger.preferences import get_preferences, save_preferences

PAUSE = timedelta(minutes=15)
"""After a longer pause a new visit begins; a reload belongs to the same visit. Our choice."""


@dataclass(frozen=True)
class LastVisit:
    """The end of the visit before this one, and the latest request of this one."""

    since: datetime | None
    """None on the first visit."""
    now: datetime


def read_last_visit(user: User, now: datetime) -> LastVisit:
    """Return the last visit of a user; no query."""
    preferences = get_preferences(user)
    last = preferences.overview_seen_at
    is_new = last is not None and now - last > PAUSE
    return LastVisit(last if is_new else preferences.overview_since, now)


def save_last_visit(user: User, now: datetime) -> None:
    """Record that a user has opened the overview."""
    visit = read_last_visit(user, now)
    save_preferences(user, overview_since=visit.since, overview_seen_at=visit.now)
