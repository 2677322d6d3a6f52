"""What every page's shell shows."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils.functional import SimpleLazyObject

from dashboard.ledger.models import Preferences
from dashboard.ledger.preferences import preferences_of
from dashboard.web.finding import hits_of
from dashboard.web.permissions import (
    CREATE_PAGE,
    MANAGE_PEOPLE,
    PUBLISH,
    UPDATE_SUBSCRIPTION,
    may,
)
from dashboard.web.second_factor import is_to_set_up
from dashboard.web.service_health import health_now
from dashboard.web.support_report import support_report
from dashboard.web.time_zones import is_browsers_zone

THEME_COOKIE = "theme"
"""Of the log-in page, which can't know who comes; the person's own settings win over it."""

TONES = {
    "grey": "plain",
    "blue": "info",
    "purple": "work",
    "green": "ok",
    "amber": "warn",
    "red": "bad",
}
"""The tone of each colour an environment may have; each is readable in both themes."""
OUR_OWN_SERVICE = "the API carried here"


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the environment, the service and its health, the person's settings and rights.

    What needs the person is asked for lazily: a fragment costs no query it does not need.
    """
    kept = SimpleLazyObject(lambda: preferences_of(request.user))
    return {
        "environment_name": settings.ENVIRONMENT_NAME,
        "environment_tone": TONES[settings.ENVIRONMENT_COLOUR],
        # Django masks it anew each time it is written; five forms of a page may have the same.
        "csrf_token": SimpleLazyObject(lambda: get_token(request)),
        "service_host": urlsplit(settings.SERVICE_URL or "").netloc or OUR_OWN_SERVICE,
        "preferences": kept,
        "theme": lambda: _theme(request),
        "keys_off": lambda: kept.keys_off,
        "tells_zone": lambda: not is_browsers_zone(request),
        "pinned": lambda: hits_of(kept.pins),
        "service_health": health_now,
        "support_report": lambda: support_report(request),
        "may_publish": lambda: may(request, PUBLISH),
        "may_create_page": lambda: may(request, CREATE_PAGE),
        "may_update_subscription": lambda: may(request, UPDATE_SUBSCRIPTION),
        "may_manage_people": lambda: may(request, MANAGE_PEOPLE),
        "is_to_set_up": lambda: is_to_set_up(request),
    }


def _theme(request: HttpRequest) -> str:
    is_known = request.user.is_authenticated
    kept = preferences_of(request.user).theme
    theme = kept if is_known else request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in Preferences.Theme.values else ""
