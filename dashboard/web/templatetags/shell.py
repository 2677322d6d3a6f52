"""Tags of the shell, which stands around every page."""

import secrets
from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from dashboard.web.finding import Hit
from dashboard.web.http import Request
from dashboard.web.page_parts import PageBody
from dashboard.web.permissions import MANAGE_PEOPLE, PUBLISH, UPDATE_SUBSCRIPTION, may
from dashboard.web.readings import Reading
from dashboard.web.service_health import health_now
from dashboard.web.templatetags.pressroom import drawn, drawn_one, moment

register = template.Library()

_TOKEN_PLACE, _PAGE_PLACE, _MOMENT_PLACE = (secrets.token_hex() for _ in range(3))


@dataclass(frozen=True)
class UserMenu:
    """What the menu of a person shows."""

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


@dataclass(frozen=True)
class Freshness:
    """What is told of when a page was true."""

    is_read: bool
    """From the service, and not made here."""
    is_last_known: bool
    zone: str
    """Its name, where the reader may take the time for another's; else empty."""
    moment: str = _MOMENT_PLACE
    page: str = _PAGE_PLACE


@dataclass(frozen=True)
class Pin:
    """What the button shows that pins a page or an audience."""

    page_id: str
    audience_id: str
    """Empty for a page."""
    is_pinned: bool
    token: str = _TOKEN_PLACE
    page: str = _PAGE_PLACE


@dataclass(frozen=True)
class PageHead:
    """What stands above a page; the same is equal."""

    body: PageBody
    pin: Pin
    may_create: bool
    is_held_back: bool
    """Whether nothing can be created while the service does not answer."""


@dataclass(frozen=True)
class Side:
    """What the side of a page shows: equal ones look the same, wherever they stand."""

    here: str
    """The name of the section, or empty."""
    environment_name: str
    environment_tone: str
    pins: tuple[Hit, ...]
    pin_here: str
    """The address of the page where that is pinned, or empty."""
    service_host: str
    is_answering: bool | None
    """Of the service's last call; None where there was none within the hour."""
    median_ms: int | None
    person: str
    menu: UserMenu


@register.simple_tag(takes_context=True)
def side(context: template.Context) -> SafeString:
    """Draw the navigation, the service's health and the person's menu.

    Drawn once for each way they can be: to draw them took longer than to draw a list's rows.
    """
    request: Request = context["request"]
    whole = drawn_one("components/side.html", _side(request, context))
    return _filled(whole, context, request.get_full_path())


@register.simple_tag(takes_context=True)
def fresh(context: template.Context) -> SafeString:
    """Tell when the page was true, by the `reading` in the context, and offer to read it again."""
    request: Request = context["request"]
    reading: Reading[Any] | None = context.get("reading")
    now = timezone.localtime()
    told = Freshness(
        is_read=reading is not None,
        is_last_known=bool(reading and reading.error),
        zone=(now.tzname() or "") if context["tells_zone"]() else "",
    )
    # No fraction of a second is shown: of a second's readings one is drawn.
    as_of = (reading.as_of if reading else now).replace(microsecond=0)
    whole = drawn("components/fresh.html", [told]).replace(_MOMENT_PLACE, moment(as_of))
    return _filled(whole, context, request.get_full_path())


@register.simple_tag(takes_context=True)
def pin_button(context: template.Context, page_id: str, audience_id: str = "") -> SafeString:
    """Draw the button that pins a page or an audience, or takes its pin away."""
    request: Request = context["request"]
    pin = _pin(context, page_id, audience_id)
    # Drawn anew after a click, it goes on to tell on which page it stands.
    page = request.POST.get("next") if request.method == "POST" else None
    return _filled(drawn("components/pin.html", [pin]), context, page or request.get_full_path())


@register.simple_tag(takes_context=True)
def page_head(context: template.Context, body: PageBody, reading: Reading[Any]) -> SafeString:
    """Draw what stands above a page: its name, status, ids and tools."""
    head = PageHead(
        body=body,
        pin=_pin(context, body.page.page_id),
        may_create=context["may_create_page"](),
        is_held_back=reading.error is not None,
    )
    here = context["request"].get_full_path()
    return _filled(drawn_one("pages/_head.html", head), context, here)


def _pin(context: template.Context, page_id: str, audience_id: str = "") -> Pin:
    return Pin(page_id, audience_id, (page_id, audience_id) in context["preferences"].pins)


def _filled(drawing: str, context: template.Context, page: str) -> SafeString:
    """Return a drawing with the token, where it has a place for one, and the page."""
    whole = drawing.replace(_PAGE_PLACE, escape(page))
    if _TOKEN_PLACE in whole:
        # Only then is it asked for: that alone sends its cookie.
        whole = whole.replace(_TOKEN_PLACE, str(context["csrf_token"]))
    return mark_safe(whole)  # noqa: S308


def _side(request: Request, context: Any) -> Side:
    health, pins = health_now(), tuple(context["pinned"]())
    return Side(
        here=context.get("here", ""),
        environment_name=context["environment_name"],
        environment_tone=context["environment_tone"],
        pins=pins,
        pin_here=request.path if request.path in {pin.address for pin in pins} else "",
        service_host=context["service_host"],
        is_answering=health.is_answering,
        median_ms=None if health.median_ms is None else round(health.median_ms),
        person=_name(request.user),
        menu=_menu(request, context),
    )


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


def _name(user: User | AnonymousUser) -> str:
    # A stranger who is shown an error has no name at all.
    full_name = user.get_full_name() if user.is_authenticated else ""
    return full_name or user.get_username()
