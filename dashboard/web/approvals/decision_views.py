"""Decide on an approval request: approve, decline, ask, withdraw, publish, send."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import require_permission
from dashboard.approvals import changes
from dashboard.approvals.models import ApprovalKind, ApprovalRequest
from dashboard.approvals.requests import ApprovalError
from dashboard.approvals.rule import PERMISSIONS
from dashboard.client import APIError
from dashboard.comments.models import TargetKind
from dashboard.comments.threads import CommentError, add_comment, new_thread
from dashboard.ledger.models.operations import Outcome, actor_name
from dashboard.operations import approved_changes
from dashboard.releases import approval_requests
from dashboard.releases.errors import ReleaseError
from dashboard.web.approvals.views import show_request
from dashboard.web.ui.forms import sent_form_key
from dashboard.web.ui.htmx import Request


def _decision(
    decide: Callable[[Request, ApprovalRequest], None],
) -> Callable[[Request, int], HttpResponse]:
    """Carry out a decision and show the request, or the reason why the decision was rejected.

    A GET, for example after signing in, is redirected to the request.
    """

    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(decide)
    def decision(request: Request, request_id: int) -> HttpResponse:
        if request.method != "POST":
            return redirect("approval-detail", request_id)
        approval = get_object_or_404(ApprovalRequest, pk=request_id)
        require_permission(request, PERMISSIONS[ApprovalKind(approval.kind)])
        try:
            decide(request, approval)
        except (ApprovalError, ReleaseError) as error:
            approval.refresh_from_db()
            return show_request(request, approval, problem=str(error), field=error.field)
        except APIError as error:
            messages.warning(request, f"Approved, but not sent yet: {error}")
        return redirect("approval-detail", approval.pk)

    return decision


@_decision
def approval_approve(request: Request, approval: ApprovalRequest) -> None:
    """Approve a request exactly as shown. It is sent at once or at its scheduled time."""
    note, displayed_digest = request.POST.get("note", ""), request.POST.get("shown", "")
    if "items" in approval.subject:
        approval_requests.approve(
            approval, request.user, note=note, displayed_digest=displayed_digest
        )
        messages.success(request, "Approved. It’s checked once more before it’s sent.")
    else:
        approved_changes.approve_change(
            approval, request.user, note=note, displayed_digest=displayed_digest
        )
        _tell_outcome(request, approval)


@_decision
def approval_decline(request: Request, approval: ApprovalRequest) -> None:
    note, displayed_digest = request.POST.get("note", ""), request.POST.get("shown", "")
    decline = approval_requests.decline if "items" in approval.subject else changes.decline_change
    decline(approval, request.user, note=note, displayed_digest=displayed_digest)
    messages.success(request, "Declined. Nothing was sent.")


@_decision
def approval_ask(request: Request, approval: ApprovalRequest) -> None:
    """Comment on a request without a decision. The requester is notified."""
    thread = new_thread(TargetKind.REQUEST, object_id=str(approval.pk))
    note, form_key = request.POST.get("note", ""), sent_form_key(request)
    try:
        add_comment(request.user, thread, note, form_key=form_key)
    except CommentError as error:
        raise ApprovalError(str(error), field="note") from error
    messages.success(request, "Question sent. The request stays open.")


@_decision
def approval_withdraw(request: Request, approval: ApprovalRequest) -> None:
    if approval.requested_by != request.user:
        raise ApprovalError("You can withdraw your own requests only.")
    if "items" in approval.subject:
        approval_requests.withdraw(approval, request.user)
    else:
        changes.withdraw_change(approval, actor_name(request.user))
    messages.success(request, "Request withdrawn. Nothing was sent.")


@_decision
def approval_publish(request: Request, approval: ApprovalRequest) -> None:
    """Publish what the user's own token requested, if no rule requires an approval."""
    entered_count, displayed_digest = request.POST.get("typed", ""), request.POST.get("shown", "")
    approval_requests.publish_own(approval, request.user, entered_count, displayed_digest)
    messages.success(request, "Publishing. It’s checked once more before it’s sent.")


@_decision
def approval_send(request: Request, approval: ApprovalRequest) -> None:
    """Send an approved change that couldn't be sent on approval."""
    if "items" in approval.subject:
        raise ApprovalError("A release is sent by the scheduler.")
    approved_changes.send_approved(approval)
    _tell_outcome(request, approval)


def _tell_outcome(request: Request, approval: ApprovalRequest) -> None:
    """Add a message on the outcome of a sent change. If it is void, the page says why."""
    operation = approval.operations.last()
    if operation and operation.outcome == Outcome.ACCEPTED:
        messages.success(request, f"Approved and sent: {approval.title}.")
    elif operation:
        messages.warning(
            request, f"Approved. {operation.get_outcome_display()}: {operation.title}."
        )
