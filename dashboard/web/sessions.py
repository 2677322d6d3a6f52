"""How long a log-in lasts: never longer than twelve hours, an hour without use where it was not
asked to be kept, and not beyond an act that signs its person out everywhere. Source: our choice.
"""

import time
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.middleware import get_user
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from dashboard.ledger.sign_in import last_sign_out
from dashboard.web.middleware import Handler

BEGAN, SEEN = "began_at", "seen_at"
"""Keys of the session: seconds since the epoch."""
SIGNED_OUT = "last_sign_out"
"""Key of the session: which act was the last to sign its person out everywhere. A number, for the
clocks of several machines differ."""
NOTED_EVERY_S = 60
"""A write for each request would be one too many."""


def begin(sender: object, request: HttpRequest, user: User, **more: Any) -> None:
    """Note when a person logged in. Hears Django's signal."""
    if hasattr(request, "session"):
        request.session[BEGAN] = request.session[SEEN] = int(time.time())
        stay_signed_in(request, user)


def stay_signed_in(request: HttpRequest, person: User) -> None:
    """Let this session of a person's go on, whatever has signed them out everywhere so far."""
    request.session[SIGNED_OUT] = last_sign_out(person)


def is_over(began: float, seen: float, now: float, *, is_kept: bool) -> bool:
    """Tell whether a session that began and was used then has ended by now; all in seconds.

    `is_kept` is of one that was asked to outlast the browser.
    """
    if now - began > settings.SESSION_COOKIE_AGE:
        return True
    return not is_kept and now - seen > settings.SESSION_IDLE_S


def sessions_end(get_response: Handler) -> Handler:
    """Log out whose time is over; the next page asks who it is."""

    def middleware(request: HttpRequest) -> HttpResponse:
        began = request.session.get(BEGAN)
        if began is not None:
            now, seen = time.time(), request.session.get(SEEN, began)
            is_kept = not request.session.get_expire_at_browser_close()
            if is_over(began, seen, now, is_kept=is_kept) or _is_signed_out(request):
                logout(request)
                return get_response(request)
            if not is_kept and now - seen > NOTED_EVERY_S:
                request.session[SEEN] = int(now)
            # What follows asks it sixty things: the stand-in for it would first look in itself.
            request.user = get_user(request)
        return get_response(request)

    return middleware


def _is_signed_out(request: HttpRequest) -> bool:
    last = getattr(request.user, "last_sign_out", None) or 0
    return bool(request.session.get(SIGNED_OUT, 0) < last)


def noindex(get_response: Handler) -> Handler:
    """Tell machines that read everything to keep nothing of it, of files and errors too."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("X-Robots-Tag", "noindex, nofollow")
        return response

    return middleware


def client_address(request: HttpRequest) -> str:
    """Return the address that wrong tries are counted for.

    Behind a proxy it is the last one of X-Forwarded-For: the proxy wrote it, and what stands
    before it is what a client says of itself. Counted by the proxy's own address, anyone could
    keep everybody's name locked.
    """
    direct: str = request.META.get("REMOTE_ADDR", "")
    if not settings.BEHIND_PROXY:
        return direct
    return request.headers.get("X-Forwarded-For", "").split(",")[-1].strip() or direct
