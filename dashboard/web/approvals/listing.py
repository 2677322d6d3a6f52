"""The list of requests, and those that one person can decide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from dashboard.ledger.models import ApprovalRequest, Operation
from dashboard.ledger.models.approvals import ApprovalKind, RequestState
from dashboard.operations.approvals import PERMISSIONS
from dashboard.releases.models import Release
from dashboard.web.releases.markup import release_title
from dashboard.web.releases.summary import Badge
from dashboard.web.ui.load_more import PAGE_SIZE
from dashboard.web.ui.query_params import int_param

BADGES: dict[str, Badge] = {
    RequestState.OPEN: ("Needs approval", "st-approval", "info"),
    RequestState.APPROVED: ("Approved", "check", "ok"),
    RequestState.DECLINED: ("Declined", "x", "bad"),
    RequestState.WITHDRAWN: ("Withdrawn", "st-off", "plain"),
    RequestState.EXPIRED: ("Expired", "clock", "warn"),
    RequestState.VOID: ("Approval void", "st-held", "warn"),
}
NEWS_FOR = timedelta(days=7)
"""How long the overview tells of a request that came to nothing, or of an emergency."""
MAX_NEWS = 5
MAX_WAITING = 5
MAX_OPERATIONS = 200
"""Sent without an approval: those of a release are one emergency."""
ITEMS = "release_items__release"


@dataclass(frozen=True)
class ApprovalList:
    """Open requests, and some of the others, newest first."""

    mine_to_decide: list[ApprovalRequest]
    other_open: list[ApprovalRequest]
    ended: list[ApprovalRequest]
    state: str
    """The filter: a state, or ""."""
    start: int
    next_start: int | None
    """The number of ended requests up to the last that is shown, if more follow."""


@dataclass(frozen=True)
class Emergency:
    """One version or release that an administrator published without the approval it needed."""

    title: str
    reason: str
    user_name: str
    at: datetime
    url: str


@dataclass(frozen=True)
class ApprovalNews:
    """What the overview tells one person."""

    waiting: list[ApprovalRequest]
    """Requests that this person can decide, those that expire first."""
    waiting_count: int
    unsuccessful: list[ApprovalRequest]
    """Requests of this person that came to nothing, and void ones that this person approved."""
    emergencies: list["Emergency"]
    """Newest first; for everyone who can approve."""


def badge_of(request: ApprovalRequest) -> Badge:
    """Return the state of a request as a word and a shape."""
    is_expired = request.has_expired(timezone.now())
    return BADGES[RequestState.EXPIRED if is_expired else request.state]


def kinds_decided_by(user: User) -> list[ApprovalKind]:
    """Return the kinds of requests that a user can approve, by permission."""
    return [kind for kind, permission in PERMISSIONS.items() if user.has_perm(permission)]


def open_requests(now: datetime) -> QuerySet[ApprovalRequest]:
    """Return the requests that no one has decided and that have not expired."""
    return ApprovalRequest.objects.filter(state=RequestState.OPEN, expires_at__gt=now)


def read_list(user: User, params: Mapping[str, str]) -> ApprovalList:
    """Return the list with the filter `?state=`, from `?start=` on. At most two queries."""
    state = params.get("state", "")
    state = state if state in RequestState.values else ""
    start = int_param(params.get("start", ""))
    now = timezone.now()
    is_open = Q(state=RequestState.OPEN, expires_at__gt=now)
    waiting = list(open_requests(now)) if state in ("", RequestState.OPEN) else []
    ended = ApprovalRequest.objects.exclude(is_open)
    if state:
        ended = ended.filter(state=state)
    rows = list(ended[start : start + PAGE_SIZE + 1])
    mine = [each for each in waiting if _can_decide(each, user)]
    return ApprovalList(
        mine_to_decide=mine,
        other_open=[each for each in waiting if each not in mine],
        ended=rows[:PAGE_SIZE],
        state=state,
        start=start,
        next_start=start + PAGE_SIZE if len(rows) > PAGE_SIZE else None,
    )


def read_news(user: User, now: datetime) -> ApprovalNews:
    """Return what the overview tells a user. Three queries, one for who can't approve."""
    since, kinds = now - NEWS_FOR, kinds_decided_by(user)
    found = open_requests(now).exclude(requested_by=user).filter(kind__in=kinds)
    waiting = list(found.order_by("expires_at", "pk")) if kinds else []
    return ApprovalNews(
        waiting=waiting[:MAX_WAITING],
        waiting_count=len(waiting),
        unsuccessful=_unsuccessful(user, since, now),
        emergencies=_emergencies(since) if kinds else [],
    )


def _emergencies(since: datetime) -> list[Emergency]:
    """Return what was sent without the approval it needed; a release once. One query if none."""
    sent = Operation.objects.exclude(emergency_reason="").filter(requested_at__gt=since)
    found: dict[str, Emergency] = {}
    for operation in sent.order_by("-requested_at").prefetch_related(ITEMS)[:MAX_OPERATIONS]:
        items = list(operation.release_items.all())
        each = _emergency(operation, items[0].release if items else None)
        found.setdefault(each.url, each)
    return list(found.values())[:MAX_NEWS]


def _emergency(operation: Operation, release: Release | None) -> Emergency:
    if release:
        title, url = release_title(release), reverse("release-detail", args=[release.pk])
    else:
        title = f"{operation.title}, {operation.target_name}"
        url = reverse("operation-detail", args=[operation.operation_key])
    reason, user = operation.emergency_reason, operation.actor_name
    return Emergency(title, reason, user, operation.requested_at, url)


def count_for(user: User, requests: Iterable[tuple[str, int | None]]) -> int:
    """Return how many open requests a user can decide, of their kinds and requesters."""
    requests = list(requests)
    if not requests:
        return 0
    kinds = kinds_decided_by(user)
    return sum(kind in kinds and requester != user.pk for kind, requester in requests)


def _can_decide(request: ApprovalRequest, user: User) -> bool:
    permission = PERMISSIONS[ApprovalKind(request.kind)]
    return request.requested_by_id != user.pk and bool(user.has_perm(permission))


def _unsuccessful(user: User, since: datetime, now: datetime) -> list[ApprovalRequest]:
    """Return what a user requested or approved in vain, unless it was requested again."""
    mine = Q(requested_by=user) | Q(decided_by=user, state=RequestState.VOID)
    states = (RequestState.DECLINED, RequestState.EXPIRED, RequestState.VOID)
    ended = Q(state__in=states) & (Q(ended_at__gt=since) | Q(decided_at__gt=since))
    # That of a webhook or a page just expires; a worker holds a release.
    expired = Q(state=RequestState.OPEN, expires_at__gt=since, expires_at__lte=now)
    # A release that was requested again has another request by now.
    is_last = Q(releases__isnull=False) | ~Q(kind__in=("publish", "roll_back"))
    found = ApprovalRequest.objects.filter(mine, ended | expired).filter(is_last).distinct()
    return list(found.order_by("-requested_at")[:MAX_NEWS])
