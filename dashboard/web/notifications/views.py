"""The bell, and the history of a user's notifications."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import replace_url

from dashboard.notifications.inbox import (
    list_notifications,
    mark_all_read,
    mark_page_read,
    mark_read,
    unread_count,
)
from dashboard.web.notifications.listing import entry_of, latest_by_day
from dashboard.web.ui.htmx import Request, render_partial, safe_return_url
from dashboard.web.ui.load_more import params_for_all_rows, size_param
from dashboard.web.ui.query_params import int_param

UNREAD = "unread"


@require_GET
def notification_list(request: Request) -> HttpResponse:
    """List the user's notifications, newest first; `?state=unread` leaves out the others.

    `?before=` is the primary key of the last one before the list, `show=` the number of rows. The
    targets of htmx on every page are the count of the bell and its panel.
    """
    match request.htmx.target:
        case "bell-poll":
            return _poll_bell(request)
        case "notices-in":
            return _show_panel(request)
    state = UNREAD if request.GET.get("state") == UNREAD else ""
    size, before = size_param(request.GET), int_param(request.GET.get("before", "")) or None
    rows = list_notifications(request.user, is_unread=bool(state), before=before)[: size + 1]
    is_more, entries = len(rows) > size, [entry_of(each) for each in rows[:size]]
    context = {
        "entries": entries,
        "state": state,
        "is_continued": before is not None,
        "next_pk": entries[-1].notification.pk if is_more else None,
    }
    response = render_partial(request, "notifications/list.html", context, parts=("more",))
    if request.htmx.target != "more":
        return response
    shown = params_for_all_rows(request, ("before",), len(entries)) | (
        {"state": state} if state else {}
    )
    # The earlier rows and the added ones, for Back and reload.
    return replace_url(response, f"{request.path}{'?' if shown else ''}{urlencode(shown)}")


@require_POST
def notification_read(request: Request, notification_id: int) -> HttpResponse:
    """Mark one of the user's own notifications as read; any other is a 404."""
    notification = get_object_or_404(list_notifications(request.user), pk=notification_id)
    mark_read(request.user, [notification.pk])
    if not request.htmx:
        return redirect(safe_return_url(request, "next", reverse("notification-list")))
    notification.read_at = notification.read_at or timezone.now()
    is_in_panel = (request.htmx.target or "").startswith("notice-")
    context = {"entry": entry_of(notification), "is_in_panel": is_in_panel} | _counts(request)
    return render(request, "notifications/row.html", context)


@require_POST
def notifications_read(request: Request) -> HttpResponse:
    """Mark all notifications as read up to `until`, the newest that the user has seen."""
    mark_all_read(request.user, until=int_param(request.POST.get("until", "")))
    if request.htmx.target == "notices-in":
        return _show_panel(request)
    return redirect(safe_return_url(request, "next", reverse("notification-list")))


@require_POST
def page_opened(request: Request) -> HttpResponse:
    """Mark what is about the page at `path` as read; an open page sends this, as no GET writes."""
    mark_page_read(request.user, request.POST.get("path", ""))
    return render(request, "notifications/opened.html", _counts(request))


def _poll_bell(request: Request) -> HttpResponse:
    """Return the count if it isn't `?was=`, with a sentence to announce if it has grown."""
    was, counts = int_param(request.GET.get("was", "")), _counts(request)
    if counts["unread"] == was:
        return HttpResponse(status=204)
    has_grown = counts["unread"] > was
    return render(request, "notifications/bell.html", counts | {"has_grown": has_grown})


def _show_panel(request: Request) -> HttpResponse:
    context = {"days": latest_by_day(request.user)} | _counts(request)
    return render(request, "notifications/panel.html", context)


def _counts(request: Request) -> dict[str, Any]:
    return {"unread": unread_count(request.user)}
