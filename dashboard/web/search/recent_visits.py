"""The pages and audiences that a user visited last, for the palette.

They are stored in a cookie, which saves a database write on each visit.
"""

from urllib.parse import quote, unquote

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse

from dashboard.web.ui.htmx import Request

MAX_VISITS = 8
MAX_CHARACTERS = 2_000
"""Limit for the cookie, because ids may be long. Browsers allow 4,096 bytes."""

Visit = tuple[str, str]
"""Ids of a page and of one of its audiences. The audience is "" for the page itself."""


def recent_visits(request: Request) -> list[Visit]:
    """Return the user's visits, latest first, without invalid entries."""
    entries = request.COOKIES.get(_cookie_name(request.user), "").split("!")
    ids = (entry.split(":") for entry in entries if entry.count(":") == 1)
    visits = [(unquote(page_id), unquote(audience_id)) for page_id, audience_id in ids]
    return [visit for visit in visits if visit[0] and "\0" not in visit[0] + visit[1]][:MAX_VISITS]


def record_visit(response: HttpResponse, request: Request, visit: Visit) -> None:
    before = recent_visits(request)
    if before[:1] == [visit]:
        return
    visits = [*dict.fromkeys([visit, *before])][:MAX_VISITS]
    entries = [":".join(quote(identifier, safe="") for identifier in ids) for ids in visits]
    while entries and len("!".join(entries)) > MAX_CHARACTERS:
        entries.pop()
    response.set_cookie(
        _cookie_name(request.user),
        "!".join(entries),
        samesite="Lax",
        secure=request.is_secure(),
        httponly=True,
    )


def _cookie_name(user: User) -> str:
    return f"{settings.COOKIE_PREFIX}recent_{user.pk}"
