"""Approval requests: the list, and the page of a request."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET

from dashboard.approvals.models import MAX_NOTE, ApprovalRequest
from dashboard.notifications.recipients import unreachable_approvers
from dashboard.web.approvals.listing import APPROVALS, badge_of, next_to_decide, read_list
from dashboard.web.approvals.request_page import read_request_page
from dashboard.web.lists.state import ListState
from dashboard.web.releases.progress import progress_context
from dashboard.web.releases.summary import summarize
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.query_params import rows_gone


@require_GET
def approval_list(request: Request) -> HttpResponse:
    """List requests, filtered by `?state=`. Those that the user can decide come first."""
    state = ListState.parse(APPROVALS, request.GET)
    approvals = read_list(request.user, state)
    gone = rows_gone(request, "approval-", [approval.pk for approval in approvals.rows])
    context = {
        "here": "approvals",
        "state": state,
        "approvals": approvals,
        "badge_of": badge_of,
        "left": list(ApprovalRequest.objects.filter(pk__in=gone)) if gone else [],
    }
    return render_partial(request, "approvals/list.html", context, parts=("requests",))


@require_GET
def approval_detail(request: Request, request_id: int) -> HttpResponse:
    """Show a request and what has changed since. `?item=` selects an item of a release."""
    return show_request(request, get_object_or_404(ApprovalRequest, pk=request_id))


def show_request(
    request: Request, approval: ApprovalRequest, *, problem: str = "", field: str = ""
) -> HttpResponse:
    page = read_request_page(approval, request.user, request.GET)
    has_decided = approval.decided_by_id == request.user.pk
    context: dict[str, Any] = {
        "here": "approvals",
        "page": page,
        "approval": approval,
        "badge": badge_of(approval),
        "operations": list(approval.operations.order_by("-requested_at")[:1]),
        "max_note": MAX_NOTE,
        "problem": problem,
        "problem_field": field,
        "entered_note": request.POST.get("note", ""),
        "unreachable": unreachable_approvers(approval) if approval.is_open and page.is_own else [],
        # The items of a release are shown like on the release's own page.
        "release": page.release,
        "board": page.board,
        "detail": page.detail,
        "chosen_version": "",
        "progress": None,
        "next_request": next_to_decide(request.user) if has_decided else None,
    }
    if page.release and page.is_started:
        page_url = reverse("approval-detail", args=[approval.pk])
        context |= progress_context(request, summarize(page.release), page_url=page_url)
    parts, status = ("detail", "approval"), 422 if problem else 200
    return render_partial(request, "approvals/detail.html", context, parts=parts, status=status)
