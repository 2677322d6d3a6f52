"""Record what the rooms below report by signals, in the transaction of what happened.

Each receiver has a savepoint of its own: if it fails, that is logged, and what happened is recorded
all the same.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.dispatch import Signal
from django.urls import reverse

from dashboard.ledger.deviations import BROWSER
from dashboard.ledger.models import ApprovalRequest, DeviationRecord, Operation, OutsidePublish
from dashboard.ledger.models.approvals import ApprovalKind, RequestState
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.preferences import email_address_of
from dashboard.ledger.signals import (
    deviations_found,
    emergency_begun,
    operation_ended,
    outside_published,
)
from dashboard.notifications.email import is_email_on
from dashboard.notifications.inbox import mark_event_read
from dashboard.notifications.recording import (
    Concerned,
    Draft,
    Subject,
    digest_of,
    record_event,
    record_events,
    users_with,
)
from dashboard.operations.approvals import MANAGE_APPROVALS, PERMISSIONS, is_same_person
from dashboard.operations.signals import approval_decided, approval_ended, approval_requested
from dashboard.releases.models import HoldKind, ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.signals import item_ended_badly, release_finished, release_held

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
BECAME = {
    RequestState.EXPIRED: "expired",
    RequestState.VOID: "is void",
}


def connect() -> None:
    """Connect the receivers. Called once, at the start."""
    receivers: list[tuple[Signal, Callable[..., None]]] = [
        (operation_ended, on_operation_ended),
        (emergency_begun, on_emergency),
        (outside_published, on_outside_publishes),
        (deviations_found, on_deviations),
        (approval_requested, on_approval_requested),
        (approval_decided, on_approval_decided),
        (approval_ended, on_approval_ended),
        (release_held, on_release_held),
        (release_finished, on_release_finished),
        (item_ended_badly, on_item_ended_badly),
    ]
    for signal, receiver in receivers:
        signal.connect(receiver, dispatch_uid=f"notifications.{receiver.__name__}")


@transaction.atomic
def on_operation_ended(operation: Operation, **_: Any) -> None:
    """Notify of the outcome of a click; what a release has sent ends with its item."""
    outcome = Outcome(operation.outcome)
    if outcome == Outcome.ACCEPTED:
        # The page that shows it says so at once to who created a page or changed a webhook.
        if operation.kind != OperationKind.PUBLISH_VERSION:
            return
    elif _is_sent_by_a_release(operation):
        return
    record_event(
        KIND_OF_OUTCOME[outcome],
        f"operation:{operation.pk}:{outcome}",
        subject_of(operation),
        facts_of(operation),
        actor=operation.actor,
        concerned=Concerned(owners=[operation.actor]),
    )


@transaction.atomic
def on_item_ended_badly(item: ReleaseItem, **_: Any) -> None:
    """Notify of one version of a release that failed, or whose outcome is unknown."""
    release = item.release
    kind = "publish_failed" if item.state == ItemState.FAILED else "publish_unknown"
    record_event(
        kind,
        f"item:{item.pk}:{item.state}:{digest_of(item.operation_key)}",
        Subject(
            _release_path(release),
            page_id=item.page_id,
            audience_id=item.audience_id,
            version_id=item.version_id,
            operation_key=item.operation_key,
            release_id=release.pk,
        ),
        {
            "doing": f"Publishing version {item.version_number} of {item.audience_name}",
            "version": item.version_number,
            "audience": item.audience_name,
            "page": item.page_name,
            "release": release.name,
            "actor": release.owner_name,
        },
        actor=release.owner,
        concerned=Concerned(owners=[release.owner]),
    )


@transaction.atomic
def on_release_finished(release: Release, **_: Any) -> None:
    """Notify the owner; of one published at once, in sight of the owner, only of failures."""
    states = Counter(release.items.values_list("state", flat=True))
    is_failed = any(states[state] for state in BAD_ENDS)
    counts = [f"{states[state]} {word}" for state, word in COUNTED.items() if states[state]]
    is_at_once = release.due_at is None and release.approval_id is None
    record_event(
        "release_failed" if is_failed else "release_finished",
        f"release:{release.pk}:finished:{release.finished_at:%Y%m%d%H%M%S%f}",
        Subject(_release_path(release), release_id=release.pk),
        {"release": release.name, "counts": ", ".join(counts) or "no versions"},
        actor=release.owner if is_at_once else None,
        concerned=Concerned(owners=[release.owner]),
    )


@transaction.atomic
def on_release_held(release: Release, **_: Any) -> None:
    """Notify the owner, unless the owner has stopped it."""
    kind, name = HoldKind(release.hold_kind), release.name
    if kind == HoldKind.STOPPED and release.stop_requested_by_name == release.owner_name:
        return
    if kind == HoldKind.LATE and release.started_at is None:
        record_missed_schedule(release)
        return
    record_event(
        "release_held",
        f"release:{release.pk}:held:{release.held_at:%Y%m%d%H%M%S%f}",
        Subject(_release_path(release), release_id=release.pk),
        {"release": name, "reason": kind.label[0].lower() + kind.label[1:]},
        concerned=Concerned(owners=[release.owner]),
    )


def record_missed_schedule(release: Release) -> None:
    """Notify once that a release was not started in time."""
    due_at = release.due_at
    due = f"{release.due_as_typed}, {release.time_zone}" if release.due_as_typed else ""
    record_event(
        "schedule_missed",
        f"release:{release.pk}:missed:{due_at:%Y%m%d%H%M%S}" if due_at else f"{release.pk}:missed",
        Subject(_release_path(release), release_id=release.pk),
        {"release": release.name, "due": due or f"{due_at:%Y-%m-%d %H:%M} UTC"},
        concerned=Concerned(owners=[release.owner]),
    )


@transaction.atomic
def on_approval_requested(request: ApprovalRequest, **_: Any) -> None:
    """Notify all who may approve it."""
    record_event(
        "approval_requested",
        _requested_key(request),
        _approval_subject(request),
        {"title": request.title, "actor": request.requested_by_name},
        actor=request.requested_by,
        concerned=Concerned(approvers=approvers_of(request)),
    )


@transaction.atomic
def on_approval_decided(request: ApprovalRequest, **_: Any) -> None:
    """Notify who requested it. Nobody else needs to decide it."""
    mark_event_read(_requested_key(request))
    is_given = request.state == RequestState.APPROVED
    record_event(
        "approval_given" if is_given else "approval_declined",
        f"approval:{request.pk}:decided",
        _approval_subject(request),
        {"title": request.title, "actor": request.decided_by_name},
        actor=request.decided_by,
        concerned=Concerned(owners=[request.requested_by]),
    )


@transaction.atomic
def on_approval_ended(request: ApprovalRequest, **_: Any) -> None:
    """Notify both who requested it and who approved it; who has withdrawn it knows."""
    mark_event_read(_requested_key(request))
    if request.state == RequestState.WITHDRAWN:
        return
    became = BECAME[RequestState(request.state)]
    if changed := dict.fromkeys(each["what"] for each in request.differences):
        became = f"{became}, changed: {', '.join(changed)}"
    _record_end(request, became)


def record_expired(request: ApprovalRequest) -> None:
    """Notify once that a request has expired undecided."""
    mark_event_read(_requested_key(request))
    _record_end(request, BECAME[RequestState.EXPIRED])


def _requested_key(request: ApprovalRequest) -> str:
    return f"approval:{request.pk}:requested"


def _record_end(request: ApprovalRequest, became: str) -> None:
    record_event(
        "approval_void",
        f"approval:{request.pk}:ended",
        _approval_subject(request),
        {"title": request.title, "became": became},
        concerned=Concerned(owners=[request.requested_by, request.decided_by]),
    )


@transaction.atomic
def on_emergency(operation: Operation, **_: Any) -> None:
    """Notify all who might have approved it; of a release once."""
    release = Release.objects.filter(
        state=ReleaseState.RUNNING,
        emergency_reason=operation.emergency_reason,
        items__version_id=operation.version_id,
        items__audience_id=operation.audience_id,
    ).first()
    approvers = [*users_with(PERMISSIONS[ApprovalKind.PUBLISH]), *users_with(MANAGE_APPROVALS)]
    key, subject = f"operation:{operation.pk}:emergency", subject_of(operation)
    title = f"version {operation.version_number} of {operation.target_name}"
    if release:
        key = f"release:{release.pk}:emergency:{release.decided_at:%Y%m%d%H%M%S%f}"
        subject, title = Subject(_release_path(release), release_id=release.pk), release.name
    record_event(
        "emergency_publish",
        key,
        subject,
        {"title": title, "actor": operation.actor_name},
        actor=operation.actor,
        concerned=Concerned(approvers=approvers),
    )


def on_outside_publishes(publishes: Sequence[OutsidePublish], **_: Any) -> None:
    """Notify of each version that went live without an operation."""
    record_events("published_outside", [_outside_draft(each) for each in publishes])


def _outside_draft(publish: OutsidePublish) -> Draft:
    page_id, audience_id, version_id = publish.page_id, publish.audience_id, publish.version_id
    return Draft(
        f"outside:{digest_of(page_id, audience_id, version_id, publish.published_at)}",
        Subject(
            reverse("audience-detail", args=[page_id, audience_id]),
            page_id=page_id,
            audience_id=audience_id,
            version_id=version_id,
        ),
        {
            "version": publish.version_number,
            "audience": publish.audience_name or audience_id,
            "page": publish.page_name or page_id,
        },
    )


def on_deviations(deviations: Sequence[DeviationRecord], **_: Any) -> None:
    """Notify of new ways in which the service deviates; any user could forge a browser's report."""
    subject = Subject(reverse("service-watch"))
    drafts = [
        Draft(
            f"deviation:{each.digest}",
            subject,
            {"deviation": each.kind, "operation": each.operation, "place": each.place},
        )
        for each in deviations
        if each.operation != BROWSER
    ]
    record_events("new_deviation", drafts)


def subject_of(operation: Operation) -> Subject:
    """Return the ids of an operation, and the page that shows it."""
    return Subject(
        reverse("operation-detail", args=[operation.operation_key]),
        page_id=operation.page_id,
        audience_id=operation.audience_id,
        version_id=operation.version_id,
        operation_key=operation.operation_key,
    )


def facts_of(operation: Operation) -> dict[str, Any]:
    """Return the names and numbers of an operation."""
    name = operation.target_name
    doing = {
        OperationKind.PUBLISH_VERSION: f"Publishing version {operation.version_number} of {name}",
        OperationKind.CREATE_PAGE: f"Creating the page {name}",
        OperationKind.UPDATE_SUBSCRIPTION: f"Updating the webhook {name}",
    }[OperationKind(operation.kind)]
    return {
        "doing": doing.strip(),
        "version": operation.version_number,
        "audience": name,
        "actor": operation.actor_name,
    }


def _is_sent_by_a_release(operation: Operation) -> bool:
    """Return whether an item of a release of the same user tells of this operation's end."""
    items = ReleaseItem.objects.filter(operation=operation)
    return items.filter(release__owner=operation.actor_id).exists()


def _release_path(release: Release) -> str:
    return reverse("release-detail", args=[release.pk])


def _approval_subject(request: ApprovalRequest) -> Subject:
    return Subject(reverse("approval-detail", args=[request.pk]), approval_id=request.pk)


def approvers_of(request: ApprovalRequest) -> list[User]:
    """Return who may approve a request, other accounts of the same person left out."""
    requester = request.requested_by
    return [
        user
        for user in users_with(PERMISSIONS[ApprovalKind(request.kind)])
        if not requester or not is_same_person(requester, user)
    ]


def unreachable_approvers(request: ApprovalRequest) -> list[str]:
    """Return the names of those who may approve a request and have no address for e-mail."""
    if not is_email_on():
        return []
    return [user.get_username() for user in approvers_of(request) if not email_address_of(user)]
