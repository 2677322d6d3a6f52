"""The bell, the history of a user's notifications, and the button that follows a page."""

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
from dashboard.web.ui.query_params import int_param

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
    "approval_requested": ("st-approval", "info"),
    "approval_given": ("check", "ok"),
    "approval_declined": ("x", "bad"),
    "approval_void": ("st-held", "warn"),
    "emergency_publish": ("alert", "warn"),
    "followed_changed": ("st-changed", "info"),
    "service_unreachable": ("offline", "bad"),
    "service_back": ("st-live", "ok"),
    "receiver_silent": ("webhook", "warn"),
    "new_deviation": ("code", "info"),
}
"""Icon and tone by kind of event."""
OTHER_LOOK = ("bell", "plain")
"""Of a kind of an older or newer version."""


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
    """Return the latest notifications under the names of their days. One query.

    Days are those of the viewer's time zone.
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
    """List the user's notifications, newest first; `?state=unread` leaves out the others.

    `?before=` is the primary key of the last one before the list, `show=` the number of rows. The
    target of htmx on every page is the panel of the bell.
    """
    if request.htmx.target == "notices-in":
        return _show_panel(request)
    state = ListState.parse(NOTIFICATIONS, request.GET)
    matches = list_notifications(request.user).filter(state.condition)
    notifications, next_pk = state.page_of(matches)
    entries = [entry_of(notification) for notification in notifications]
    context = {"entries": entries, "state": state, "next_pk": next_pk}
    return render_list(request, "notifications/list.html", context, state=state, added=len(entries))


@require_POST
def notification_read(request: Request, notification_id: int) -> HttpResponse:
    notification = get_object_or_404(list_notifications(request.user), pk=notification_id)
    mark_read(request.user, [notification.pk])
    if not request.htmx:
        return redirect(safe_return_url(request, "next", reverse("notification-list")))
    notification.read_at = notification.read_at or clock.now()
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


@require_POST
def follow(request: Request) -> HttpResponse:
    """Follow a page or an audience of it; without `followed`, follow it no longer.

    Responds with the button if htmx targets it, otherwise goes back.
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
    """Follow what is on record. Raises Http404, or NotificationError if it is too much."""
    if "\0" in page_id + audience_id:
        raise Http404
    if not is_on:
        preferences.unfollow(request.user, page_id, audience_id)
        return
    record = audience_last_known(page_id, audience_id) if audience_id else page_last_known(page_id)
    if record is None:
        raise Http404
    preferences.follow(request.user, page_id, audience_id)
