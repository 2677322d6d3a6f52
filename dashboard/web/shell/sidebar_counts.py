"""The counts in the sidebar and in the bell, from our own database alone.

People have none: counting them would take a service call.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache
from django.db import Error
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord, SubscriptionRecord
from dashboard.ledger.queries.overview import operations_needing_attention
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.notifications.inbox import unread_count
from dashboard.releases.models import Release, ReleaseState
from dashboard.web.approvals.listing import count_for, open_requests

CACHE_SECONDS = 10
"""Counts may lag by this much. Cached because every page shows them."""
_KEY = "side-counts-4"
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


def side_counts() -> SidebarCounts:
    """Return the counts; zeros if the database fails, so that the error page can be rendered."""
    try:
        match cache.get_or_set(_KEY, _count, timeout=CACHE_SECONDS):
            case [int(), int(), int(), int(), int(), [*requests]] as counts:
                pairs = tuple((kind, requester) for kind, requester in requests)
                return SidebarCounts(*counts[:5], pairs)
    except (Error, TypeError, ValueError):
        pass  # The database fails, or another release has cached something else.
    return SidebarCounts()


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
    pages = pages_coverage()
    return (
        pages.known if pages.total is None else pages.total,
        AudienceRecord.objects.count(),
        SubscriptionRecord.objects.count(),
        operations_needing_attention(timezone.now()).count,
        Release.listed.exclude(state__in=(ReleaseState.FINISHED, ReleaseState.CANCELED)).count(),
        tuple(open_requests(timezone.now()).values_list("kind", "requested_by")),
    )
