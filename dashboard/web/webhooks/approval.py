"""Approval of changes to webhooks by another person."""

from typing import Any

from django.http import HttpResponse

from dashboard.approvals.changes import request_update
from dashboard.approvals.models import ApprovalKind
from dashboard.approvals.rule import current_rule
from dashboard.ledger.models import SubscriptionRecord
from dashboard.operations.execution import read_operation_key
from dashboard.web.ui.forms import redirect_to_request
from dashboard.web.ui.htmx import Request


def needs_approval() -> bool:
    return current_rule().covers(ApprovalKind.WEBHOOK)


def request_approval(
    request: Request, record: SubscriptionRecord, body: dict[str, Any]
) -> HttpResponse:
    """Request approval of a change, and redirect to the request. Raises ApprovalError."""
    approval = request_update(
        record,
        body,
        operation_key=read_operation_key(request.POST),
        note=request.POST.get("note", ""),
        user=request.user,
    )
    return redirect_to_request(request, approval)
