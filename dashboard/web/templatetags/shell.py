"""Tags of the shell, which stands around every page."""

import secrets
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from dashboard.web.http import Request
from dashboard.web.permissions import MANAGE_PEOPLE, PUBLISH, UPDATE_SUBSCRIPTION, may
from dashboard.web.templatetags.pressroom import drawn_one

register = template.Library()

_TOKEN_PLACE, _PAGE_PLACE = secrets.token_hex(), secrets.token_hex()


@dataclass(frozen=True)
class UserMenu:
    """What the menu of a person shows: equal ones look the same, wherever they stand."""

    username: str
    may_publish: bool
    may_update_subscription: bool
    may_manage_people: bool
    is_staff: bool
    has_password: bool
    theme: str
    is_utc: bool
    keys_off: bool
    token: str = _TOKEN_PLACE
    """Where the token that guards a form comes."""
    page: str = _PAGE_PLACE
    """Where the address of the page comes."""


@register.simple_tag(takes_context=True)
def user_menu(context: template.Context) -> SafeString:
    """Draw who is here, what they may do and have set, and the way out.

    Its forms and addresses take longer than a list's rows: it is drawn once for each way it can be.
    """
    request: Request = context["request"]
    drawn = drawn_one("components/user_menu.html", _menu(request, context))
    whole = drawn.replace(_TOKEN_PLACE, str(context["csrf_token"]))
    return mark_safe(whole.replace(_PAGE_PLACE, escape(request.get_full_path())))  # noqa: S308


def _menu(request: Request, context: Any) -> UserMenu:
    user, kept = request.user, context["preferences"]
    return UserMenu(
        username=user.get_username(),
        may_publish=may(request, PUBLISH),
        may_update_subscription=may(request, UPDATE_SUBSCRIPTION),
        may_manage_people=may(request, MANAGE_PEOPLE),
        is_staff=user.is_staff,
        has_password=user.is_authenticated and user.has_usable_password(),
        theme=context["theme"](),
        is_utc=kept.time_zone == "UTC",
        keys_off=kept.keys_off,
    )
