"""When a user last visited the overview, to show what changed since.

Stored in a cookie, which survives a logout and saves a database write.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse

from dashboard.web.ui.htmx import Request

PAUSE = timedelta(minutes=15)
"""After a longer pause a new visit begins; a reload belongs to the same visit. Our choice."""
MAX_AGE = timedelta(days=90)


@dataclass(frozen=True)
class LastVisit:
    """The end of the visit before this one, and the latest request of this one."""

    since: datetime | None
    """None on the first visit."""
    now: datetime


def read_last_visit(request: Request, now: datetime) -> LastVisit:
    """Read the last visit from the cookie; an invalid cookie is ignored."""
    cookie = request.COOKIES.get(_cookie_name(request.user), "")
    match = re.fullmatch(r"([0-9]{1,10})\.([0-9]{1,10})", cookie)
    seconds = map(int, match.groups()) if match else (0, 0)
    # 0 means none; a moment in the future is not ours.
    since, last = (
        datetime.fromtimestamp(one, UTC) if 0 < one <= now.timestamp() else None for one in seconds
    )
    is_new = last is not None and now - last > PAUSE
    return LastVisit(last if is_new else since, now)


def save_last_visit(response: HttpResponse, request: Request, visit: LastVisit) -> None:
    """Store the visit in the cookie."""
    since = int(visit.since.timestamp()) if visit.since else 0
    response.set_cookie(
        _cookie_name(request.user),
        f"{since}.{int(visit.now.timestamp())}",
        max_age=MAX_AGE,
        samesite="Lax",
        secure=request.is_secure(),
        httponly=True,
    )


def _cookie_name(user: User) -> str:
    return f"{settings.COOKIE_PREFIX}overview_{user.pk}"
