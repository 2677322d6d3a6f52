"""Sessions: when they end, and whether they have shown a second factor.

They end after twelve hours, after an idle hour if they are not persistent, and when their user is
signed out everywhere. Source: our choice. django-allauth stores the factors and runs the login. We
mark each session that has shown a second factor, to distinguish it from older sessions and other
ways of signing in.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.middleware import get_user
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import UpdateError
from django.http import HttpRequest, HttpResponse

from dashboard import clock
from dashboard.accounts.sign_in import get_sign_in_policy, last_sign_out_id

BEGAN, SEEN = "began_at", "seen_at"
"""Keys of the session: seconds since the epoch."""
SIGNED_OUT = "last_sign_out"
"""Session key: id of the user's last event that signed them out everywhere. An id rather than a
time, because clocks differ between servers."""
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
"""Recovery codes only replace one of these, and do not count themselves."""
SECOND_FACTOR = "second_factor"
"""Session key: id of the user who has shown one, and where."""
_HERE, _ORGANISATION = "here", "organisation"
UNKNOWN = "::"
"""Used for all clients without a valid IP address. Source: RFC 4291, 2.5.2."""
_WITH_PORT = re.compile(r"\[([^\]]*)\](?::\d*)?|([^:]*):\d*")
"""`[2001:db8::7]`, with or without a port, or `203.0.113.7:4711`."""
MIN_WRITE_INTERVAL_S = 60
"""Avoids a write for each request."""
BACKGROUND = "X-Background"
"""Header of background requests that an open page sends, such as for the count of the bell. They
don't keep a session alive and don't redirect to the log-in page."""


def begin(sender: object, request: HttpRequest, user: User, **more: Any) -> None:
    """Record the time of a login. Receiver of Django's signal."""
    if hasattr(request, "session"):
        request.session[BEGAN] = request.session[SEEN] = int(clock.now().timestamp())
        stay_signed_in(request, user)


def stay_signed_in(request: HttpRequest, user: User) -> None:
    """Exempt this session from the user's sign-outs so far."""
    request.session[SIGNED_OUT] = last_sign_out_id(user)


def is_expired(began: float, seen: float, now: float, *, is_persistent: bool) -> bool:
    """Whether a session has expired; all times in seconds.

    A persistent session outlasts the browser.
    """
    if now - began > settings.SESSION_COOKIE_AGE:
        return True
    return not is_persistent and now - seen > settings.SESSION_IDLE_S


def has_second_factor(user: User) -> bool:
    answer = getattr(user, "has_second_factor", None)
    if answer is None:
        answer = Authenticator.objects.filter(user=user, type__in=FACTORS).exists()
    return bool(answer)


def record_second_factor(
    request: HttpRequest, user: User, *, by_organisation: bool = False
) -> None:
    request.session[SECOND_FACTOR] = [user.pk, _ORGANISATION if by_organisation else _HERE]


def has_shown_second_factor(request: HttpRequest) -> bool:
    """Whether the session has shown a second factor that still exists."""
    user_id, origin = request.session.get(SECOND_FACTOR, (None, ""))
    if user_id is None or user_id != request.user.pk:
        return False
    user: User = request.user  # type: ignore[assignment]  # only a login leaves the mark
    return origin == _ORGANISATION or has_second_factor(user)


def is_stale(request: HttpRequest) -> bool:
    """Whether the session began before the user set up a second factor in another session."""
    if not request.user.is_authenticated or not has_second_factor(request.user):
        return False
    return not has_shown_second_factor(request)


def lacks_second_factor(request: HttpRequest) -> bool:
    """Whether the rule requires a second factor that the session has not shown."""
    is_on = getattr(request.user, "is_rule_on", None)
    if is_on is None:
        is_on = get_sign_in_policy().publishers_need_second_factor
    return bool(is_on) and not has_shown_second_factor(request)


def session_expiry_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        began = request.session.get(BEGAN)
        if began is not None:
            now, seen = clock.now().timestamp(), request.session.get(SEEN, began)
            is_persistent = not request.session.get_expire_at_browser_close()
            last_sign_out = getattr(request.user, "last_sign_out", None) or 0
            is_signed_out = request.session.get(SIGNED_OUT, 0) < last_sign_out
            if is_signed_out or is_expired(began, seen, now, is_persistent=is_persistent):
                logout(request)
                return get_response(request)
            is_activity = BACKGROUND not in request.headers
            if is_activity and not is_persistent and now - seen > MIN_WRITE_INTERVAL_S:
                request.session[SEEN] = int(now)
                # A full disk must not hide the page, so Django doesn't save it with the response.
                with suppress(UpdateError):
                    request.session.save()
                request.session.modified = False
            # Replace the lazy object: the user is accessed about sixty times per request.
            request.user = get_user(request)
        return get_response(request)

    return middleware


def robots_header_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("X-Robots-Tag", "noindex, nofollow")
        return response

    return middleware


def absolute_url(request: HttpRequest, path: str) -> str:
    """Return the full URL of a path, below PUBLIC_URL or else on the request's own host."""
    if settings.HAS_PUBLIC_URL:
        return f"{settings.PUBLIC_URL}{path}"
    return request.build_absolute_uri(path)


def client_address(request: HttpRequest) -> str:
    """Return the IP address for counting failed logins, or UNKNOWN.

    Behind a proxy it is the last address of X-Forwarded-For, which the proxy wrote; clients can
    forge the others. If the proxy's own address counted, anyone could lock every account.
    """
    address: str = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        address = request.headers.get("X-Forwarded-For", "").split(",")[-1].strip() or address
    # Some proxies add a port, brackets or a zone.
    match = _WITH_PORT.fullmatch(address)
    bare = next(filter(None, match.groups()), "") if match else address
    try:
        return str(ip_address(bare.partition("%")[0]))
    except ValueError:
        return UNKNOWN
