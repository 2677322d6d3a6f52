"""The counts in the sidebar and in the bell, from our own database alone.

People have none: counting them would take a service call.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache
from django.db import Error
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord, SubscriptionRecord
from dashboard.ledger.queries.overview import operations_needing_attention
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.notifications.inbox import unread_count
from dashboard.notifications.watches import ongoing_outage
from dashboard.releases.models import Release, ReleaseState
from dashboard.service.health import Health, Outage
from dashboard.web.approvals.listing import count_for, open_requests
from dashboard.web.releases.summary import worker_status

CACHE_SECONDS = 10
"""Counts may lag by this much. Cached because every page shows them."""
OWN_OUTAGE_LASTS = timedelta(seconds=90)
"""A failed call of this process is an outage for so long, unless a worker's check confirms it."""
_KEY = "side-counts-6"
"""Its number changes with the format of the cached value."""


@dataclass(frozen=True)
class SidebarCounts:
    """The number of items in each section; 0 if unknown."""

    pages: int = 0
    """The service's total, or else the number in the ledger."""
    audiences: int = 0
    """Those in the ledger, as the list of all audiences shows them."""
    subscriptions: int = 0
    needing_attention: int = 0
    """Operations that need attention, as on the overview."""
    releases: int = 0
    """Those that are open: not finished, and not canceled."""
    open_requests: tuple[tuple[str, int | None], ...] = ()
    """The kind and the requester of each request for an approval that is open."""
    watched_outage: tuple[str, float] | None = None
    """Why a worker's latest check of the service failed, and when, in seconds since the epoch."""
    is_watched: bool = False
    """Whether a worker checks the service."""


def side_counts() -> SidebarCounts:
    """Return the counts; zeros if the database fails, so that the error page can be rendered."""
    try:
        match cache.get_or_set(_KEY, _count, timeout=CACHE_SECONDS):
            case [int(), int(), int(), int(), int(), [*requests], watched, bool()] as counts:
                pairs = tuple((kind, requester) for kind, requester in requests)
                outage = (str(watched[0]), float(watched[1])) if watched else None
                return SidebarCounts(*counts[:5], pairs, outage, counts[7])
    except (Error, TypeError, ValueError):
        pass  # The database fails, or another release has cached something else.
    return SidebarCounts()


def current_outage(health: Health, counts: SidebarCounts) -> Outage | None:
    """Return whether the service is out: by this process's calls, or by a worker's checks.

    A worker checks once a minute, so an earlier failure of our own is over if it noticed none.
    """
    own, watched = health.outage, counts.watched_outage
    if own and not (counts.is_watched and not watched and own.is_older_than(OWN_OUTAGE_LASTS)):
        return own
    responded_at = health.responded_at
    if watched and (responded_at is None or watched[1] > responded_at.timestamp()):
        return Outage(watched[0], responded_at)
    return None


def approvals_to_decide(user: User | AnonymousUser, counts: SidebarCounts) -> int:
    """Return how many of the open requests for an approval a user can decide."""
    return count_for(user, counts.open_requests) if user.is_authenticated else 0


def unread_notifications(user: User | AnonymousUser) -> int:
    """Return the count of the bell, at most 100; 0 if the database fails. One query.

    Not cached: it is right at once after the user has read one.
    """
    try:
        return unread_count(user) if user.is_authenticated else 0
    except Error:
        return 0


def _count() -> tuple[Any, ...]:
    now = timezone.now()
    pages, watched = pages_coverage(), ongoing_outage(now)
    return (
        pages.known if pages.total is None else pages.total,
        AudienceRecord.objects.count(),
        SubscriptionRecord.objects.count(),
        operations_needing_attention(now).count,
        Release.listed.exclude(state__in=(ReleaseState.FINISHED, ReleaseState.CANCELED)).count(),
        tuple(open_requests(now).values_list("kind", "requested_by")),
        (watched.reason, watched.last_failure_at.timestamp()) if watched else None,
        worker_status().is_running,
    )
