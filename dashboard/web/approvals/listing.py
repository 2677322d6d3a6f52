"""The list of approval requests, and the requests that a user can decide."""

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
"""How long the overview lists an unsuccessful request or an emergency."""
MAX_NEWS = 5
MAX_WAITING = 5
MAX_OPERATIONS = 200
"""How many operations without approval are read. Those of a release are one emergency."""
ITEMS = "release_items__release"
STATE = choice_among("state", "State", RequestState.choices, all_label="All", column="state")
APPROVALS = ListDefinition(filters=(STATE,), start="start")


@dataclass(frozen=True)
class ApprovalList:
    mine_to_decide: list[ApprovalRequest]
    other_open: list[ApprovalRequest]
    ended: list[ApprovalRequest]
    next_start: int | None
    """Offset of the next ended requests; None if no more follow."""

    @property
    def rows(self) -> list[ApprovalRequest]:
        return [*self.mine_to_decide, *self.other_open, *self.ended]


@dataclass(frozen=True)
class Emergency:
    title: str
    reason: str
    user_name: str
    at: datetime
    url: str


@dataclass(frozen=True)
class ApprovalOverview:
    waiting: list[ApprovalRequest]
    """Requests that the user can decide, the first to expire first."""
    waiting_count: int
    unsuccessful: list[ApprovalRequest]
    """The user's unsuccessful requests, and void requests that the user approved."""
    emergencies: list["Emergency"]
    """Emergencies, newest first; empty unless the user can approve."""


def badge_of(approval: ApprovalRequest) -> Badge:
    is_expired = approval.has_expired(clock.now())
    return BADGES[RequestState.EXPIRED if is_expired else approval.state]


def kinds_decided_by(user: User) -> list[ApprovalKind]:
    return [kind for kind, permission in PERMISSIONS.items() if user.has_perm(permission)]


def read_list(user: User, state: ListState) -> ApprovalList:
    """Return the matching requests. Makes at most two queries."""
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


def read_approval_overview(user: User, now: datetime) -> ApprovalOverview:
    """Return the approvals in a user's overview.

    Makes three queries, or one if the user can't approve.
    """
    since, kinds = now - NEWS_FOR, kinds_decided_by(user)
    approvals = (
        ApprovalRequest.objects.undecided(now).exclude(requested_by=user).filter(kind__in=kinds)
    )
    waiting = list(approvals.order_by("expires_at", "pk")) if kinds else []
    return ApprovalOverview(
        waiting=waiting[:MAX_WAITING],
        waiting_count=len(waiting),
        unsuccessful=_unsuccessful(user, since, now),
        emergencies=_emergencies(since) if kinds else [],
    )


def next_to_decide(user: User) -> ApprovalRequest | None:
    """Return the next request to expire that the user can decide. Makes one query."""
    waiting = ApprovalRequest.objects.undecided(clock.now()).order_by("expires_at", "pk")
    return next((approval for approval in waiting if _can_decide(approval, user)), None)


def _emergencies(since: datetime) -> list[Emergency]:
    """Return what was sent without the required approval. A release is one emergency.

    Makes only one query if there are none.
    """
    sent = Operation.objects.exclude(emergency_reason="").filter(requested_at__gt=since)
    emergencies: dict[str, Emergency] = {}
    for operation in sent.order_by("-requested_at").prefetch_related(ITEMS)[:MAX_OPERATIONS]:
        item = next(iter(operation.release_items.all()), None)
        if item:
            title = release_title(item.release)
            url = reverse("release-detail", args=[item.release_id])
        else:
            title = f"{operation.title}, {operation.target_name}"
            url = reverse("operation-detail", args=[operation.operation_key])
        reason, user = operation.emergency_reason, operation.actor_name
        emergency = Emergency(title, reason, user, operation.requested_at, url)
        emergencies.setdefault(url, emergency)
    return list(emergencies.values())[:MAX_NEWS]


def count_for(user: User, requests: Iterable[tuple[str, int | None]]) -> int:
    """Return how many requests a user can decide. `requests` holds kinds and requester ids."""
    requests = list(requests)
    if not requests:
        return 0
    kinds = kinds_decided_by(user)
    return sum(kind in kinds and requester != user.pk for kind, requester in requests)


def _can_decide(approval: ApprovalRequest, user: User) -> bool:
    permission = PERMISSIONS[ApprovalKind(approval.kind)]
    return approval.requested_by_id != user.pk and bool(user.has_perm(permission))


def _unsuccessful(user: User, since: datetime, now: datetime) -> list[ApprovalRequest]:
    """Return the user's unsuccessful requests, and void ones that the user approved.

    Requests for a release that was requested again are left out.
    """
    mine = Q(requested_by=user) | Q(decided_by=user, state=RequestState.VOID)
    states = (RequestState.DECLINED, RequestState.EXPIRED, RequestState.VOID)
    ended = Q(state__in=states) & (Q(ended_at__gt=since) | Q(decided_at__gt=since))
    # A request for a webhook or a page stays open when it expires. A worker ends a release's.
    expired = Q(state=RequestState.OPEN, expires_at__gt=since, expires_at__lte=now)
    # If a release was requested again, its old request has no release.
    is_last = Q(releases__isnull=False) | ~Q(kind__in=("publish", "roll_back"))
    approvals = ApprovalRequest.objects.filter(mine, ended | expired).filter(is_last).distinct()
    return list(approvals.order_by("-requested_at")[:MAX_NEWS])
