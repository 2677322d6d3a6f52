"""The counts in the sidebar, from the ledger alone.

People have none: counting them would take a service call.
"""

from dataclasses import dataclass

from django.core.cache import cache
from django.db import Error
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord, SubscriptionRecord
from dashboard.ledger.queries.overview import operations_needing_attention
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.releases.models import Release, ReleaseState

CACHE_SECONDS = 10
"""Counts may lag by this much. Cached because every page shows them."""
_KEY = "side-counts-3"
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


def side_counts() -> SidebarCounts:
    """Return the counts; zeros if the database fails, so that the error page can be rendered."""
    try:
        return SidebarCounts(*cache.get_or_set(_KEY, _count, timeout=CACHE_SECONDS) or ())
    except Error:
        return SidebarCounts()


def _count() -> tuple[int, ...]:
    pages = pages_coverage()
    return (
        pages.known if pages.total is None else pages.total,
        AudienceRecord.objects.count(),
        SubscriptionRecord.objects.count(),
        operations_needing_attention(timezone.now()).count,
        Release.objects.exclude(state__in=(ReleaseState.FINISHED, ReleaseState.CANCELED)).count(),
    )
