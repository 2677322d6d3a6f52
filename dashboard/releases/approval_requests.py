"""Request, approve, decline, withdraw and void the approval of a release.

A decision that isn't possible raises ReleaseError or ApprovalError and changes nothing. The caller
checks permissions.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from dashboard import clock
from dashboard.approvals.models import ApprovalRequest, ApprovalRule, RequestState
from dashboard.approvals.requests import ApprovalError, end_request, locked, record_decision
from dashboard.approvals.rule import right_problem, save_rule
from dashboard.ledger.models.operations import OperationKind, actor_name
from dashboard.releases.approval_subjects import Plan, needs_approval, request_for, void_for_plan
from dashboard.releases.decisions import (
    NO_SCHEDULE,
    confirm,
    decided_by,
    make_draft,
    publish,
    require_unsent,
    running_from_now,
    save,
    scheduled_for,
    waiting_until,
)
from dashboard.releases.drafting import decide, state_sentence
from dashboard.releases.errors import ReleaseError
from dashboard.releases.holding import hold
from dashboard.releases.models import (
    NOT_SENT,
    HoldKind,
    ItemState,
    Release,
    ReleaseItem,
    ReleaseState,
)
from dashboard.releases.reviewing import ItemReview, board_digest, compare_review
from dashboard.releases.schedules import ScheduledMoment

RULE_ON = "The approval rule was turned on after it was scheduled. It needs an approval now."


def request_approval(
    release: Release,
    user: User,
    entered_count: str,
    displayed_digest: str,
    *,
    moment: ScheduledMoment | None = None,
    publishes_others: bool = False,
    by_program: str = "",
) -> ApprovalRequest:
    """Ask another person to approve a release, or the rest of a held one; return the request.

    The request has the release's note. Once approved, the release is published at `moment`, or at
    once. The new request voids an earlier request or approval. `entered_count`, `displayed_digest`,
    `publishes_others` and `by_program` are as in `decisions.publish`.
    """
    with decide(release, ReleaseState.DRAFT, ReleaseState.SCHEDULED, ReleaseState.HELD):
        if moment:
            require_unsent(release)
        confirm(release, entered_count, displayed_digest)
        plan = Plan(moment.instant if moment else None, publishes_others)
        void_for_plan(release, plan, f"{actor_name(user)} requested another approval.")
        save(
            release,
            **decided_by(user, by_program),
            **(scheduled_for(moment) if moment else NO_SCHEDULE),
            state=ReleaseState.WAITING_FOR_APPROVAL,
            emergency_reason="",
            publishes_others=publishes_others,
            needs_check=False,
        )
        approval = request_for(release, user)
        save(release, approval=approval)
        save(release, wake_at=waiting_until(release))
    return approval


def request_as_read(release: Release) -> datetime:
    """Request the approval of a locked rollback for its owner, once all items are read.

    Holds it instead if no item can be sent, or its owner may not publish. Returns the time of the
    next step.
    """
    owner = release.owner
    if problem := right_problem(owner, release.owner_name, OperationKind.PUBLISH_VERSION):
        wake_at = hold(release, HoldKind.NOT_ALLOWED, problem)
    elif owner is None or not release.items.filter(state=ItemState.WAITING).exists():
        wake_at = hold(release, HoldKind.CHANGED, "No version of it can be rolled back anymore.")
    else:
        save(release, approval=request_for(release, owner))
        wake_at = waiting_until(release)
    return wake_at


def requested_by(release: Release, user: User) -> ApprovalRequest | None:
    waiting = Release.objects.filter(
        pk=release.pk, state=ReleaseState.WAITING_FOR_APPROVAL, owner=user
    ).first()
    return waiting.approval if waiting else None


def approve(approval: ApprovalRequest, user: User, *, note: str, displayed_digest: str) -> None:
    """Approve a release exactly as reviewed. A worker checks it once more before it sends it.

    `displayed_digest` is the digest of the request on the page where the user decided.
    """
    with _decision(approval) as release:
        record_decision(
            approval, user, is_approved=True, note=note, displayed_digest=displayed_digest
        )
        if release.due_at:
            save(release, state=ReleaseState.SCHEDULED, wake_at=release.due_at)
        else:
            save(release, **running_from_now(release), decided_at=clock.now())


def decline(approval: ApprovalRequest, user: User, *, note: str, displayed_digest: str) -> None:
    with _decision(approval) as release:
        record_decision(
            approval, user, is_approved=False, note=note, displayed_digest=displayed_digest
        )
        _give_back(release, f"{actor_name(user)} declined it.")


def publish_own(
    approval: ApprovalRequest, user: User, entered_count: str, displayed_digest: str
) -> None:
    """Publish a release from the user's own request, if no rule needs another person.

    `displayed_digest` is the digest of the request on the page. `entered_count` is as in
    `decisions.publish`. The program that requested it is still named.
    """
    with _decision(approval) as release:
        if approval.requested_by != user or needs_approval(release):
            raise ApprovalError("It needs the approval of another person. Nothing was sent.")
        if displayed_digest != approval.digest:
            raise ApprovalError("This isn’t the request that you opened. Review it again.")
        end_request(approval, RequestState.WITHDRAWN, f"{actor_name(user)} published it.")
        make_draft(release)
        digest, by_program = board_digest(release), approval.by_program
        publish(release, user, entered_count, digest, by_program=by_program)


def withdraw(approval: ApprovalRequest, user: User) -> None:
    with _decision(approval) as release:
        reason = f"{actor_name(user)} withdrew the request."
        end_request(approval, RequestState.WITHDRAWN, reason)
        _give_back(release, reason)


def void_request(approval: ApprovalRequest, reason: str) -> None:
    with _decision(approval) as release:
        end_request(approval, RequestState.VOID, reason)
        _give_back(release, reason)


def hold_unapproved(release: Release) -> datetime | None:
    """Hold a locked release that was not approved in time.

    Returns the time of its next step, or None while there is time left.
    """
    now = clock.now()
    if now < waiting_until(release):
        return None
    is_due = release.due_at and now >= release.due_at
    reason = "No one approved it before it was due." if is_due else "The request expired."
    end_request(release.approval, RequestState.EXPIRED, reason)
    return hold(release, HoldKind.NOT_APPROVED, reason)


def void_approval(
    release: Release, reason: str, differences: Iterable[dict[str, str]] = ()
) -> None:
    end_request(release.approval, RequestState.VOID, reason, differences)


def approval_differences(
    release: Release, changed: Sequence[tuple[ReleaseItem, ItemReview]]
) -> list[dict[str, str]]:
    if release.approval is None:
        return []
    return [
        {"item": str(item), "what": difference.name, "then": difference.then, "now": difference.now}
        for item, review in changed
        for difference in compare_review(item, review)
        if difference.is_changed
    ]


def change_rule(user: User, rule: ApprovalRule) -> list[Release]:
    """Put a rule in force; hold and return scheduled releases that lack an approval it needs.

    A worker holds running releases before the next call. A rule in force already holds nothing.
    """
    with transaction.atomic():
        held = held_by(rule) if save_rule(rule, user) else []
        for release in held:
            wake_at = hold(release, HoldKind.NOT_APPROVED, RULE_ON)
            save(release, state=ReleaseState.HELD, wake_at=wake_at)
    return held


def held_by(rule: ApprovalRule) -> list[Release]:
    """Lock and return the scheduled releases that have no approval but need one by a rule."""
    scheduled = Release.objects.select_for_update().filter(state=ReleaseState.SCHEDULED)
    return [release for release in scheduled.filter(approval=None) if needs_approval(release, rule)]


@contextmanager
def _decision(approval: ApprovalRequest) -> Iterator[Release]:
    """Lock the release of an open request, then the request: the same order as a worker."""
    release = approval.releases.first()
    if release is None:
        raise ReleaseError("This release no longer exists. Nothing was changed.")
    with decide(release, *ReleaseState), locked(approval):
        if release.state != ReleaseState.WAITING_FOR_APPROVAL:
            raise ReleaseError(state_sentence(release))
        yield release


def _give_back(release: Release, reason: str) -> None:
    """Make a locked release editable again: a draft, or held if some items were sent."""
    if release.items.exclude(state__in=NOT_SENT).exists():
        wake_at = hold(release, HoldKind.NOT_APPROVED, reason)
        save(release, state=ReleaseState.HELD, wake_at=wake_at)
    else:
        make_draft(release)
