"""What surrounds every page: the counts in the sidebar and the bell, from our own database alone.

People have no count: counting them would take a service call.
"""

from datetime import datetime
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache
from django.db import Error
from django.db.models import Count, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.http import urlencode
from pydantic import TypeAdapter, ValidationError

from dashboard import clock
from dashboard.approvals.models import ApprovalKind, ApprovalRequest
from dashboard.approvals.rule import current_rule
from dashboard.compiled_query import ROW_COUNT, compiled
from dashboard.ledger.models import AudienceRecord, SubscriptionRecord
from dashboard.ledger.queries.audience_list import audience_coverage
from dashboard.ledger.queries.operations import operations_needing_attention
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.notifications.inbox import unread_paths
from dashboard.releases.models import Release, ReleaseState
from dashboard.service import outages
from dashboard.web.approvals.listing import count_for
from dashboard.web.ui.urls import cached_reverse

CACHE_SECONDS = 10
"""How far the state on pages may lag. It is cached because every page shows it."""
FORM_SENT_COOKIE = f"{settings.COOKIE_PREFIX}counts"
"""Cookie set for CACHE_SECONDS when a user sends a form, so that the counts follow at once."""


class SidebarCounts(NamedTuple):
    """The number of items in each section; 0 if unknown."""

    pages: int = 0
    """The service's total if known, else the number in the ledger."""
    audiences: int = 0
    """Audiences in the ledger, as in the list of all audiences."""
    are_all_audiences: bool = True
    """Whether the ledger has all audiences of the service."""
    subscriptions: int = 0
    needing_attention: int = 0
    """Operations that failed in the last day or whose outcome is unknown."""
    releases: int = 0
    """Open releases: neither finished nor canceled."""
    open_requests: tuple[tuple[str, int | None], ...] = ()
    """The kind and the requester of each open approval request."""
    assigned: tuple[tuple[int, int], ...] = ()
    """User ids, each with the number of audiences assigned to that user."""


class SharedState(NamedTuple):
    approval_kinds: tuple[str, ...] = ()
    """The kinds of changes that need an approval, for the labels of buttons."""

    def covers(self, kind: str) -> bool:
        return kind in self.approval_kinds


# During an update, another release shares the cache. Its fields or values may differ.
_COUNTS_KEY = f"sidebar-counts:{','.join(SidebarCounts._fields)}"
_SHARED_KEY = f"shared-state:{','.join(SharedState._fields)}"


_COUNTS, _SHARED = TypeAdapter(SidebarCounts), TypeAdapter(SharedState)
StateT = TypeVar("StateT")


def _restored(adapter: TypeAdapter[StateT], cached: object) -> StateT | None:
    """Return the cached value; None if it is missing or has another form."""
    try:
        return adapter.validate_python(cached)
    except ValidationError:
        return None


def shell_state(
    *, is_fresh: bool = False
) -> tuple[SidebarCounts, SharedState, outages.Outage | None]:
    """Return what every page shows; empty if the database fails: error pages show it, too."""
    keys = [_COUNTS_KEY, _SHARED_KEY, outages.CACHE_KEY]
    cached = {} if is_fresh else cache.get_many(keys)
    outage = outages.current_outage(cached.get(outages.CACHE_KEY))
    try:
        return (
            _restored(_COUNTS, cached.get(_COUNTS_KEY)) or refresh_counts(),
            _restored(_SHARED, cached.get(_SHARED_KEY)) or _read_shared_state(),
            outage,
        )
    except Error:
        return SidebarCounts(), SharedState(), outage


def cached_counts() -> SidebarCounts | None:
    return _restored(_COUNTS, cache.get(_COUNTS_KEY))


def live_url(user: User | AnonymousUser, counts: SidebarCounts, /, **params: str) -> str:
    """Return the URL of the poll of a page that shows these counts."""
    query = {name: value for name, value in params.items() if value}
    query["counts"] = counts_mark(user, counts)
    return f"{cached_reverse('live')}?{urlencode(query)}"


def counts_mark(user: User | AnonymousUser, counts: SidebarCounts) -> str:
    """Return a checksum of what the counts in the user's sidebar depend on, besides permissions.

    Each poll needs it, so it includes all open requests: checking who can decide takes queries.
    """
    numbers = (*counts._replace(assigned=()), assigned_count(user, counts))
    return f"{crc32(repr(numbers).encode()):x}"


def assigned_count(user: User | AnonymousUser, counts: SidebarCounts) -> int:
    return dict(counts.assigned).get(user.pk or 0, 0)


def approvals_to_decide(user: User | AnonymousUser, counts: SidebarCounts) -> int:
    return count_for(user, counts.open_requests) if user.is_authenticated else 0


def unread_notifications(user: User | AnonymousUser) -> list[tuple[int, str]]:
    """Return what the bell counts, at most 100; empty if the database fails. One query.

    Not cached, so that it is correct as soon as the user has read one.
    """
    try:
        return unread_paths(user) if user.is_authenticated else []
    except Error:
        return []


def has_just_sent_a_form(request: HttpRequest) -> bool:
    """Return whether this browser has just sent a form, to any process."""
    return FORM_SENT_COOKIE in request.COOKIES


def refresh_counts() -> SidebarCounts:
    """Count what the sidebar shows, and cache it for CACHE_SECONDS."""
    now, pages = clock.now(), pages_coverage()
    [(subscriptions, audiences, releases)] = _row_counts.rows()
    counts = SidebarCounts(
        pages=pages.recorded if pages.total is None else pages.total,
        audiences=audiences,
        are_all_audiences=audience_coverage().is_full,
        subscriptions=subscriptions,
        needing_attention=operations_needing_attention(now).count,
        releases=releases,
        open_requests=tuple(_open_requests.rows(now)),
        assigned=tuple(_assigned.rows()),
    )
    cache.set(_COUNTS_KEY, tuple(counts), timeout=CACHE_SECONDS)
    return counts


@compiled(tuple)
def _row_counts() -> "QuerySet[SubscriptionRecord, Any]":
    audiences = AudienceRecord.objects.order_by()
    ended = (ReleaseState.FINISHED, ReleaseState.CANCELED)
    releases = Release.listed.exclude(state__in=ended).order_by()
    others = (Subquery(rows.values(count=ROW_COUNT)) for rows in (audiences, releases))
    return SubscriptionRecord.objects.order_by().values_list(ROW_COUNT, *others)


@compiled(tuple)
def _open_requests(now: datetime) -> "QuerySet[ApprovalRequest, Any]":
    return ApprovalRequest.objects.undecided(now).values_list("kind", "requested_by")


@compiled(tuple)
def _assigned() -> "QuerySet[AudienceRecord, Any]":
    assigned = AudienceRecord.objects.filter(assignee__isnull=False).order_by()
    return assigned.values_list("assignee").annotate(count=Count("pk"))


def _read_shared_state() -> SharedState:
    rule = current_rule()
    shared = SharedState(
        approval_kinds=tuple(kind.value for kind in ApprovalKind if rule.covers(kind)),
    )
    cache.set(_SHARED_KEY, tuple(shared), timeout=CACHE_SECONDS)
    return shared
