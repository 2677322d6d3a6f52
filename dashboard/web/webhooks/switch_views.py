"""Turn a webhook subscription on or off, from the list or its page."""

from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_POST
from django_htmx.http import retarget

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, requires
from dashboard.approvals.requests import ApprovalError
from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.operations.execution import read_operation_key, unused_operation_key
from dashboard.operations.subscription_update import (
    SwitchResult,
    begin_update,
    execute_switch,
    repeated_switch,
)
from dashboard.web.ui.htmx import Request, safe_return_url
from dashboard.web.webhooks.approval import needs_approval, request_approval

STATES = {"on": True, "off": False}
LOST_KEY = "Not changed. Try again."


@require_POST
@requires(UPDATE_SUBSCRIPTION)
def subscription_active(request: Request, subscription_id: str) -> HttpResponse:
    """Set the state to the posted `active`, `on` or `off`. Ask for confirmation before `off`.

    If the approval rule covers webhooks, both need confirmation, and approval is requested.
    """
    record = subscription_last_known(subscription_id)
    if record is None:
        raise Http404
    wanted = STATES.get(request.POST.get("active", ""))
    key = read_operation_key(request.POST)
    if wanted is None or not key:
        return _show_result(request, SwitchResult(record, LOST_KEY))
    is_approval_needed = needs_approval()
    if (is_approval_needed or not wanted) and "confirmed" not in request.POST:
        return _confirm(request, record, active=wanted, needs_approval=is_approval_needed)
    if is_approval_needed:
        try:
            return request_approval(request, record, {"active": wanted})
        except ApprovalError as error:
            confirmation = _confirm(
                request, record, active=wanted, needs_approval=True, problem=str(error)
            )
            confirmation.status_code = 422
            return confirmation
    operation, attempt = begin_update(record, key, {"active": wanted}, actor=request.user)
    if attempt is None:
        return _show_result(request, repeated_switch(record, operation))
    return _show_result(request, execute_switch(record, operation, attempt, active=wanted))


def _confirm(
    request: Request,
    record: SubscriptionRecord,
    *,
    active: bool,
    needs_approval: bool,
    problem: str = "",
) -> HttpResponse:
    context = {
        "here": "webhooks",
        "record": record,
        "action": "on" if active else "off",
        "needs_approval": needs_approval,
        "note": request.POST.get("note", ""),
        "problem": problem,
        "operation_key": unused_operation_key(read_operation_key(request.POST)),
        "back": _back(request, record),
    }
    if not request.htmx:
        return render(request, "webhooks/confirm.html", context)
    dialog = render(request, "webhooks/confirm.html#dialogs", context)
    # Settle at once. Later, htmx would move the focus back to where the dialog was opened.
    dialog["HX-Reswap"] = "innerHTML settle:0"
    return retarget(dialog, "#dialogs")


def _show_result(request: Request, switched: SwitchResult) -> HttpResponse:
    record = switched.record
    if request.htmx:
        context = {
            "record": record,
            "switched": switched,
            "operation_key": str(uuid4()),
            "back": _back(request, record),
        }
        return render(request, "webhooks/list.html#active_switch", context)
    if switched.message:
        messages.error(request, f"{record}: {switched.message}")
    else:
        messages.success(request, f"{record} is {'on' if record.active else 'off'}.")
    return redirect(_back(request, record))


def _back(request: Request, record: SubscriptionRecord) -> str:
    return safe_return_url(
        request, "back", resolve_url("subscription-detail", record.subscription_id)
    )
