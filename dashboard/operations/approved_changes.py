"""Send changes of a webhook and new pages once another person has approved them.

They are sent in the requester's name.
"""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from dashboard.approvals.changes import patchable
from dashboard.approvals.models import ApprovalKind, ApprovalRequest, RequestState
from dashboard.approvals.requests import ApprovalError, end_request, locked, record_decision
from dashboard.approvals.rule import approval_problem, subject_digest
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import Clearance, Target, begin
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.operations.execution import send
from dashboard.operations.subscription_update import begin_update
from dashboard.service.subscriptions import fetch_subscription


def approve_change(
    approval: ApprovalRequest, user: User, *, note: str, displayed_digest: str
) -> Operation | None:
    """Approve a change, and send it; return its operation, or None if the approval is void.

    Raises ApprovalError if it can't be approved. Raises APIError if the webhook can't be read; then
    it is approved, but not sent yet.
    """
    with locked(approval):
        record_decision(
            approval, user, is_approved=True, note=note, displayed_digest=displayed_digest
        )
    return send_approved(approval)


def send_approved(approval: ApprovalRequest) -> Operation | None:
    """Send an approved change, once; return its operation, or None if the approval is void.

    A webhook is read first and compared with what was approved. Raises APIError, or ApprovalError
    if the change isn't approved.
    """
    _require_approved(approval)
    key, now = approval.operation_key or "", None
    if approval.kind == ApprovalKind.WEBHOOK and operation_by_key(key) is None:
        now = patchable(fetch_subscription(approval.subject["subscription_id"]))
    with transaction.atomic():
        # A second click may have sent it meanwhile, which changed the webhook.
        approval.refresh_from_db(from_queryset=ApprovalRequest.objects.select_for_update())
        _require_approved(approval)
        if operation := operation_by_key(key):
            return operation
        if approval.requested_by is None:
            reason = f"The account of {approval.requested_by_name} no longer exists."
            end_request(approval, RequestState.VOID, reason)
            return None
        body = approval.subject["body"]
        if now is None:
            operation, attempt = begin(
                operation_key=key,
                kind=OperationKind.CREATE_PAGE,
                actor=approval.requested_by,
                target=Target(target_name=body["name"]),
                body=body,
                clearance=Clearance(approval.pk, approval.digest),
            )
        elif now == approval.subject["before"] and (
            record := subscription_last_known(approval.subject["subscription_id"])
        ):
            digest = subject_digest(approval.subject | {"before": now})
            clearance = Clearance(approval.pk, digest)
            operation, attempt = begin_update(
                record, key, body, actor=approval.requested_by, clearance=clearance
            )
        else:
            reason = "The webhook changed after the request. Nothing was sent."
            end_request(approval, RequestState.VOID, reason, _differences(approval, now))
            return None
    return send(operation, attempt).operation if attempt else operation


def _require_approved(approval: ApprovalRequest) -> None:
    if approval.state != RequestState.APPROVED:
        raise ApprovalError(f"Not sent. {approval_problem(approval)}")


def _differences(approval: ApprovalRequest, now: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the fields of a webhook that changed since the request, then and now, as JSON."""
    before = approval.subject["before"] or {}
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
