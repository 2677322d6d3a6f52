"""Have a release approved by another person: ask, approve, decline, withdraw; and when it is void.

Decisions raise ReleaseError or ApprovalError, and then change nothing. The caller checks
permissions.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from dashboard.ledger.models import ApprovalRequest, ApprovalRule
from dashboard.ledger.models.approvals import RequestState
from dashboard.ledger.models.operations import actor_name
from dashboard.operations.approval_requests import (
    end_request,
    locked,
    record_decision,
)
from dashboard.releases.approvals import Plan, needs_approval, request_for, void_for_plan
from dashboard.releases.comparing import compare_review
from dashboard.releases.decisions import (
    NO_SCHEDULE,
    confirm,
    decide,
    decided_by,
    make_draft,
    require_unsent,
    save,
    scheduled_for,
    waiting_until,
)
from dashboard.releases.drafting import state_sentence
from dashboard.releases.errors import ReleaseError
from dashboard.releases.holding import NOT_SENT, hold
from dashboard.releases.models import HoldKind, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import ItemReview
from dashboard.releases.schedules import ScheduledMoment

RULE_ON = "The approval rule was turned on after it was scheduled. It needs an approval now."


def request_approval(
    release: Release,
    user: User,
    typed: str,
    shown: str,
    *,
    moment: ScheduledMoment | None = None,
    publishes_others: bool = False,
) -> ApprovalRequest:
    """Ask another person to approve a release, or the rest of a held one; return the request.

    Its note is the release's. Once approved it is published, or at the moment if there is one.
    An earlier request or approval is void then. `typed`, `shown` and `publishes_others` as in
    `decisions.publish`.
    """
    with decide(release, ReleaseState.DRAFT, ReleaseState.SCHEDULED, ReleaseState.HELD):
        if moment:
            require_unsent(release)
        confirm(release, typed, shown)
        plan = Plan(moment.instant if moment else None, publishes_others)
        void_for_plan(release, plan, f"{actor_name(user)} requested another approval.")
        save(
            release,
            **decided_by(user),
            **(scheduled_for(moment) if moment else NO_SCHEDULE),
            state=ReleaseState.WAITING_FOR_APPROVAL,
            emergency_reason="",
            publishes_others=publishes_others,
            needs_check=False,
        )
        request = request_for(release, user)
        save(release, approval=request)
        save(release, wake_at=waiting_until(release))
    return request


def approve(request: ApprovalRequest, user: User, *, note: str, shown: str) -> None:
    """Approve a release exactly as reviewed: a worker checks it once more, and sends it.

    `shown` is the digest of the request on the page where the user decided.
    """
    with _decision(request) as release:
        record_decision(request, user, is_approved=True, note=note, shown=shown)
        now = timezone.now()
        if release.due_at:
            save(release, state=ReleaseState.SCHEDULED, wake_at=release.due_at)
        else:
            save(
                release,
                state=ReleaseState.RUNNING,
                started_at=release.started_at or now,
                active_at=now,
                decided_at=now,
                needs_check=True,
                wake_at=now,
            )


def decline(request: ApprovalRequest, user: User, *, note: str, shown: str) -> None:
    """Decline a release; it is a draft again, or held if a part of it was sent."""
    with _decision(request) as release:
        record_decision(request, user, is_approved=False, note=note, shown=shown)
        _give_back(release, f"{actor_name(user)} declined it.")


def withdraw(request: ApprovalRequest, user: User) -> None:
    """Take back an undecided request; its release can be changed again."""
    with _decision(request) as release:
        reason = f"{actor_name(user)} withdrew the request."
        end_request(request, RequestState.WITHDRAWN, reason)
        _give_back(release, reason)


def hold_unapproved(release: Release) -> datetime | None:
    """Hold a locked release that was not approved in time; return the time of its next step."""
    now, request = timezone.now(), release.approval
    if now < waiting_until(release):
        return None
    is_due = release.due_at and now >= release.due_at
    reason = "No one approved it before it was due." if is_due else "The request expired."
    if request:
        end_request(request, RequestState.EXPIRED, reason)
    return hold(release, HoldKind.NOT_APPROVED, reason)


def void_approval(
    release: Release, reason: str, differences: Iterable[dict[str, str]] = ()
) -> None:
    """Void the request or approval of a locked release, if it has one: it has changed."""
    if release.approval:
        end_request(release.approval, RequestState.VOID, reason, differences)


def approval_differences(
    release: Release, changed: Sequence[tuple[ReleaseItem, ItemReview]]
) -> list[dict[str, str]]:
    """Return what changed of the items of a release that was to be approved, then and now."""
    if release.approval is None:
        return []
    return [
        {"item": str(item), "what": each.name, "then": each.then, "now": each.now}
        for item, review in changed
        for each in compare_review(item, review)
        if each.is_changed
    ]


def change_rule(user: User, rule: ApprovalRule) -> list[Release]:
    """Put a rule in force; hold and return what is scheduled without an approval it needs.

    What is being sent is held by the worker before the next call.
    """
    with transaction.atomic():
        rule.changed_at, rule.changed_by_name = timezone.now(), actor_name(user)
        rule.save(force_insert=True)
        held = held_by(rule)
        for release in held:
            wake_at = hold(release, HoldKind.NOT_APPROVED, RULE_ON)
            save(release, state=ReleaseState.HELD, wake_at=wake_at)
    return held


def held_by(rule: ApprovalRule) -> list[Release]:
    """Return what is scheduled without an approval, and needs one by a rule; lock it."""
    scheduled = Release.objects.select_for_update().filter(state=ReleaseState.SCHEDULED)
    return [each for each in scheduled.filter(approval=None) if needs_approval(each, rule)]


@contextmanager
def _decision(request: ApprovalRequest) -> Iterator[Release]:
    """Lock the release of an open request, then the request, in this order like a worker."""
    release = request.releases.first()
    if release is None:
        raise ReleaseError("This release no longer exists. Nothing was changed.")
    with decide(release, *ReleaseState), locked(request):
        if release.state != ReleaseState.WAITING_FOR_APPROVAL:
            raise ReleaseError(state_sentence(release))
        yield release


def _give_back(release: Release, reason: str) -> None:
    """Let a locked release be changed again: as a draft, or held if a part of it was sent."""
    if release.items.exclude(state__in=NOT_SENT).exists():
        wake_at = hold(release, HoldKind.NOT_APPROVED, reason)
        save(release, state=ReleaseState.HELD, wake_at=wake_at)
    else:
        make_draft(release)
