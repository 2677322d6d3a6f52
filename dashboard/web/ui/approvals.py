"""What every form has in common that asks for the approval of another person."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from dashboard.ledger.models import ApprovalRequest
from dashboard.web.ui.htmx import Request

REQUESTED = "Approval requested. Everyone who can approve it was notified."


def redirect_to_request(request: Request, approval: ApprovalRequest) -> HttpResponse:
    """Redirect a user who has just requested an approval to the page of the request."""
    messages.success(request, REQUESTED)
    url = reverse("approval-detail", args=[approval.pk])
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)
