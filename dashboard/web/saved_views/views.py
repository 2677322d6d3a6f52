"""The list of saved views, and the forms that save, change, move and delete them.

Messages don't name the view, because the name of a view of people may be personal data.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from dashboard.accounts.permissions import CHANGE_TEAM_VIEWS, require_permission
from dashboard.saved_views.models import MAX_VIEW_NAME, ListName, SavedView
from dashboard.saved_views.queries import find_view
from dashboard.saved_views.rules import (
    SavedViewError,
    clear_default,
    create_view,
    delete_view,
    edit_view,
    is_team_default,
    move_view,
    set_default,
    update_query,
)
from dashboard.web.lists.saved_views import ALL, list_url, visible_views
from dashboard.web.saved_views.counts import LISTS
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.query_params import int_param

TEAM = "team"
"""Value of the form field `share` for a view of the team."""


@require_GET
@never_cache
def saved_view_list(request: Request) -> HttpResponse:
    if wants_partial(request, ("side-views",)):
        return render(request, "components/side_views.html")
    views = visible_views(request)
    groups = [
        (name, [view for view in views if view.list_name == name])
        for name in ListName
        if any(view.list_name == name for view in views)
    ]
    return render(request, "saved_views/list.html", {"groups": groups})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def saved_view_new(request: Request) -> HttpResponse:
    """Save the state of a list: `list` is its name, `state` its query string.

    A GET fills the form from the URL, for example with what was typed before the session ended.
    """
    fields = request.POST if request.method == "POST" else request.GET
    list_name = fields.get("list", "")
    if list_name not in ListName:
        raise Http404
    if request.method != "POST":
        return _show_new(request, fields)
    is_team = fields.get("share") == TEAM
    if is_team and list_name != ListName.PEOPLE:
        require_permission(request, CHANGE_TEAM_VIEWS)
    query = LISTS[list_name].saved_query(QueryDict(fields.get("state", "")))
    try:
        view = create_view(
            request.user, list_name, name=fields.get("name", ""), query=query, is_team=is_team
        )
    except SavedViewError as error:
        return _show_new(request, fields, error)
    if fields.get("default"):
        set_default(list_name, view, user=request.user)
    messages.success(request, "View saved.")
    url = list_url(list_name, view.query)
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def saved_view_edit(request: Request, view_id: int) -> HttpResponse:
    """Rename a view, change who sees it, and make it the team's default."""
    view = _changeable(request, view_id)
    if request.method != "POST":
        share = TEAM if view.is_team else "me"
        fields = {"name": view.name, "share": share, "team_default": is_team_default(view)}
        return _show_edit(request, view, fields | request.GET.dict())
    is_team = request.POST.get("share", TEAM if view.is_team else "") == TEAM
    if is_team and view.list_name != ListName.PEOPLE:
        require_permission(request, CHANGE_TEAM_VIEWS)
    try:
        edit_view(
            view,
            request.user,
            name=request.POST.get("name", ""),
            is_team=is_team,
            is_team_default="team_default" in request.POST,
        )
    except SavedViewError as error:
        return _show_edit(request, view, request.POST, error)
    messages.success(request, "View saved.")
    return redirect("saved-view-list")


@require_POST
def saved_view_save(request: Request, view_id: int) -> HttpResponse:
    """Save the changed `state` of a list in the view that it was opened from."""
    view = _changeable(request, view_id)
    query = LISTS[view.list_name].saved_query(QueryDict(request.POST.get("state", "")))
    try:
        update_query(view, query, request.user)
    except SavedViewError as error:
        messages.error(request, f"Not saved. {error}")
        return redirect(list_url(view.list_name, f"{query}&view={view.pk}".lstrip("&")))
    messages.success(request, "View saved.")
    return redirect(list_url(view.list_name, view.query))


@require_POST
def saved_view_move(request: Request, view_id: int) -> HttpResponse:
    """Move a view `up` or down by one, among the user's or the team's views of its list."""
    try:
        move_view(_changeable(request, view_id), is_up=request.POST.get("move") == "up")
    except SavedViewError as error:
        messages.error(request, f"Not moved. {error}")
    return redirect("saved-view-list")


@require_POST
def saved_view_default(request: Request) -> HttpResponse:
    """Set the user's default for a list: the id of a `view`, `all` for the whole list, or none."""
    list_name, chosen = request.POST.get("list", ""), request.POST.get("view", "")
    if list_name not in ListName:
        raise Http404
    view = find_view(request.user, int_param(chosen))
    if not chosen:
        clear_default(list_name, user=request.user)
    elif chosen == ALL:
        set_default(list_name, None, user=request.user)
    elif view is None or view.list_name != list_name:
        raise Http404
    else:
        try:
            set_default(list_name, view, user=request.user)
        except SavedViewError as error:
            messages.error(request, f"Not saved. {error}")
            return redirect("saved-view-list")
    messages.success(request, "Default saved.")
    return redirect("saved-view-list")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def saved_view_delete(request: Request, view_id: int) -> HttpResponse:
    view = _changeable(request, view_id)
    if request.method != "POST":
        context = {"view": view}
        return render_partial(request, "saved_views/delete.html", context, parts=("dialogs",))
    delete_view(view)
    messages.success(request, "View deleted.")
    return redirect("saved-view-list")


def _changeable(request: Request, view_id: int) -> SavedView:
    """Return a view that the user may change.

    Raises Http404, or PermissionDenied for a view of the team without the right to change it.
    """
    view = find_view(request.user, view_id)
    if view is None:
        raise Http404
    if view.is_team:
        require_permission(request, CHANGE_TEAM_VIEWS)
    return view


def _show_new(
    request: Request, fields: QueryDict, error: SavedViewError | None = None
) -> HttpResponse:
    list_name = fields.get("list", "")
    state = LISTS[list_name].saved_query(QueryDict(fields.get("state", "")))
    context = _error_context(error) | {
        "fields": fields.dict() | {"state": state},
        "list_name": list_name,
        "list_url": list_url(list_name, state),
    }
    template, status = "saved_views/new.html", 422 if error else 200
    return render_partial(request, template, context, parts=("save-view-fields",), status=status)


def _show_edit(
    request: Request,
    view: SavedView,
    fields: Mapping[str, Any],
    error: SavedViewError | None = None,
) -> HttpResponse:
    context = _error_context(error) | {"view": view, "fields": fields}
    status = 422 if error else 200
    return render(request, "saved_views/edit.html", context, status=status)


def _error_context(error: SavedViewError | None) -> dict[str, Any]:
    return {
        "problem": str(error or ""),
        "problem_field": error.field if error else "",
        "max_name": MAX_VIEW_NAME,
    }
