"""Follow a page, an audience or a saved view with one button."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_POST

from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.ledger.queries.pages import page_last_known
from dashboard.ledger.queries.saved_views import find_view
from dashboard.notifications import following
from dashboard.notifications.errors import NotificationError
from dashboard.web.ui.htmx import Request, safe_return_url
from dashboard.web.ui.query_params import int_param


@require_POST
def follow(request: Request) -> HttpResponse:
    """Follow a page, an audience of it or a saved view; without `followed`, follow it no longer.

    Responds with the button if htmx targets it, otherwise goes back.
    """
    names = ("page_id", "audience_id", "view_id")
    fields = {name: request.POST[name] for name in names if request.POST.get(name)}
    is_on, problem = bool(request.POST.get("followed")), ""
    try:
        if "view_id" in fields:
            _follow_view(request, int_param(fields["view_id"]), is_on=is_on)
        else:
            _follow(request, fields.get("page_id", ""), fields.get("audience_id", ""), is_on=is_on)
    except NotificationError as error:
        is_on, problem = False, str(error)
    if request.htmx.target == "follow":
        next_url = request.POST.get("next", "")
        context = {"fields": fields, "followed": is_on, "problem": problem, "next_url": next_url}
        return render(request, "notifications/follow.html", context)
    if problem:
        messages.error(request, problem)
    return redirect(safe_return_url(request, "next", resolve_url("overview")))


def _follow(request: Request, page_id: str, audience_id: str, *, is_on: bool) -> None:
    """Follow what is on record. Raises Http404, or NotificationError if it is too much."""
    if "\0" in page_id + audience_id:
        raise Http404
    if not is_on:
        following.unfollow(request.user, page_id, audience_id)
        return
    found = audience_last_known(page_id, audience_id) if audience_id else page_last_known(page_id)
    if found is None:
        raise Http404
    following.follow(request.user, page_id, audience_id)


def _follow_view(request: Request, view_id: int, *, is_on: bool) -> None:
    """Follow a view that the user can open. Raises Http404, or NotificationError if it can't be."""
    if not is_on:
        following.unfollow(request.user, view_id=view_id)
        return
    view = find_view(request.user, view_id)
    if view is None:
        raise Http404
    following.follow(request.user, view=view)
