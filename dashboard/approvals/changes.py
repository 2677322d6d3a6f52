"""Request, decline and withdraw the approval of webhook changes and new pages.

A request stores the body to send, and the webhook as it was then. `operations/approved_changes.py`
sends the body once it is approved. Versions are approved as releases (`dashboard/releases/`).
"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.db.models import Q

from dashboard import clock
from dashboard.approvals.models import ApprovalKind, ApprovalRequest, RequestState
from dashboard.approvals.requests import (
    ApprovalError,
    create_request,
    end_request,
    locked,
    record_decision,
)
from dashboard.approvals.rule import subject_digest
from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.service.subscriptions import parse_subscription

KEY_IN_USE = "This form was already sent as another request. It has a new key: send it again."
RESTORED = (
    "The database was restored from a backup. What was sent since the backup isn’t on record."
)


def request_update(
    record: SubscriptionRecord,
    body: Mapping[str, Any],
    *,
    operation_key: str,
    note: str,
    user: User,
) -> ApprovalRequest:
    """Ask for the approval of a webhook's update; `body` is what will be sent.

    Returns the earlier request if this form was already sent, or if the user has an equal open one.
    Raises ApprovalError if the note is invalid, or if the key belongs to another request.
    """
    subscription = parse_subscription(record)
    subject = {
        "subscription_id": record.subscription_id,
        "body": dict(body),
        "before": patchable(subscription) if subscription else None,
    }
    title = f"Change webhook {record}"
    return _same_or_new(
        ApprovalKind.WEBHOOK, subject, operation_key, title=title, note=note, user=user
    )


def request_page(
    body: Mapping[str, Any], *, operation_key: str, note: str, user: User
) -> ApprovalRequest:
    """Ask for the approval of a new page; `body` is what will be sent.

    Works like `request_update`.
    """
    title, subject = f"Create page {body['name']}", {"body": dict(body)}
    return _same_or_new(
        ApprovalKind.PAGE, subject, operation_key, title=title, note=note, user=user
    )


def _same_or_new(
    kind: ApprovalKind,
    subject: dict[str, Any],
    operation_key: str,
    *,
    title: str,
    note: str,
    user: User,
) -> ApprovalRequest:
    is_open = Q(state=RequestState.OPEN, expires_at__gt=clock.now())
    mine = ApprovalRequest.objects.filter(kind=kind, requested_by=user)

    def same() -> ApprovalRequest | None:
        approvals = mine.filter(Q(operation_key=operation_key) | is_open)
        return next((approval for approval in approvals if approval.subject == subject), None)

    if approval := same():
        return approval
    try:
        return create_request(
            kind, title=title, subject=subject, note=note, user=user, operation_key=operation_key
        )
    except IntegrityError:
        # The same form was sent at the same moment, or another request has its key.
        if approval := same():
            return approval
        raise ApprovalError(KEY_IN_USE) from None


def decline_change(
    approval: ApprovalRequest, user: User, *, note: str, displayed_digest: str
) -> None:
    with locked(approval):
        record_decision(
            approval, user, is_approved=False, note=note, displayed_digest=displayed_digest
        )


def withdraw_change(approval: ApprovalRequest, name: str) -> None:
    """Withdraw an undecided request. Raises ApprovalError."""
    with locked(approval):
        end_request(approval, RequestState.WITHDRAWN, f"{name} withdrew the request.")


def void_restored() -> int:
    """Void the unsent requests of a backup that was restored; return how many there were.

    Changes sent since the backup aren't on record, so they might be sent twice. Releases are held
    instead.
    """
    kinds, states = (
        (ApprovalKind.WEBHOOK, ApprovalKind.PAGE),
        (RequestState.OPEN, RequestState.APPROVED),
    )
    unsent = ApprovalRequest.objects.filter(kind__in=kinds, state__in=states, operations=None)
    for approval in (void := list(unsent)):
        end_request(approval, RequestState.VOID, RESTORED)
    return len(void)


def digest_now(operation: Operation, now: WebhookSubscription | None = None) -> str:
    """Return the digest for a retry: what was approved, with the webhook as it is now.

    Returns "" for an operation without an approval.
    """
    if operation.approval is None:
        return ""
    subject = operation.approval.subject
    return subject_digest(subject | {"before": patchable(now)} if now else subject)


def patchable(subscription: WebhookSubscription) -> dict[str, Any]:
    """Return the changeable fields of a subscription, as on the wire."""
    wire = subscription.to_wire()
    return {name: wire.get(name) for name in SubscriptionPatch.model_fields}
