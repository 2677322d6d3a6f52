"""The list of requests, and those that one person can decide."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse

from dashboard import clock
from dashboard.approvals.models import ApprovalKind, ApprovalRequest, RequestState
from dashboard.approvals.rule import PERMISSIONS
from dashboard.ledger.models import Operation
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import choice_among
from dashboard.web.lists.state import ListState
from dashboard.web.releases.markup import release_title
from dashboard.web.releases.summary import Badge
from dashboard.web.ui.query_params import PAGE_SIZE

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
STATE = choice_among("state", "State", RequestState.choices, all_label="All", column="state")
APPROVALS = ListDefinition(filters=(STATE,), start="start")


@dataclass(frozen=True)
class ApprovalList:
    mine_to_decide: list[ApprovalRequest]
    other_open: list[ApprovalRequest]
    ended: list[ApprovalRequest]
    next_start: int | None
    """The number of ended requests up to the last that is shown, if more follow."""


@dataclass(frozen=True)
class Emergency:
    title: str
    reason: str
    user_name: str
    at: datetime
    url: str


@dataclass(frozen=True)
class ApprovalNews:
    waiting: list[ApprovalRequest]
    """Requests that this person can decide, those that expire first."""
    waiting_count: int
    unsuccessful: list[ApprovalRequest]
    """Requests of this person that came to nothing, and void ones that this person approved."""
    emergencies: list["Emergency"]
    """Newest first; for everyone who can approve."""


def badge_of(approval: ApprovalRequest) -> Badge:
    is_expired = approval.has_expired(clock.now())
    return BADGES[RequestState.EXPIRED if is_expired else approval.state]


def kinds_decided_by(user: User) -> list[ApprovalKind]:
    return [kind for kind, permission in PERMISSIONS.items() if user.has_perm(permission)]


def read_list(user: User, state: ListState) -> ApprovalList:
    """Return the requests that match. At most two queries."""
    now = clock.now()
    is_open = Q(state=RequestState.OPEN, expires_at__gt=now)
    waiting = (
        list(ApprovalRequest.objects.undecided(now))
        if state.value(STATE) in ("", RequestState.OPEN)
        else []
    )
    ended, start = ApprovalRequest.objects.exclude(is_open).filter(state.condition), state.start
    rows = list(ended[start : start + PAGE_SIZE + 1])
    mine = [approval for approval in waiting if _can_decide(approval, user)]
    return ApprovalList(
        mine_to_decide=mine,
        other_open=[approval for approval in waiting if approval not in mine],
        ended=rows[:PAGE_SIZE],
        next_start=start + PAGE_SIZE if len(rows) > PAGE_SIZE else None,
    )


def read_news(user: User, now: datetime) -> ApprovalNews:
    """Return what the overview tells a user. Three queries, one for who can't approve."""
    since, kinds = now - NEWS_FOR, kinds_decided_by(user)
    approvals = (
        ApprovalRequest.objects.undecided(now).exclude(requested_by=user).filter(kind__in=kinds)
    )
    waiting = list(approvals.order_by("expires_at", "pk")) if kinds else []
    return ApprovalNews(
        waiting=waiting[:MAX_WAITING],
        waiting_count=len(waiting),
        unsuccessful=_unsuccessful(user, since, now),
        emergencies=_emergencies(since) if kinds else [],
    )


def next_to_decide(user: User) -> ApprovalRequest | None:
    """Return the open request that expires first of those that a user can decide. One query."""
    waiting = ApprovalRequest.objects.undecided(clock.now()).order_by("expires_at", "pk")
    return next((approval for approval in waiting if _can_decide(approval, user)), None)


def _emergencies(since: datetime) -> list[Emergency]:
    """Return what was sent without the approval it needed; a release once. One query if none."""
    sent = Operation.objects.exclude(emergency_reason="").filter(requested_at__gt=since)
    emergencies: dict[str, Emergency] = {}
    for operation in sent.order_by("-requested_at").prefetch_related(ITEMS)[:MAX_OPERATIONS]:
        item = next(iter(operation.release_items.all()), None)
        if item:
            title, url = (
                release_title(item.release),
                reverse("release-detail", args=[item.release_id]),
            )
        else:
            title = f"{operation.title}, {operation.target_name}"
            url = reverse("operation-detail", args=[operation.operation_key])
        reason, user = operation.emergency_reason, operation.actor_name
        emergency = Emergency(title, reason, user, operation.requested_at, url)
        emergencies.setdefault(url, emergency)
    return list(emergencies.values())[:MAX_NEWS]


def count_for(user: User, requests: Iterable[tuple[str, int | None]]) -> int:
    """Return how many open requests a user can decide, of their kinds and requesters."""
    requests = list(requests)
    if not requests:
        return 0
    kinds = kinds_decided_by(user)
    return sum(kind in kinds and requester != user.pk for kind, requester in requests)


def _can_decide(approval: ApprovalRequest, user: User) -> bool:
    permission = PERMISSIONS[ApprovalKind(approval.kind)]
    return approval.requested_by_id != user.pk and bool(user.has_perm(permission))


def _unsuccessful(user: User, since: datetime, now: datetime) -> list[ApprovalRequest]:
    """Return what a user requested or approved in vain, unless it was requested again."""
    mine = Q(requested_by=user) | Q(decided_by=user, state=RequestState.VOID)
    states = (RequestState.DECLINED, RequestState.EXPIRED, RequestState.VOID)
    ended = Q(state__in=states) & (Q(ended_at__gt=since) | Q(decided_at__gt=since))
    # That of a webhook or a page just expires; a worker holds a release.
    expired = Q(state=RequestState.OPEN, expires_at__gt=since, expires_at__lte=now)
    # A release that was requested again has another request by now.
    is_last = Q(releases__isnull=False) | ~Q(kind__in=("publish", "roll_back"))
    approvals = ApprovalRequest.objects.filter(mine, ended | expired).filter(is_last).distinct()
    return list(approvals.order_by("-requested_at")[:MAX_NEWS])
