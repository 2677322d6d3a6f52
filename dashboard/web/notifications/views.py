"""The bell, the list of a user's notifications, and the button that follows a page."""

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from dashboard import clock
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.ledger.queries.pages import page_last_known
from dashboard.ledger.states import OperationState
from dashboard.notifications import preferences
from dashboard.notifications.inbox import (
    list_notifications,
    mark_all_read,
    mark_page_read,
    mark_read,
    unread_count,
)
from dashboard.notifications.messages import names_in, words_of
from dashboard.notifications.models import Notification, NotificationError
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import choice_among
from dashboard.web.lists.state import ListState
from dashboard.web.lists.window import render_list
from dashboard.web.ui.htmx import Request, safe_return_url
from dashboard.web.ui.markup import day
from dashboard.web.ui.query_params import int_param, rows_gone

STATE = choice_among(
    "state", "State", [("unread", "Unread")], all_label="All", where=lambda _: Q(read_at=None)
)
NOTIFICATIONS = ListDefinition(filters=(STATE,), start="before")
MAX_IN_PANEL = 10
LOOKS: dict[str, tuple[str, str]] = {
    "publish_finished": OperationState.NOT_LIVE_YET.badge[1:],
    "publish_failed": OperationState.FAILED.badge[1:],
    "publish_unknown": OperationState.UNKNOWN.badge[1:],
    "publish_stuck": ("clock", "warn"),
    "published_outside": ("external", "warn"),
    "release_finished": ("st-published", "ok"),
    "release_failed": ("st-failed", "bad"),
    "release_held": ("st-held", "warn"),
    "schedule_missed": ("calendar", "warn"),
    "token_expires": ("key", "warn"),
    "approval_requested": ("st-approval", "info"),
    "approval_given": ("check", "ok"),
    "approval_declined": ("x", "bad"),
    "approval_void": ("st-held", "warn"),
    "emergency_publish": ("alert", "warn"),
    "mentioned": ("comment", "info"),
    "commented": ("comment", "info"),
    "thread_resolved": ("st-resolved", "ok"),
    "assigned": ("person", "info"),
    "version_rejected": ("st-rejected", "warn"),
    "followed_changed": ("st-changed", "info"),
    "service_unreachable": ("offline", "bad"),
    "service_back": ("st-live", "ok"),
    "receiver_silent": ("webhook", "warn"),
    "new_deviation": ("code", "info"),
}
"""Icon and tone by kind of event."""
OTHER_LOOK = ("bell", "plain")
"""Icon and tone for kinds that only an older or newer release of Pressroom knows."""


@dataclass(frozen=True)
class NotificationEntry:
    notification: Notification
    text: str
    names: list[str]
    icon: str
    tone: str

    @property
    def url(self) -> str:
        path = self.notification.event.path
        is_ours = url_has_allowed_host_and_scheme(path, allowed_hosts=None)
        return path if is_ours else reverse("notification-list")

    @property
    def is_unread(self) -> bool:
        return self.notification.read_at is None


def entry_of(notification: Notification) -> NotificationEntry:
    event = notification.event
    look = LOOKS.get(event.kind, OTHER_LOOK)
    return NotificationEntry(notification, words_of(event), names_in(event), *look)


def latest_by_day(user: User) -> list[tuple[str, list[NotificationEntry]]]:
    """Return the latest notifications grouped by the name of their day. Makes one query.

    Days begin in the viewer's time zone.
    """
    entries = map(entry_of, list_notifications(user)[:MAX_IN_PANEL])
    days = groupby(entries, key=lambda entry: timezone.localdate(entry.notification.created_at))
    return [(_day_name(day), list(of_day)) for day, of_day in days]


def _day_name(value: date) -> str:
    today = timezone.localdate()
    if value == today:
        return "Today"
    return "Yesterday" if value == today - timedelta(days=1) else day(value, "named")


@require_GET
def notification_list(request: Request) -> HttpResponse:
    """List the user's notifications, newest first, or the unread ones with `?state=unread`.

    `?before=` is the primary key of the last row before the list, `?show=` the number of rows.
    Every page fetches the panel of the bell from here.
    """
    if request.htmx.target == "notices-in":
        return _show_panel(request)
    state = ListState.parse(NOTIFICATIONS, request.GET)
    matches = list_notifications(request.user).filter(state.condition)
    notifications, next_pk = state.page_of(matches)
    entries = [entry_of(notification) for notification in notifications]
    gone = rows_gone(request, "notification-", [row.pk for row in notifications])
    left = list_notifications(request.user).filter(pk__in=gone) if gone else []
    context = {
        "entries": entries,
        "state": state,
        "next_pk": next_pk,
        "left": [entry_of(notification) for notification in left],
    }
    template, parts = "notifications/list.html", ("more", "notifications")
    return render_list(request, template, context, state=state, added=len(entries), parts=parts)


@require_POST
def notification_read(request: Request, notification_id: int) -> HttpResponse:
    notification = get_object_or_404(list_notifications(request.user), pk=notification_id)
    mark_read(request.user, [notification.pk])
    if not request.htmx:
        return redirect(safe_return_url(request, "next", reverse("notification-list")))
    notification.read_at = notification.read_at or clock.now()
    is_in_panel = (request.htmx.target or "").startswith("notice-")
    context = {"entry": entry_of(notification), "is_in_panel": is_in_panel} | _counts(request)
    return render(request, "notifications/list.html#notification", context)


@require_POST
def notifications_read(request: Request) -> HttpResponse:
    """Mark all notifications as read up to `until`, the newest one that the user has seen."""
    mark_all_read(request.user, until=int_param(request.POST.get("until", "")))
    if request.htmx.target == "notices-in":
        return _show_panel(request)
    return redirect(safe_return_url(request, "next", reverse("notification-list")))


@require_POST
def page_opened(request: Request) -> HttpResponse:
    """Mark notifications about the page at `path` as read.

    A page posts this when it opens, because a GET must not write.
    """
    mark_page_read(request.user, request.POST.get("path", ""))
    return render(request, "notifications/list.html#bell_counts", _counts(request))


@require_POST
def follow(request: Request) -> HttpResponse:
    """Follow a page or one of its audiences; without `followed`, unfollow it.

    Responds with the button if htmx targets it, otherwise redirects back.
    """
    page_id, audience_id = (request.POST.get(name, "") for name in ("page_id", "audience_id"))
    is_on, problem = bool(request.POST.get("followed")), ""
    try:
        _follow(request, page_id, audience_id, is_on=is_on)
    except NotificationError as error:
        is_on, problem = False, str(error)
    if request.htmx.target == "follow":
        context = {
            "page_id": page_id,
            "audience_id": audience_id,
            "followed": is_on,
            "problem": problem,
            "next_url": request.POST.get("next", ""),
        }
        return render(request, "notifications/follow.html", context)
    if problem:
        messages.error(request, problem)
    return redirect(safe_return_url(request, "next", resolve_url("overview")))


def _show_panel(request: Request) -> HttpResponse:
    context = {"days": latest_by_day(request.user)} | _counts(request)
    return render(request, "notifications/panel.html", context)


def _counts(request: Request) -> dict[str, Any]:
    return {"unread": unread_count(request.user)}


def _follow(request: Request, page_id: str, audience_id: str, *, is_on: bool) -> None:
    """Follow or unfollow. Raises Http404 if it isn't in the ledger, or NotificationError."""
    if "\0" in page_id + audience_id:
        raise Http404
    if not is_on:
        preferences.unfollow(request.user, page_id, audience_id)
        return
    record = audience_last_known(page_id, audience_id) if audience_id else page_last_known(page_id)
    if record is None:
        raise Http404
    preferences.follow(request.user, page_id, audience_id)
