"""When a person last looked at the overview, so that it can tell what changed since.

Kept in a cookie: it lasts over a log-out, in this browser alone, and costs no write.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.http import HttpResponse

from dashboard.web.http import Request

PAUSE = timedelta(minutes=15)
"""A look after a longer pause is a new one; reloading does not forget what changed. Our choice."""
KEPT = timedelta(days=90)


@dataclass(frozen=True)
class LastLook:
    """The look before this one, and when this one was last seen to go on."""

    since: datetime | None
    """None at the first look."""
    now: datetime


def last_look(request: Request, now: datetime) -> LastLook:
    """Return when this person last looked, by the cookie; what can't be read is no look."""
    since, last = _read(request.COOKIES.get(_name(request.user), ""), now)
    is_new = last is not None and now - last > PAUSE
    return LastLook(last if is_new else since, now)


def keep_look(response: HttpResponse, request: Request, look: LastLook) -> None:
    """Keep a look for the next."""
    since = int(look.since.timestamp()) if look.since else 0
    response.set_cookie(
        _name(request.user),
        f"{since}.{int(look.now.timestamp())}",
        max_age=KEPT,
        samesite="Lax",
        secure=request.is_secure(),
        httponly=True,
    )


def _name(user: User) -> str:
    return f"overview-{user.pk}"


def _read(text: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    kept = re.fullmatch(r"([0-9]{1,10})\.([0-9]{1,10})", text)
    if not kept:
        return None, None
    since, last = (_moment(int(seconds), now) for seconds in kept.groups())
    return since, last


def _moment(seconds: int, now: datetime) -> datetime | None:
    """Return a moment of the past; 0 stands for none."""
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds <= now.timestamp() else None
