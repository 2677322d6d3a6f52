"""What every form has in common that asks for the approval of another person."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from dashboard.approvals.models import ApprovalRequest
from dashboard.web.ui.htmx import Request

REQUESTED = "Approval requested. Everyone who can approve it is notified."


def redirect_to_request(request: Request, approval: ApprovalRequest) -> HttpResponse:
    messages.success(request, REQUESTED)
    url = reverse("approval-detail", args=[approval.pk])
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)
