"""Assign audiences to a user: one, the selected ones, or all that match a list."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.comments.assignees import assign
from dashboard.comments.mentions import people
from dashboard.comments.threads import CommentError
from dashboard.ledger.models.operations import actor_name
from dashboard.releases.errors import ReleaseError
from dashboard.web.releases.selection import (
    describe_selection,
    selected_audiences,
    with_all_matching,
)
from dashboard.web.ui.htmx import Request, safe_return_url
from dashboard.web.ui.query_params import int_param

REFUSAL = "You need the Publisher role to assign audiences."
NO_ONE = "none"
"""The value of "nobody", in place of a user's primary key."""
MAX_ASSIGNED = 5_000
"""Maximum number of audiences assigned at once. Source: our choice."""


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH, refusal=REFUSAL)
def assign_audiences(request: Request) -> HttpResponse:
    """Assign the audiences of the fields `audience`, or all that match; see `with_all_matching`.

    Without an `assignee`, show the form.
    """
    sent = request.POST if request.method == "POST" else request.GET
    fields = with_all_matching(sent, request.user, limit=MAX_ASSIGNED)
    problem = ""
    try:
        keys = selected_audiences(fields)
    except ReleaseError as error:
        keys, problem = [], str(error)
    if request.method != "POST" or "assignee" not in fields or not keys:
        return _show(request, fields, problem)
    chosen = fields.get("assignee", "")
    users = User.objects.filter(pk=int_param(chosen), is_active=True)
    user = None if chosen == NO_ONE else users.first()
    if user is None and chosen != NO_ONE:
        return _show(request, fields, "Choose a person.")
    try:
        count = assign(request.user, keys, user)
    except CommentError as error:
        return _show(request, fields, str(error))
    verb = f"assigned to {actor_name(user)}" if user else "unassigned"
    messages.success(request, f"{count} audience{'' if count == 1 else 's'} {verb}.")
    return redirect(safe_return_url(request, "next", reverse("audience-list")))


def _show(request: Request, fields: QueryDict, problem: str = "") -> HttpResponse:
    context = {
        "here": "audiences",
        "selection": describe_selection(fields),
        "query": fields.get("query", "") if fields.get("all_matching") else None,
        "max_assigned": MAX_ASSIGNED,
        "next": fields.get("next", ""),
        "people": people(),
        "problem": problem,
    }
    return render(request, "comments/assign.html", context, status=422 if problem else 200)
