"""The pages and audiences a user visited last, for the palette.

Stored in a session cookie, which saves a database write per visit.
"""

from urllib.parse import quote, unquote

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse

from dashboard.web.ui.htmx import Request

MAX_VISITS = 8
MAX_CHARACTERS = 2_000
"""Browsers limit a cookie to 4,096; ids may be of any length."""

Visit = tuple[str, str]
"""The ids of a page and of one of its audiences; the latter is "" for the page itself."""


def recent_visits(request: Request) -> list[Visit]:
    """Return the user's visits, the last first; invalid entries are left out."""
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
