"""Finding: a page of its own without JavaScript, and what the Ctrl+K palette asks."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from dashboard.client import APIError
from dashboard.ledger.preferences import preferences_of
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.web.finding import (
    A_GROUP,
    Rights,
    exact_hits,
    found_groups,
    groups_to_begin_with,
    person_hits,
)
from dashboard.web.http import Request, render_part
from dashboard.web.permissions import CREATE_PAGE, PUBLISH, may
from dashboard.web.readings import read_people
from dashboard.web.recent import recent_visits

TEMPLATE = "find/find.html"
PEOPLE = ("find-people", "palette-people")
PARTS = ("find-results", "palette-list", *PEOPLE, "dialogs")
WORDS_KEPT = 200
PEOPLE_FROM = 2
"""People are searched from this many characters on: a call for every first letter is too much."""


@require_GET
def find(request: Request) -> HttpResponse:
    """Find `?q=` among what was seen here, and people in a part of their own.

    Where it is the id of exactly one thing, the page is left for that thing.
    """
    # PostgreSQL takes no NUL in a text.
    words = request.GET.get("q", "").replace("\0", "")[:WORDS_KEPT].strip()
    if request.htmx.target == "dialogs":
        return render_part(request, TEMPLATE, {}, parts=PARTS)
    if request.htmx.target in PEOPLE:
        return render_part(request, TEMPLATE, _people(words), parts=PARTS)
    exact = exact_hits(words) if words else []
    if len(exact) == 1 and request.htmx.target not in PARTS:
        return redirect(exact[0].address)
    rights = Rights(may(request, PUBLISH), may(request, CREATE_PAGE))
    groups = (
        found_groups(words, exact, rights)
        if words
        else groups_to_begin_with(preferences_of(request.user).pins, recent_visits(request), rights)
    )
    context = {
        "words": words,
        "groups": groups,
        "asks_people": len(words) >= PEOPLE_FROM,
        "coverage": pages_coverage(),
    }
    return render_part(request, TEMPLATE, context, parts=PARTS)


def _people(words: str) -> dict[str, Any]:
    """Return the people the service finds now, or why it did not say."""
    if len(words) < PEOPLE_FROM:
        return {"words": words, "people": []}
    try:
        found = read_people(words=words, limit=A_GROUP)
    except APIError as error:
        return {"words": words, "people_error": error}
    return {"words": words, "people": person_hits(found.items), "people_total": found.total_count}
