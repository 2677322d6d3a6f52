"""The search page, and the partials of the Ctrl+K palette."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from dashboard.client import APIError
from dashboard.contract.people import Person
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.queries.pages import pages_coverage
from dashboard.service.client import run_concurrently
from dashboard.service.health import is_fast
from dashboard.service.reading import read_people
from dashboard.web.search.commands import MAX_GROUP_HITS, command_in
from dashboard.web.search.hits import exact_hits
from dashboard.web.search.results import (
    ResultGroup,
    all_hits,
    initial_groups,
    person_group,
    search_groups,
)
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.query_params import int_param, search_param

TEMPLATE = "search/results.html"
PEOPLE = ("find-people", "palette-people")
PARTS = ("find-results", "palette-list", *PEOPLE, "dialogs")
MIN_PEOPLE_CHARACTERS = 2
"""Minimum length of a search for people. It saves a service call for the first letter."""
PEOPLE_TIMEOUT_S = 0.3
"""How long a page waits for people before it leaves them to htmx. Source: our choice."""


@require_GET
def find(request: Request) -> HttpResponse:
    """Search for `?q=`, or list all hits of one kind with `?all=`.

    During typing, or if the service is slow, people are a partial of their own. If `?q=` is the id
    of exactly one object, redirect to it.
    """
    words = search_param(request.GET)
    if request.htmx.target == "dialogs":
        return _show(request, {})
    if words and request.GET.get("all") in ("audiences", "webhooks"):
        return _all(request, words)
    searches_people = len(words) >= MIN_PEOPLE_CHARACTERS
    if request.htmx.target in PEOPLE:
        none = {"words": words, "people": ResultGroup("People", [])}
        return _show(request, _people(words, _search(words)) if searches_people else none)
    exact = exact_hits(words) if words else []
    if len(exact) == 1 and request.htmx.target not in PARTS:
        return redirect(exact[0].url)
    is_whole = not wants_partial(request, PARTS)
    is_now = is_whole and searches_people and is_fast()
    search = run_concurrently(_search(words)) if is_now else None
    context = {
        "words": words,
        "groups": search_groups(request, words, exact) if words else initial_groups(request),
        "searches_people": searches_people,
        "coverage": pages_coverage(),
    }
    if search:
        with suppress(TimeoutError):
            context |= _people(words, partial(search, timeout=PEOPLE_TIMEOUT_S))
    return _show(request, context)


def _show(request: Request, context: dict[str, Any]) -> HttpResponse:
    optional = {
        "result_page": None,
        "people": None,
        "people_error": None,
        "searches_people": False,
        "command": command_in(context.get("words", "")),
    }
    return render_partial(request, TEMPLATE, optional | context, parts=PARTS)


def _all(request: Request, words: str) -> HttpResponse:
    """List one page of all matching audiences or webhooks, from `?start=`."""
    kind = request.GET["all"]
    result_page = all_hits(kind, words, int_param(request.GET.get("start", "")))
    context = {
        "words": words,
        "groups": [result_page.group],
        "result_page": result_page,
        "kind": kind,
        "coverage": pages_coverage(),
    }
    return _show(request, context)


def _search(words: str) -> Callable[[], ListEnvelope[Person]]:
    return partial(read_people, words=words, limit=MAX_GROUP_HITS)


def _people(words: str, search: Callable[[], ListEnvelope[Person]]) -> dict[str, Any]:
    try:
        people = search()
    except APIError as error:
        return {"words": words, "people_error": error}
    return {"words": words, "people": person_group(people, words)}
