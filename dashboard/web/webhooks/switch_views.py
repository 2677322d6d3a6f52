"""Turn a webhook subscription on or off, from the list or its page."""

from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_POST
from django_htmx.http import retarget

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, requires
from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.models.approvals import ApprovalKind
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.operations.approval_requests import ApprovalError
from dashboard.operations.approvals import current_rule
from dashboard.operations.approved_changes import request_update
from dashboard.operations.execution import read_operation_key, unused_operation_key
from dashboard.operations.subscription_update import (
    SwitchResult,
    begin_update,
    execute_switch,
    repeated_switch,
)
from dashboard.web.ui.approvals import redirect_to_request
from dashboard.web.ui.htmx import Request, safe_return_url

STATES = {"on": True, "off": False}
LOST_KEY = "Not changed. Try again."


@require_POST
@requires(UPDATE_SUBSCRIPTION)
def subscription_active(request: Request, subscription_id: str) -> HttpResponse:
    """Set the posted `active`, `on` or `off`; confirm before turning it off.

    Under the approval rule, confirm both, and ask another person.
    """
    record = subscription_last_known(subscription_id)
    if record is None:
        raise Http404
    wanted = STATES.get(request.POST.get("active", ""))
    key = read_operation_key(request.POST)
    if wanted is None or not key:
        return _show_result(request, SwitchResult(record, LOST_KEY))
    needs_approval = current_rule().covers(ApprovalKind.WEBHOOK)
    if (needs_approval or not wanted) and "confirmed" not in request.POST:
        return _confirm(request, record, active=wanted, needs_approval=needs_approval)
    if needs_approval:
        return _request_approval(request, record, active=wanted)
    operation, attempt = begin_update(record, key, {"active": wanted}, actor=request.user)
    if attempt is None:
        return _show_result(request, repeated_switch(record, operation))
    return _show_result(request, execute_switch(record, operation, attempt, active=wanted))


def _request_approval(
    request: Request, record: SubscriptionRecord, *, active: bool
) -> HttpResponse:
    """Ask another person to approve that it is turned on or off, and show the request."""
    note = request.POST.get("note", "")
    try:
        approval = request_update(record, {"active": active}, note=note, user=request.user)
    except ApprovalError as error:
        confirmation = _confirm(
            request, record, active=active, needs_approval=True, problem=str(error)
        )
        confirmation.status_code = 422
        return confirmation
    return redirect_to_request(request, approval)


def _confirm(
    request: Request,
    record: SubscriptionRecord,
    *,
    active: bool,
    needs_approval: bool,
    problem: str = "",
) -> HttpResponse:
    """Render the confirmation, in a dialog with htmx, otherwise on a page."""
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
    # With a later settling, htmx would restore the focus to where the dialog was opened.
    dialog["HX-Reswap"] = "innerHTML settle:0"
    return retarget(dialog, "#dialogs")


def _show_result(request: Request, switched: SwitchResult) -> HttpResponse:
    """Render the switch again, or redirect back to its page."""
    record = switched.record
    if request.htmx:
        context = {
            "record": record,
            "switched": switched,
            "operation_key": str(uuid4()),
            "back": _back(request, record),
        }
        return render(request, "webhooks/_switch.html", context)
    if switched.message:
        messages.error(request, f"{record}: {switched.message}")
    else:
        messages.success(request, f"{record} is {'on' if record.active else 'off'}.")
    return redirect(_back(request, record))


def _back(request: Request, record: SubscriptionRecord) -> str:
    """Return the URL of the page on which the switch was pressed."""
    return safe_return_url(
        request, "back", resolve_url("subscription-detail", record.subscription_id)
    )
