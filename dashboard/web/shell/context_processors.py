"""The context of every page: environment, viewer, permissions, sidebar, failure report."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils.encoding import escape_uri_path
from django.utils.functional import SimpleLazyObject
from django.utils.html import format_html

from config.environment import project_version
from dashboard.accounts.authentication import get_preferences
from dashboard.accounts.models import Preferences
from dashboard.accounts.permissions import (
    CHANGE_TEAM_VIEWS,
    CREATE_PAGE,
    MANAGE_APPROVALS,
    MANAGE_DELIVERIES,
    MANAGE_PEOPLE,
    MANAGE_SITE,
    PUBLISH,
    UPDATE_SUBSCRIPTION,
    may,
    must_set_up_second_factor,
)
from dashboard.client import InvalidResponseError, StatusError
from dashboard.notifications.inbox import is_about
from dashboard.notifications.preferences import is_followed
from dashboard.observability.request_context import current_notes, current_request_id, is_unrecorded
from dashboard.service.health import health_now, write_calls
from dashboard.service.outages import Outage
from dashboard.web.lists.saved_views import visible_views
from dashboard.web.live.shell_state import (
    SharedState,
    SidebarCounts,
    approvals_to_decide,
    has_just_sent_a_form,
    shell_state,
    unread_notifications,
)
from dashboard.web.saved_views.counts import count_views
from dashboard.web.search.hits import visit_hits
from dashboard.web.ui.formats import time_zone_label
from dashboard.web.ui.forms import form_ticket, resumed_form
from dashboard.web.ui.htmx import is_refresh

TONES = {
    "grey": "plain",
    "blue": "info",
    "purple": "work",
    "green": "ok",
    "amber": "warn",
    "red": "bad",
}
"""Tones by the color of the environment. Each is readable in both themes."""
MAX_SIDEBAR_VIEWS = 8
"""Maximum number of saved views in the sidebar, the user's own first. Source: our choice."""
EMBEDDED_SERVICE_LABEL = "Built-in API"
MAX_BODY_CHARACTERS = 600
"""Characters of the response in the report of a failure."""


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the environment, the service's health, the user's settings and permissions.

    Values that cost a query are lazy, so a partial pays only for those that it uses.
    """
    preferences = _lazy(lambda: get_preferences(request.user))
    # Cache it per request: `get_token` masks it at every call, and a page may have five forms.
    token = _lazy(get_token, request)
    health = _lazy(health_now)
    # Read at most once, and only while rendering, so that it includes the calls of this page.
    state = _lazy(_shell_state, request)
    counts, shared, outage = (_lazy(itemgetter(number), state) for number in range(3))
    csrf_input = '<input type="hidden" name="csrfmiddlewaretoken" value="{}">'
    return {
        "preferences": preferences,
        "csrf_token": token,
        "csrf_input": _lazy(format_html, csrf_input, token),
        "form_ticket": _lazy(form_ticket, request),
        "resumed_form": _lazy(resumed_form, request),
        "theme": _lazy(_theme, request),
        "time_zone_label": _lazy(time_zone_label, request),
        "is_followed": partial(is_followed, cast("User", request.user)),
        "service_health": health,
        "outage": outage,
        "needs_approval_of": partial(SharedState.covers, shared),
        "feed_cursor": getattr(request, "feed_cursor", ""),
        "unrecorded": _lazy(is_unrecorded),
        "support_report": _lazy(support_report, request),
        **_sidebar(request, preferences, counts),
        **_permissions(request),
        "environment_name": settings.ENVIRONMENT_NAME,
        "environment_tone": TONES[settings.ENVIRONMENT_COLOUR],
        "service_host": urlsplit(settings.SERVICE_URL or "").netloc or EMBEDDED_SERVICE_LABEL,
        # Defaults that most pages override.
        "here": "",
        "reading": None,
        "data_as_of": None,
        "saved": None,
    }


def _sidebar(
    request: HttpRequest, preferences: Preferences, counts: SidebarCounts
) -> dict[str, Any]:
    views = _lazy(visible_views, request)
    unread = _lazy(unread_notifications, request.user)
    is_fresh = has_just_sent_a_form(request) or is_refresh(request)
    return {
        "pinned": _lazy(lambda: visit_hits(preferences.pins)),
        "sidebar_counts": counts,
        "sidebar_views": views,
        "max_sidebar_views": MAX_SIDEBAR_VIEWS,
        "view_counts": _lazy(lambda: count_views(views, request.user, is_fresh=is_fresh)),
        "approvals_to_decide": partial(approvals_to_decide, request.user, counts),
        "unread_notifications": _lazy(lambda: len(unread)),
        "has_unread_about_page": _lazy(
            lambda: any(is_about(path, request.path) for _, path in unread)
        ),
    }


def _permissions(request: HttpRequest) -> dict[str, Any]:
    return {
        "may_publish": _lazy(may, request, PUBLISH),
        "may_create_page": _lazy(may, request, CREATE_PAGE),
        "may_update_subscription": _lazy(may, request, UPDATE_SUBSCRIPTION),
        "may_manage_people": _lazy(may, request, MANAGE_PEOPLE),
        "may_manage_approvals": _lazy(may, request, MANAGE_APPROVALS),
        "may_manage_deliveries": _lazy(may, request, MANAGE_DELIVERIES),
        "may_manage_site": _lazy(may, request, MANAGE_SITE),
        "may_change_team_views": _lazy(may, request, CHANGE_TEAM_VIEWS),
        "must_set_up_second_factor": _lazy(must_set_up_second_factor, request),
    }


def _lazy(function: Callable[..., Any], *arguments: Any) -> Any:
    return SimpleLazyObject(partial(function, *arguments))


def _shell_state(request: HttpRequest) -> tuple[SidebarCounts, SharedState, Outage | None]:
    if not request.user.is_authenticated:
        return SidebarCounts(), SharedState(), None
    if notes := current_notes():
        write_calls(notes)
    return shell_state(is_fresh=has_just_sent_a_form(request))


def _theme(request: HttpRequest) -> str:
    theme = request.COOKIES.get(settings.THEME_COOKIE, "")
    if request.user.is_authenticated:
        theme = get_preferences(request.user).theme
    return theme if theme in Preferences.Theme.values else ""


def support_report(request: HttpRequest) -> str:
    """Return a report on a failed request for the service team, with the last failed call.

    It contains no API key: the client redacts the key in responses, and paths don't contain it.
    """
    notes = current_notes()
    lines = [
        f"Pressroom {project_version()}, {settings.ENVIRONMENT_NAME}",
        f"Time: {datetime.now(UTC).isoformat(timespec='seconds')}",
        f"Request: {current_request_id()}",
        f"Page: {request.method} {escape_uri_path(request.path)}",
    ]
    if notes and (failed := notes.failed):
        attempts = f"{failed.attempts} attempt{'s' if failed.attempts != 1 else ''}"
        lines += [
            f"Call: {failed.operation}, {failed.method} {failed.path}",
            f"Sent: {failed.started_at.isoformat(timespec='seconds')}, {attempts}, "
            f"{failed.duration_ms:.0f} ms",
            f"Status: {failed.status_code or 'none'}",
            f"Error: {failed.error}",
        ]
        if isinstance(failed.error, StatusError | InvalidResponseError) and failed.error.body:
            lines.append(f"Body (truncated): {failed.error.body[:MAX_BODY_CHARACTERS]}")
    return "\n".join(lines)
