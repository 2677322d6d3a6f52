"""Finding: a page of its own without JavaScript, and what the Ctrl+K palette asks."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from dashboard.client import APIError
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.people import Person
from dashboard.ledger.preferences import preferences_of
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.web.asked import words_in
from dashboard.web.finding import (
    A_GROUP,
    Rights,
    exact_hits,
    found_groups,
    groups_to_begin_with,
    person_hits,
)
from dashboard.web.http import Request, render_part, wants_part
from dashboard.web.parallel import started
from dashboard.web.permissions import CREATE_PAGE, PUBLISH, may
from dashboard.web.readings import read_people
from dashboard.web.recent import recent_visits
from dashboard.web.service_health import is_quick

TEMPLATE = "find/find.html"
PEOPLE = ("find-people", "palette-people")
PARTS = ("find-results", "palette-list", *PEOPLE, "dialogs")
PEOPLE_FROM = 2
"""People are searched from this many characters on: a call for every first letter is too much."""
PEOPLE_WITHIN_S = 0.3
"""How long a page waits for them; after that it comes without, and asks for them when it is there.
Our choice."""


@require_GET
def find(request: Request) -> HttpResponse:
    """Find `?q=` among what was seen here, and people with it.

    They are a part of their own where one types, and where the service is slow. Where `?q=` is the
    id of exactly one thing, the page is left for that thing.
    """
    words = words_in(request.GET)
    if request.htmx.target == "dialogs":
        return render_part(request, TEMPLATE, {}, parts=PARTS)
    if request.htmx.target in PEOPLE:
        nobody: dict[str, Any] = {"words": words, "people": []}
        people = _people(words, _search(words)) if len(words) >= PEOPLE_FROM else nobody
        return render_part(request, TEMPLATE, people, parts=PARTS)
    exact = exact_hits(words) if words else []
    if len(exact) == 1 and request.htmx.target not in PARTS:
        return redirect(exact[0].address)
    asks_people = len(words) >= PEOPLE_FROM
    is_whole = not wants_part(request, PARTS)
    search = started(_search(words)) if is_whole and asks_people and is_quick() else None
    rights = Rights(may(request, PUBLISH), may(request, CREATE_PAGE))
    visits = recent_visits(request)
    groups = (
        found_groups(words, exact, visits, rights)
        if words
        else groups_to_begin_with(preferences_of(request.user).pins, visits, rights)
    )
    context = {
        "words": words,
        "groups": groups,
        "asks_people": asks_people,
        "coverage": pages_coverage(),
    }
    if search:
        with suppress(TimeoutError):
            context |= _people(words, partial(search, timeout=PEOPLE_WITHIN_S))
    return render_part(request, TEMPLATE, context, parts=PARTS)


def _search(words: str) -> Callable[[], ListEnvelope[Person]]:
    return partial(read_people, words=words, limit=A_GROUP)


def _people(words: str, search: Callable[[], ListEnvelope[Person]]) -> dict[str, Any]:
    """Return the people the service finds now, or why it did not say."""
    try:
        found = search()
    except APIError as error:
        return {"words": words, "people_error": error}
    return {"words": words, "people": person_hits(found.items), "people_total": found.total_count}
