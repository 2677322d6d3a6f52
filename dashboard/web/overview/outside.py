"""What was published outside Pressroom lately, on the overview."""

from datetime import datetime, timedelta

from dashboard.ledger.models import OutsidePublish
from dashboard.ledger.queries.outside_publishes import find_outside_publishes

PERIOD = timedelta(days=7)
MAX_SHOWN = 5


def recent_outside_publishes(now: datetime) -> list[OutsidePublish]:
    """Return the newest that were noticed in the last 7 days, at most MAX_SHOWN + 1; one query."""
    return list(find_outside_publishes(since=now - PERIOD)[: MAX_SHOWN + 1])
