"""Record events that signals report, in the transaction of what happened.

Each receiver has its own savepoint. If it fails, the error is logged and what happened is still
recorded. So a receiver writes no foreign keys: PostgreSQL checks those only at commit.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.dispatch import Signal
from django.urls import reverse

from dashboard import clock
from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.approvals.requests import approval_decided, approval_ended, approval_requested
from dashboard.comments.signals import audiences_assigned, comment_added, thread_resolved
from dashboard.ledger.deviations import BROWSER
from dashboard.ledger.models import DeviationRecord, Operation, Publication
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.ledger.signals import (
    audiences_changed,
    deviations_found,
    emergency_begun,
    operation_ended,
    pages_changed,
    published_outside,
)
from dashboard.notifications.comment_notices import (
    on_audiences_assigned,
    on_comment_added,
    on_thread_resolved,
)
from dashboard.notifications.followed_changes import on_audiences_changed, on_pages_changed
from dashboard.notifications.inbox import mark_event_read
from dashboard.notifications.models import Event
from dashboard.notifications.recording import (
    Draft,
    Subject,
    digest_of,
    drop_events,
    record_event,
    record_events,
)
from dashboard.releases.models import (
    HoldKind,
    ItemState,
    Release,
    ReleaseItem,
    ReleaseState,
    item_ended_badly,
    release_finished,
    release_held,
)
from dashboard.review.decisions import NOTICE_AFTER, rejection_undone, version_rejected
from dashboard.review.models import ReviewDecision

KIND_OF_OUTCOME = {
    Outcome.ACCEPTED: "publish_finished",
    Outcome.REJECTED: "publish_failed",
    Outcome.NOT_SENT: "publish_failed",
    Outcome.UNKNOWN: "publish_unknown",
}
BAD_ENDS = (ItemState.FAILED, ItemState.UNKNOWN, ItemState.HELD)
COUNTED = {
    ItemState.LIVE: "live",
    ItemState.FAILED: "failed",
    ItemState.UNKNOWN: "with an unknown outcome",
    ItemState.HELD: "held",
    ItemState.CANCELED: "canceled",
}
BECAME = {RequestState.EXPIRED: "expired", RequestState.VOID: "is void"}


def connect() -> None:
    receivers: list[tuple[Signal, Callable[..., None]]] = [
        (pages_changed, on_pages_changed),
        (audiences_changed, on_audiences_changed),
        (operation_ended, on_operation_ended),
        (emergency_begun, on_emergency),
        (published_outside, on_published_outside),
        (deviations_found, on_deviations),
        (approval_requested, on_approval_requested),
        (approval_decided, on_approval_decided),
        (approval_ended, on_approval_ended),
        (release_held, on_release_held),
        (release_finished, on_release_finished),
        (item_ended_badly, on_item_ended_badly),
        (comment_added, on_comment_added),
        (thread_resolved, on_thread_resolved),
        (audiences_assigned, on_audiences_assigned),
        (version_rejected, on_version_rejected),
        (rejection_undone, on_rejection_undone),
    ]
    for signal, receiver in receivers:
        signal.connect(receiver, dispatch_uid=f"notifications.{receiver.__name__}")


@transaction.atomic
def on_operation_ended(operation: Operation, **_: Any) -> None:
    """Notify of an operation's outcome. Failures within a release are reported with their item."""
    outcome = Outcome(operation.outcome)
    if outcome == Outcome.ACCEPTED:
        # Users who create a page or change a webhook see at once that it was accepted.
        if operation.kind != OperationKind.PUBLISH_VERSION:
            return
    elif ReleaseItem.objects.filter(
        operation=operation, release__owner=operation.actor_id
    ).exists():
        return
    record_event(
        KIND_OF_OUTCOME[outcome],
        f"operation:{operation.pk}:{outcome}",
        subject_of(operation),
        facts_of(operation),
        actor=operation.actor,
        owners=[operation.actor],
    )


@transaction.atomic
def on_item_ended_badly(item: ReleaseItem, **_: Any) -> None:
    release = item.release
    kind = "publish_failed" if item.state == ItemState.FAILED else "publish_unknown"
    doing = "Rolling back to" if release.rolls_back_id else "Publishing"
    record_event(
        kind,
        f"item:{item.pk}:{item.state}:{digest_of(item.operation_key)}",
        replace(
            _release_subject(release),
            page_id=item.page_id,
            audience_id=item.audience_id,
            version_id=item.version_id,
            operation_key=item.operation_key,
        ),
        _release_facts(
            release,
            doing=f"{doing} version {item.version_number} of {item.audience_name}",
            version=item.version_number,
            audience=item.audience_name,
            page=item.page_name,
            actor=release.owner_name,
            why=_why(item.operation),
        ),
        actor=release.owner,
        owners=[release.owner],
    )


@transaction.atomic
def on_version_rejected(decision: ReviewDecision, **_: Any) -> None:
    """Notify of a rejection after NOTICE_AFTER, as it may be undone before."""
    record = audience_last_known(decision.page_id, decision.audience_id)
    record_event(
        "version_rejected",
        _key_of(decision),
        _version_subject(decision.page_id, decision.audience_id, decision.version_id),
        {
            "actor": decision.user_name,
            "version": decision.version_number,
            "audience": decision.audience_name,
        },
        actor=decision.user,
        owners=[record.assignee if record else None],
        wake_at=clock.now() + NOTICE_AFTER,
    )


@transaction.atomic
def on_rejection_undone(decision: ReviewDecision, **_: Any) -> None:
    drop_events(Event.objects.filter(key=_key_of(decision), wake_at__isnull=False))


def _key_of(decision: ReviewDecision) -> str:
    return f"rejected:{decision.pk}"


@transaction.atomic
def on_release_finished(release: Release, **_: Any) -> None:
    """Notify the owner. Those who publish at once are watching: only failures are news to them."""
    states = Counter(release.items.values_list("state", flat=True))
    is_failed = any(states[state] for state in BAD_ENDS)
    counts = [f"{states[state]} {word}" for state, word in COUNTED.items() if states[state]]
    is_watched = not (release.due_at or release.approval_id or release.by_program)
    record_event(
        "release_failed" if is_failed else "release_finished",
        f"release:{release.pk}:finished:{release.finished_at:%Y%m%d%H%M%S%f}",
        _release_subject(release),
        _release_facts(release, counts=", ".join(counts) or "no versions"),
        actor=release.owner if is_watched else None,
        owners=[release.owner],
    )


@transaction.atomic
def on_release_held(release: Release, **_: Any) -> None:
    kind = HoldKind(release.hold_kind)
    if kind == HoldKind.STOPPED and release.stop_requested_by_name == release.owner_name:
        return
    if kind == HoldKind.LATE and release.started_at is None:
        record_missed_schedule(release)
        return
    record_event(
        "release_held",
        f"release:{release.pk}:held:{release.held_at:%Y%m%d%H%M%S%f}",
        _release_subject(release),
        _release_facts(release, reason=kind.label[0].lower() + kind.label[1:]),
        owners=[release.owner],
    )


def record_missed_schedule(release: Release) -> None:
    due_at = release.due_at
    due = f"{release.due_as_typed}, {release.time_zone}" if release.due_as_typed else ""
    record_event(
        "schedule_missed",
        f"release:{release.pk}:missed:{due_at:%Y%m%d%H%M%S}" if due_at else f"{release.pk}:missed",
        _release_subject(release),
        _release_facts(release, due=due or f"{due_at:%Y-%m-%d %H:%M} UTC"),
        owners=[release.owner],
    )


@transaction.atomic
def on_approval_requested(approval: ApprovalRequest, **_: Any) -> None:
    record_event(
        "approval_requested",
        _requested_key(approval),
        _approval_subject(approval),
        _approval_facts(approval, actor=approval.requested_by_name),
        actor=approval.requested_by,
    )


@transaction.atomic
def on_approval_decided(approval: ApprovalRequest, **_: Any) -> None:
    """Notify the requester. Nobody else has to decide it, so their notices are marked as read."""
    mark_event_read(_requested_key(approval))
    is_given = approval.state == RequestState.APPROVED
    record_event(
        "approval_given" if is_given else "approval_declined",
        f"approval:{approval.pk}:decided",
        _approval_subject(approval),
        _approval_facts(approval, actor=approval.decided_by_name),
        actor=approval.decided_by,
        owners=[approval.requested_by],
    )


@transaction.atomic
def on_approval_ended(approval: ApprovalRequest, **_: Any) -> None:
    mark_event_read(_requested_key(approval))
    if approval.state == RequestState.WITHDRAWN:
        return
    became = BECAME[RequestState(approval.state)]
    if changed := dict.fromkeys(difference["what"] for difference in approval.differences):
        became = f"{became}, changed: {', '.join(changed)}"
    _record_end(approval, became)


def record_expired(approval: ApprovalRequest) -> None:
    mark_event_read(_requested_key(approval))
    _record_end(approval, BECAME[RequestState.EXPIRED])


def _requested_key(approval: ApprovalRequest) -> str:
    return f"approval:{approval.pk}:requested"


def _approval_facts(approval: ApprovalRequest, **facts: str) -> dict[str, str]:
    return {"title": approval.title, **_by(approval.by_program), **facts}


def _record_end(approval: ApprovalRequest, became: str) -> None:
    record_event(
        "approval_void",
        f"approval:{approval.pk}:ended",
        _approval_subject(approval),
        _approval_facts(approval, became=became),
        owners=[approval.requested_by, approval.decided_by],
    )


@transaction.atomic
def on_emergency(operation: Operation, **_: Any) -> None:
    """Notify everyone who could have approved it, once per release."""
    release = Release.objects.filter(
        state=ReleaseState.RUNNING,
        emergency_reason=operation.emergency_reason,
        items__version_id=operation.version_id,
        items__audience_id=operation.audience_id,
    ).first()
    key, subject = f"operation:{operation.pk}:emergency", subject_of(operation)
    title = f"version {operation.version_number} of {operation.target_name}"
    if release:
        key = f"release:{release.pk}:emergency:{release.decided_at:%Y%m%d%H%M%S%f}"
        subject, title = _release_subject(release), release.name
    record_event(
        "emergency_publish",
        key,
        subject,
        {"title": title, "actor": operation.actor_name},
        actor=operation.actor,
    )


def on_published_outside(publications: Sequence[Publication], **_: Any) -> None:
    drafts = []
    for publication in publications:
        page_id, audience_id = publication.page_id, publication.audience_id
        subject = _version_subject(page_id, audience_id, publication.version_id)
        facts = {
            "version": publication.version_number,
            "audience": publication.audience_name or audience_id,
            "page": publication.page_name or page_id,
        }
        drafts.append(Draft(f"outside:{publication.pk}", subject, facts))
    record_events("published_outside", drafts)


def on_deviations(deviations: Sequence[DeviationRecord], **_: Any) -> None:
    """Notify of new deviations, except from browsers: any user could forge a browser's report."""
    subject = Subject(reverse("service-watch"))
    drafts = [
        Draft(
            f"deviation:{deviation.digest}",
            subject,
            {
                "deviation": deviation.kind,
                "operation": deviation.operation,
                "place": deviation.place,
            },
        )
        for deviation in deviations
        if deviation.operation != BROWSER
    ]
    record_events("new_deviation", drafts)


def subject_of(operation: Operation) -> Subject:
    return Subject(
        reverse("operation-detail", args=[operation.operation_key]),
        page_id=operation.page_id,
        audience_id=operation.audience_id,
        version_id=operation.version_id,
        operation_key=operation.operation_key,
    )


def facts_of(operation: Operation) -> dict[str, Any]:
    name, number = operation.target_name, operation.version_number
    publishing = "Rolling back to" if operation.is_rollback else "Publishing"
    doing = {
        OperationKind.PUBLISH_VERSION: f"{publishing} version {number} of {name}",
        OperationKind.CREATE_PAGE: f"Creating the page {name}",
        OperationKind.UPDATE_SUBSCRIPTION: f"Updating the webhook {name}",
    }[OperationKind(operation.kind)]
    return {
        "doing": doing.strip(),
        "did": f"{'rolled back to' if operation.is_rollback else 'published'} version {number}",
        "version": number,
        "audience": name,
        "actor": operation.actor_name,
        "why": _why(operation),
        **_by(operation.by_program),
    }


def _why(operation: Operation | None) -> str:
    is_unsent = operation and operation.outcome == Outcome.NOT_SENT
    return ": nothing was sent" if is_unsent else ""


def _release_facts(release: Release, **facts: Any) -> dict[str, Any]:
    return {"release": release.name, **_by(release.by_program), **facts}


def _by(by_program: str) -> dict[str, str]:
    """Return the fact that names the program, if there is one."""
    return {"by": f" {by_program}"} if by_program else {}


def _release_subject(release: Release) -> Subject:
    return Subject(reverse("release-detail", args=[release.pk]), release_id=release.pk)


def _version_subject(page_id: str, audience_id: str, version_id: str) -> Subject:
    path = reverse("audience-detail", args=[page_id, audience_id])
    return Subject(path, page_id=page_id, audience_id=audience_id, version_id=version_id)


def _approval_subject(approval: ApprovalRequest) -> Subject:
    return Subject(reverse("approval-detail", args=[approval.pk]), approval_id=approval.pk)
