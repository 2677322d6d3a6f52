"""Context of every page: environment, viewer, permissions, sidebar."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils.functional import SimpleLazyObject
from django.utils.html import format_html

from dashboard.accounts.permissions import (
    CHANGE_TEAM_VIEWS,
    CREATE_PAGE,
    MANAGE_APPROVALS,
    MANAGE_DELIVERIES,
    MANAGE_PEOPLE,
    PUBLISH,
    UPDATE_SUBSCRIPTION,
    may,
    must_set_up_second_factor,
)
from dashboard.ledger.models import Preferences
from dashboard.ledger.preferences import get_preferences
from dashboard.notifications.following import is_followed
from dashboard.notifications.inbox import is_about
from dashboard.observability.request_context import is_unrecorded
from dashboard.service.health import health_now
from dashboard.web.saved_views.counts import count_views
from dashboard.web.saved_views.unsent_forms import view_ticket
from dashboard.web.search.hits import visit_hits
from dashboard.web.shell.sidebar_counts import (
    SidebarCounts,
    approvals_to_decide,
    current_outage,
    side_counts,
    unread_notifications,
    was_pressed,
)
from dashboard.web.shell.support_report import support_report
from dashboard.web.ui.saved_views import visible_views
from dashboard.web.ui.time_zones import time_zone_label

TONES = {
    "grey": "plain",
    "blue": "info",
    "purple": "work",
    "green": "ok",
    "amber": "warn",
    "red": "bad",
}
"""Tones by the color of the environment; each is readable in both themes."""
MAX_SIDEBAR_VIEWS = 8
"""Saved views in the sidebar, the user's own first. Source: our choice."""
EMBEDDED_SERVICE_LABEL = "Built-in API"


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the environment, the service's health, the user's settings and permissions.

    Values that cost a query are lazy: a partial pays for those it uses only.
    """
    preferences = _lazy(lambda: get_preferences(request.user))
    # Cached per request: `get_token` masks it on every call, and a page may contain five forms.
    token = _lazy(get_token, request)
    health = _lazy(health_now)
    # Read once a request, if at all: it is a trip to the cache.
    counts = _lazy(
        lambda: (
            side_counts(is_fresh=was_pressed(request))
            if request.user.is_authenticated
            else SidebarCounts()
        )
    )
    csrf_input = '<input type="hidden" name="csrfmiddlewaretoken" value="{}">'
    return {
        "preferences": preferences,
        "csrf_token": token,
        "csrf_input": _lazy(format_html, csrf_input, token),
        "theme": _lazy(_theme, request),
        "time_zone_label": _lazy(time_zone_label, request),
        "is_followed": partial(is_followed, cast("User", request.user)),
        "service_health": health,
        # Read when the page is rendered, so that the page's own calls count.
        "outage": _lazy(current_outage, health, counts),
        "unrecorded": _lazy(is_unrecorded),
        "support_report": _lazy(support_report, request),
        **_sidebar(request, preferences, counts),
        **_permissions(request),
        "environment_name": settings.ENVIRONMENT_NAME,
        "environment_tone": TONES[settings.ENVIRONMENT_COLOUR],
        "service_host": urlsplit(settings.SERVICE_URL or "").netloc or EMBEDDED_SERVICE_LABEL,
        # Defaults, which most pages override.
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
    return {
        "pinned": _lazy(lambda: visit_hits(preferences.pins)),
        "sidebar_counts": counts,
        "needs_approval_of": partial(SidebarCounts.covers, counts),
        "sidebar_views": views,
        "max_sidebar_views": MAX_SIDEBAR_VIEWS,
        "view_counts": _lazy(lambda: count_views(views, is_fresh=was_pressed(request))),
        "view_ticket": _lazy(view_ticket, request),
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
        "may_change_team_views": _lazy(may, request, CHANGE_TEAM_VIEWS),
        "must_set_up_second_factor": _lazy(must_set_up_second_factor, request),
    }


def _lazy(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the function's result, computed on first use."""
    return SimpleLazyObject(partial(function, *arguments))


def _theme(request: HttpRequest) -> str:
    theme = request.COOKIES.get(settings.THEME_COOKIE, "")
    if request.user.is_authenticated:
        theme = get_preferences(request.user).theme
    return theme if theme in Preferences.Theme.values else ""
