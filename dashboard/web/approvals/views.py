"""Requests for an approval: the list, one request, and what is decided about it."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_POST

from dashboard.accounts.permissions import demand
from dashboard.client import APIError
from dashboard.ledger.models import ApprovalRequest
from dashboard.ledger.models.approvals import MAX_NOTE, ApprovalKind, RequestState
from dashboard.ledger.models.operations import Outcome, actor_name
from dashboard.notifications.receivers import unreachable_approvers
from dashboard.operations import approved_changes
from dashboard.operations.approval_requests import ApprovalError
from dashboard.operations.approvals import PERMISSIONS
from dashboard.releases import approving
from dashboard.releases.errors import ReleaseError
from dashboard.web.approvals.listing import badge_of, read_list
from dashboard.web.approvals.request_page import read_request_page
from dashboard.web.ui.htmx import Request, render_partial

NOT_SENT_YET = "Approved, but not sent yet: {}"


@require_GET
def approval_list(request: Request) -> HttpResponse:
    """List requests, those that the user can decide first; filtered by `?state=`."""
    context = {
        "here": "approvals",
        "approvals": read_list(request.user, request.GET),
        "badge_of": badge_of,
        "states": RequestState.choices,
    }
    return render_partial(request, "approvals/list.html", context)


@require_GET
def approval_detail(request: Request, request_id: int) -> HttpResponse:
    """Show one request, with what has changed since; `?item=` selects an item of a release."""
    return _show(request, get_object_or_404(ApprovalRequest, pk=request_id))


@require_POST
def approval_approve(request: Request, request_id: int) -> HttpResponse:
    """Approve a request exactly as shown. It is sent at once, or at its time."""
    return _decide(request, request_id, _approve)


@require_POST
def approval_decline(request: Request, request_id: int) -> HttpResponse:
    """Decline a request, with the reason."""
    return _decide(request, request_id, _decline)


@require_POST
def approval_withdraw(request: Request, request_id: int) -> HttpResponse:
    """Take back one's own request."""
    return _decide(request, request_id, _withdraw)


@require_POST
def approval_send(request: Request, request_id: int) -> HttpResponse:
    """Send an approved change that could not be sent when it was approved."""
    return _decide(request, request_id, _send)


def _decide(
    request: Request, request_id: int, decide: Callable[[Request, ApprovalRequest], None]
) -> HttpResponse:
    """Carry out a decision, and show the request; or why the decision was refused."""
    approval = get_object_or_404(ApprovalRequest, pk=request_id)
    demand(request, PERMISSIONS[ApprovalKind(approval.kind)])
    try:
        decide(request, approval)
    except (ApprovalError, ReleaseError) as error:
        approval.refresh_from_db()
        return _show(request, approval, problem=str(error), field=error.field)
    except APIError as error:
        messages.warning(request, NOT_SENT_YET.format(error))
    return redirect("approval-detail", approval.pk)


def _approve(request: Request, approval: ApprovalRequest) -> None:
    note, shown = request.POST.get("note", ""), request.POST.get("shown", "")
    if "items" in approval.subject:
        approving.approve(approval, request.user, note=note, shown=shown)
        messages.success(request, "Approved. It’s checked once more before it’s sent.")
    else:
        approved_changes.approve_change(approval, request.user, note=note, shown=shown)
        _tell_outcome(request, approval)


def _decline(request: Request, approval: ApprovalRequest) -> None:
    note, shown = request.POST.get("note", ""), request.POST.get("shown", "")
    decline = approving.decline if "items" in approval.subject else approved_changes.decline_change
    decline(approval, request.user, note=note, shown=shown)
    messages.success(request, "Declined. Nothing was sent.")


def _withdraw(request: Request, approval: ApprovalRequest) -> None:
    if approval.requested_by != request.user:
        raise ApprovalError("You can withdraw your own requests only.")
    if "items" in approval.subject:
        approving.withdraw(approval, request.user)
    else:
        approved_changes.withdraw_change(approval, actor_name(request.user))
    messages.success(request, "Request withdrawn. Nothing was sent.")


def _send(request: Request, approval: ApprovalRequest) -> None:
    if "items" in approval.subject:
        raise ApprovalError("A release is sent by the scheduler.")
    approved_changes.send_approved(approval)
    _tell_outcome(request, approval)


def _tell_outcome(request: Request, approval: ApprovalRequest) -> None:
    """Tell what became of a change that was sent; the page tells why it is void."""
    operation = approval.operations.last()
    if operation and operation.outcome == Outcome.ACCEPTED:
        messages.success(request, f"Approved and sent: {approval.title}.")
    elif operation:
        messages.warning(
            request, f"Approved. {operation.get_outcome_display()}: {operation.title}."
        )


def _show(
    request: Request, approval: ApprovalRequest, *, problem: str = "", field: str = ""
) -> HttpResponse:
    page = read_request_page(approval, request.user, request.GET)
    context = {
        "here": "approvals",
        "page": page,
        "approval": approval,
        "badge": badge_of(approval),
        "operations": list(approval.operations.order_by("-requested_at")[:1]),
        "max_note": MAX_NOTE,
        "problem": problem,
        "problem_field": field,
        "typed_note": request.POST.get("note", ""),
        "unreachable": unreachable_approvers(approval) if approval.is_open and page.is_own else [],
        # Of the items of a release, which are shown as in their release.
        "release": page.release,
        "board": page.board,
        "detail": page.detail,
        "typed_version": "",
    }
    template, status = "approvals/detail.html", 422 if problem else 200
    return render_partial(request, template, context, parts=("detail",), status=status)
