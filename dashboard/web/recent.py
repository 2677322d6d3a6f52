"""The pages and audiences a person looked at last: what the palette offers before any word.

Kept in a cookie until the browser is closed: no write for each page that is looked at.
"""

from collections.abc import Callable
from urllib.parse import quote, unquote

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

from dashboard.web.http import Request

KEPT = 8
KEPT_CHARACTERS = 2_000
"""A browser keeps 4,096 of one cookie; ids may be of any length."""
PLACES = ("page-detail", "audience-detail", "version-list", "conversation")
"""The addresses whose opening counts as a visit of what they name."""

Visit = tuple[str, str]
"""The ids of a page and of one of its audiences; the second is empty for the page itself."""


def recent_visits(request: Request) -> list[Visit]:
    """Return what this person visited, the last first; what can't be read is left out."""
    entries = request.COOKIES.get(_name(request.user), "").split("!")
    visits = [_visit(entry) for entry in entries if entry.count(":") == 1]
    return [visit for visit in visits if visit[0] and "\0" not in visit[0] + visit[1]][:KEPT]


def note_visits(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Keep which pages and audiences were opened: a middleware, below the log-in."""

    def middleware(request: Request) -> HttpResponse:
        response = get_response(request)
        match = request.resolver_match
        if match and match.url_name in PLACES and response.status_code == 200 and not request.htmx:
            visit = (match.kwargs["page_id"], match.kwargs.get("audience_id", ""))
            _keep(response, request, visit)
        return response

    return middleware  # type: ignore[return-value]  # the request has a user by then


def _keep(response: HttpResponse, request: Request, visit: Visit) -> None:
    before = recent_visits(request)
    if before[:1] == [visit]:
        return
    entries = [_entry(one) for one in dict.fromkeys([visit, *before])][:KEPT]
    while entries and len("!".join(entries)) > KEPT_CHARACTERS:
        entries.pop()
    response.set_cookie(
        _name(request.user),
        "!".join(entries),
        samesite="Lax",
        secure=request.is_secure(),
        httponly=True,
    )


def _name(user: User) -> str:
    return f"recent-{user.pk}"


def _entry(visit: Visit) -> str:
    return ":".join(quote(part, safe="") for part in visit)


def _visit(entry: str) -> Visit:
    page_id, _, audience_id = entry.partition(":")
    return unquote(page_id), unquote(audience_id)
