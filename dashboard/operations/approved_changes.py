"""Changes of a webhook and new pages that another person approves first, and how they are sent.

The request holds what is sent, and the webhook as it was then. It is sent once it is approved,
in the name of who requested it. Versions are approved as releases (`dashboard/releases/`).
"""

import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription
from dashboard.ledger.models import ApprovalRequest, Attempt, Operation, SubscriptionRecord
from dashboard.ledger.models.approvals import ApprovalKind, RequestState
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import Clearance, Target, begin
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.operations.approval_requests import (
    ApprovalError,
    create_request,
    end_request,
    locked,
    record_decision,
)
from dashboard.operations.approvals import approval_problem, subject_digest
from dashboard.operations.execution import send
from dashboard.operations.subscription_update import begin_update
from dashboard.service.subscriptions import fetch_subscription, parse_subscription

RESTORED = (
    "The database was restored from a backup. What was sent since the backup isn’t on record."
)


def request_update(
    record: SubscriptionRecord, body: Mapping[str, Any], *, note: str, user: User
) -> ApprovalRequest:
    """Ask for the approval of a webhook's update; `body` is what will be sent.

    The same request of the same user that is still open is returned instead. Raises ApprovalError
    if the note is too long.
    """
    subscription = parse_subscription(record)
    subject = {
        "subscription_id": record.subscription_id,
        "body": dict(body),
        "before": _patchable(subscription) if subscription else None,
    }
    title = f"Change webhook {record}"
    return _open_request(ApprovalKind.WEBHOOK, subject, title=title, note=note, user=user)


def request_page(body: Mapping[str, Any], *, note: str, user: User) -> ApprovalRequest:
    """Ask for the approval of a new page; `body` is what will be sent. As `request_update`."""
    title = f"Create page {body['name']}"
    return _open_request(ApprovalKind.PAGE, {"body": dict(body)}, title=title, note=note, user=user)


def _open_request(
    kind: ApprovalKind, subject: dict[str, Any], *, title: str, note: str, user: User
) -> ApprovalRequest:
    """Return the user's open request with this subject, or a new one with a new operation key."""
    mine = ApprovalRequest.objects.filter(
        kind=kind, requested_by=user, state=RequestState.OPEN, expires_at__gt=timezone.now()
    )
    for request in mine:
        if request.subject == subject | {"operation_key": request.subject["operation_key"]}:
            return request
    subject = {"operation_key": str(uuid4()), **subject}
    return create_request(kind, title=title, subject=subject, note=note, user=user)


def approve_change(
    request: ApprovalRequest, user: User, *, note: str, shown: str
) -> Operation | None:
    """Approve a change, and send it; return its operation, or None if the approval is void.

    Raises ApprovalError if it can't be approved, and APIError if the webhook can't be read: then it
    is approved, and not sent yet.
    """
    with locked(request):
        record_decision(request, user, is_approved=True, note=note, shown=shown)
    return send_approved(request)


def decline_change(request: ApprovalRequest, user: User, *, note: str, shown: str) -> None:
    """Decline a change. Raises ApprovalError."""
    with locked(request):
        record_decision(request, user, is_approved=False, note=note, shown=shown)


def withdraw_change(request: ApprovalRequest, name: str) -> None:
    """Take back an undecided request. Raises ApprovalError."""
    with locked(request):
        end_request(request, RequestState.WITHDRAWN, f"{name} withdrew the request.")


def send_approved(request: ApprovalRequest) -> Operation | None:
    """Send an approved change, once; return its operation, or None if the approval is void.

    A webhook is read first, and compared with what was approved. Raises APIError, and ApprovalError
    if it is not approved.
    """
    _require_approved(request)
    key, now = request.subject["operation_key"], None
    if request.kind == ApprovalKind.WEBHOOK and operation_by_key(key) is None:
        now = _patchable(fetch_subscription(request.subject["subscription_id"]))
    with transaction.atomic():
        # Another press of the button may have sent it since, and the webhook differs by that.
        request.refresh_from_db(from_queryset=ApprovalRequest.objects.select_for_update())
        _require_approved(request)
        if operation := operation_by_key(key):
            return operation
        if request.requested_by is None:
            reason = f"The account of {request.requested_by_name} no longer exists."
            end_request(request, RequestState.VOID, reason)
            return None
        if now is None:
            operation, attempt = _begin_page(request, request.requested_by)
        elif record := _unchanged(request, now):
            operation, attempt = _begin_update(request, record, now, request.requested_by)
        else:
            reason = "The webhook changed after the request. Nothing was sent."
            end_request(request, RequestState.VOID, reason, _differences(request, now))
            return None
    return send(operation, attempt).operation if attempt else operation


def void_restored() -> int:
    """Void what was to be approved or sent in a backup that was restored; return how many.

    What was sent since isn't on record, so it might be sent twice. Releases are held instead.
    """
    kinds, states = (
        (ApprovalKind.WEBHOOK, ApprovalKind.PAGE),
        (RequestState.OPEN, RequestState.APPROVED),
    )
    unsent = ApprovalRequest.objects.filter(kind__in=kinds, state__in=states, operations=None)
    for request in (void := list(unsent)):
        end_request(request, RequestState.VOID, RESTORED)
    return len(void)


def digest_now(operation: Operation, now: WebhookSubscription | None = None) -> str:
    """Return the digest for a retry: of what was approved, with the webhook as it is now.

    "" for an operation without an approval.
    """
    if operation.approval is None:
        return ""
    subject = operation.approval.subject
    return subject_digest(subject | {"before": _patchable(now)} if now else subject)


def _require_approved(request: ApprovalRequest) -> None:
    if request.state != RequestState.APPROVED:
        raise ApprovalError(f"Not sent. {approval_problem(request)}")


def _begin_page(request: ApprovalRequest, requester: User) -> tuple[Operation, Attempt | None]:
    body = request.subject["body"]
    return begin(
        operation_key=request.subject["operation_key"],
        kind=OperationKind.CREATE_PAGE,
        actor=requester,
        target=Target(target_name=body["name"]),
        body=body,
        clearance=Clearance(request, request.digest),
    )


def _unchanged(request: ApprovalRequest, now: Mapping[str, Any]) -> SubscriptionRecord | None:
    """Return the webhook of a request, if it is as it was then."""
    is_same = now == request.subject["before"]
    return subscription_last_known(request.subject["subscription_id"]) if is_same else None


def _begin_update(
    request: ApprovalRequest, record: SubscriptionRecord, now: Mapping[str, Any], requester: User
) -> tuple[Operation, Attempt | None]:
    return begin_update(
        record,
        request.subject["operation_key"],
        request.subject["body"],
        actor=requester,
        clearance=Clearance(request, subject_digest(request.subject | {"before": now})),
    )


def _patchable(subscription: WebhookSubscription) -> dict[str, Any]:
    """Return the fields of a subscription that can be changed, as on the wire."""
    wire = subscription.to_wire()
    return {name: wire.get(name) for name in SubscriptionPatch.model_fields}


def _differences(request: ApprovalRequest, now: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the fields of a webhook that changed since the request, then and now, as JSON."""
    before = request.subject["before"] or {}
    return [
        {
            "item": "",
            "what": name,
            "then": json.dumps(before.get(name), ensure_ascii=False),
            "now": json.dumps(value, ensure_ascii=False),
        }
        for name, value in now.items()
        if before.get(name) != value
    ]
