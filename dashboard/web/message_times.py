"""When messages were sent: the day that begins with one, and how long nothing was said."""

from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta

from django.utils import timezone

from dashboard.contract.conversations import Message
from dashboard.contract.dates import read_timestamp

IDLE_AFTER = timedelta(hours=1)


def sent_at(message: Message) -> datetime | None:
    """Return the moment of a message; None where its timestamp names none we can show."""
    # The first and the last year of the calendar have no place in every time zone.
    found = read_timestamp(message.timestamp)
    return found if found and MINYEAR < found.year < MAXYEAR else None


def new_day(before: datetime | None, moment: datetime | None) -> date | None:
    """Return the day that begins with this message, in the current time zone."""
    if moment is None:
        return None
    day = timezone.localdate(moment)
    return day if before is None or timezone.localdate(before) != day else None


def idle_time(before: datetime | None, moment: datetime | None) -> timedelta | None:
    """Return how long nothing was said before, when that is `IDLE_AFTER` or more."""
    if before is None or moment is None:
        return None
    return moment - before if moment - before >= IDLE_AFTER else None
