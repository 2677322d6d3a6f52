"""The counts in the sidebar and in the bell, from our own database alone.

People have none: counting them would take a service call.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache
from django.db import Error
from django.http import HttpRequest
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord, SubscriptionRecord
from dashboard.ledger.models.approvals import ApprovalKind
from dashboard.ledger.queries.audience_list import audience_coverage
from dashboard.ledger.queries.overview import operations_needing_attention
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.notifications.inbox import unread_paths
from dashboard.notifications.watches import ongoing_outage
from dashboard.operations.approvals import current_rule
from dashboard.releases.models import Release, ReleaseState
from dashboard.service.health import Health, Outage
from dashboard.web.approvals.listing import count_for, open_requests
from dashboard.web.releases.summary import worker_status

CACHE_SECONDS = 10
"""Counts may lag by this much. Cached because every page shows them."""
OWN_OUTAGE_LASTS = timedelta(seconds=90)
"""A failed call of this process is an outage for so long, unless a worker's check confirms it."""
PRESSED_COOKIE = f"{settings.COOKIE_PREFIX}counts"
"""Set for CACHE_SECONDS by whatever a user sends, so that the counts follow it at once."""
_KEY = "side-counts-8"
"""Its number changes with the format of the cached value."""


@dataclass(frozen=True)
class SidebarCounts:
    """The number of items in each section; 0 if unknown."""

    pages: int = 0
    """The service's total, or else the number in the ledger."""
    audiences: int = 0
    """Those in the ledger, as the list of all audiences shows them."""
    are_all_audiences: bool = True
    """Whether the ledger has all of the service's."""
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
    approval_kinds: tuple[str, ...] = ()
    """The kinds of changes that need an approval, for the words of buttons."""

    def covers(self, kind: str) -> bool:
        """Return whether changes of this kind need an approval."""
        return kind in self.approval_kinds


def side_counts(*, is_fresh: bool = False) -> SidebarCounts:
    """Return the counts; zeros if the database fails, so that the error page can be rendered."""
    cached: Any
    try:
        if is_fresh:
            cached = _count()
            cache.set(_KEY, cached, timeout=CACHE_SECONDS)
        else:
            cached = cache.get_or_set(_KEY, _count, timeout=CACHE_SECONDS)
    except Error:
        return SidebarCounts()
    return _read_cached(cached) or SidebarCounts()


def cached_counts() -> SidebarCounts | None:
    """Return the counts that pages show now; None if they have to be counted."""
    return _read_cached(cache.get(_KEY))


def _read_cached(cached: Any) -> SidebarCounts | None:
    """Return the counts that are cached; None if another release has cached something else."""
    match cached:
        case [
            int(pages),
            int(audiences),
            bool(are_all),
            int(subscriptions),
            int(needing_attention),
            int(releases),
            [*requests],
            ([str(), float() | int()] | None) as watched,
            bool(is_watched),
            [*kinds],
        ]:
            return SidebarCounts(
                pages=pages,
                audiences=audiences,
                are_all_audiences=are_all,
                subscriptions=subscriptions,
                needing_attention=needing_attention,
                releases=releases,
                open_requests=tuple((kind, requester) for kind, requester in requests),
                watched_outage=(watched[0], float(watched[1])) if watched else None,
                is_watched=is_watched,
                approval_kinds=tuple(kinds),
            )
    return None


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


def unread_notifications(user: User | AnonymousUser) -> list[tuple[int, str]]:
    """Return what the bell counts, at most 100; nothing if the database fails. One query.

    Not cached: it is right at once after the user has read one.
    """
    try:
        return unread_paths(user) if user.is_authenticated else []
    except Error:
        return []


def was_pressed(request: HttpRequest) -> bool:
    """Return whether this browser has just sent a form, in whichever process."""
    return PRESSED_COOKIE in request.COOKIES


def _count() -> tuple[Any, ...]:
    now = timezone.now()
    pages, watched, rule = pages_coverage(), ongoing_outage(now), current_rule()
    return (
        pages.known if pages.total is None else pages.total,
        AudienceRecord.objects.count(),
        audience_coverage().is_full,
        SubscriptionRecord.objects.count(),
        operations_needing_attention(now).count,
        Release.listed.exclude(state__in=(ReleaseState.FINISHED, ReleaseState.CANCELED)).count(),
        tuple(open_requests(now).values_list("kind", "requested_by")),
        (watched.reason, watched.last_failure_at.timestamp()) if watched else None,
        worker_status().is_running,
        tuple(kind.value for kind in ApprovalKind if rule.covers(kind)),
    )
