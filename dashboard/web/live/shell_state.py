"""What surrounds every page: counts in the sidebar and in the bell, from our own database alone.

People have none: counting them would take a service call.
"""

from typing import NamedTuple, TypeVar
from zlib import crc32

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache
from django.db import Error
from django.http import HttpRequest
from django.utils.http import urlencode
from pydantic import TypeAdapter, ValidationError

from dashboard import clock
from dashboard.approvals.models import ApprovalKind, ApprovalRequest
from dashboard.approvals.rule import current_rule
from dashboard.ledger.models import AudienceRecord, SubscriptionRecord
from dashboard.ledger.queries.operations import operations_needing_attention
from dashboard.ledger.queries.pages import audience_coverage, pages_coverage
from dashboard.notifications.inbox import unread_paths
from dashboard.releases.models import Release, ReleaseState
from dashboard.service import outages
from dashboard.web.approvals.listing import count_for
from dashboard.web.ui.urls import cached_reverse

CACHE_SECONDS = 10
"""What pages show may lag by this much. Cached because every page shows it."""
PRESSED_COOKIE = f"{settings.COOKIE_PREFIX}counts"
"""Set for CACHE_SECONDS by whatever a user sends, so that the counts follow it at once."""


class SidebarCounts(NamedTuple):
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


class SharedState(NamedTuple):
    approval_kinds: tuple[str, ...] = ()
    """The kinds of changes that need an approval, for the words of buttons."""

    def covers(self, kind: str) -> bool:
        return kind in self.approval_kinds


# Another release, which shares the cache during an update, may have other fields, or other values.
_COUNTS_KEY = f"sidebar-counts:{','.join(SidebarCounts._fields)}"
_SHARED_KEY = f"shared-state:{','.join(SharedState._fields)}"


_COUNTS, _SHARED = TypeAdapter(SidebarCounts), TypeAdapter(SharedState)
StateT = TypeVar("StateT")


def _restored(adapter: TypeAdapter[StateT], cached: object) -> StateT | None:
    """Return what is cached; None if nothing is, or something else."""
    try:
        return adapter.validate_python(cached)
    except ValidationError:
        return None


def shell_state(
    *, is_fresh: bool = False
) -> tuple[SidebarCounts, SharedState, outages.Outage | None]:
    """Return what every page shows; nothing if the database fails: error pages show it, too."""
    keys = [_COUNTS_KEY, _SHARED_KEY, outages.CACHE_KEY]
    cached = {} if is_fresh else cache.get_many(keys)
    outage = outages.current_outage(cached.get(outages.CACHE_KEY))
    try:
        return (
            _restored(_COUNTS, cached.get(_COUNTS_KEY)) or count_anew(),
            _restored(_SHARED, cached.get(_SHARED_KEY)) or _read_shared_state(),
            outage,
        )
    except Error:
        return SidebarCounts(), SharedState(), outage


def cached_counts() -> SidebarCounts | None:
    return _restored(_COUNTS, cache.get(_COUNTS_KEY))


def live_url(counts: SidebarCounts, to_decide: int, **params: str) -> str:
    """Return the URL of the poll of a page that shows these counts."""
    query = {name: value for name, value in params.items() if value}
    return (
        f"{cached_reverse('live')}?{urlencode(query | {'counts': counts_mark(counts, to_decide)})}"
    )


def counts_mark(counts: SidebarCounts, to_decide: int) -> str:
    """Return a short text that differs if what the sidebar shows does."""
    return f"{crc32(repr((counts[:-1], to_decide)).encode()):x}"


def approvals_to_decide(user: User | AnonymousUser, counts: SidebarCounts) -> int:
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


def count_anew() -> SidebarCounts:
    """Count what the sidebar shows, for the pages of the next seconds, too."""
    now, pages = clock.now(), pages_coverage()
    ended = (ReleaseState.FINISHED, ReleaseState.CANCELED)
    counts = SidebarCounts(
        pages=pages.recorded if pages.total is None else pages.total,
        audiences=AudienceRecord.objects.count(),
        are_all_audiences=audience_coverage().is_full,
        subscriptions=SubscriptionRecord.objects.count(),
        needing_attention=operations_needing_attention(now).count,
        releases=Release.listed.exclude(state__in=ended).count(),
        open_requests=tuple(
            ApprovalRequest.objects.undecided(now).values_list("kind", "requested_by")
        ),
    )
    cache.set(_COUNTS_KEY, tuple(counts), timeout=CACHE_SECONDS)
    return counts


def _read_shared_state() -> SharedState:
    rule = current_rule()
    shared = SharedState(
        approval_kinds=tuple(kind.value for kind in ApprovalKind if rule.covers(kind)),
    )
    cache.set(_SHARED_KEY, tuple(shared), timeout=CACHE_SECONDS)
    return shared
