"""People: list, live search, open person and CSV export.

This is personal data. It is read from the service each time, and neither cached nor stored.
"""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from django_htmx.http import push_url, replace_url, reswap, retarget

from dashboard.client import APIError
from dashboard.service.reading import read_people
from dashboard.web.lists.saved_views import opens_saved_views
from dashboard.web.lists.state import ListState, open_list
from dashboard.web.people.listing import (
    EXPORT_PAGE_SIZE,
    exported_people,
    open_person,
    read_people_list,
)
from dashboard.web.people.query import PEOPLE, PeopleQuery
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.failures import explain
from dashboard.web.ui.htmx import Request, block_name, render_partial
from dashboard.web.ui.query_params import browser_query

LIST = "people/list.html"
PARTS = ("results", "rows", "person")
# Partial that shows the error, by the target of the request.
ERROR_PARTIALS = {"results": "results", "rows": "list-pagination", "person": "person"}


@require_GET
@never_cache
@opens_saved_views(PEOPLE)
def people_list(request: Request) -> HttpResponse:
    """List or search people by `?q= cursor= columns=`. `?person=` opens one of them."""
    query = PeopleQuery.of(open_list(request, PEOPLE), request.GET)
    try:
        people = read_people_list(query)
    except APIError as error:
        return _show_failure(request, query, error)
    opened = open_person(people) if people.query.is_open else None
    context = {
        "here": "people",
        "state": people.query.state,
        "query": people.query,
        "people": people,
        "failure": None,
        "opened": opened,
        "shows_person": people.query.is_open,
    }
    if people.is_restarted and request.htmx.target in ("rows", "person"):
        response = _show_in(request, "results", context | {"updates_toolbar": True})
        return _with_browser_url(request, people.query, response)
    context["updates_toolbar"] = request.htmx.target == "results"
    response = render_partial(request, LIST, context, parts=PARTS)
    if request.htmx.target == "rows":
        grown = _browser_people_query(request).grown(people.query, people.loaded_count)
        return replace_url(response, grown.url)
    return _with_browser_url(request, _shown_query(query), response)


@require_GET
def people_export(request: Request) -> StreamingHttpResponse:
    """Export the people who match `?q=`, or everyone, as CSV.

    Raises APIError if the first page can't be read.
    """
    words = ListState.parse(PEOPLE, request.GET).words
    first = read_people(words=words, limit=EXPORT_PAGE_SIZE)
    rows = exported_people(words, first)
    return csv_response(f"people-{timezone.localdate():%Y-%m-%d}.csv", PEOPLE.cells, rows)


def _shown_query(query: PeopleQuery) -> PeopleQuery:
    """Return the query for the browser's URL. It has the hint of a view only if needed."""
    saved = query.state.saved
    state = replace(query.state, view=saved.hint if saved.needs_hint else "")
    return replace(query, state=state)


def _show_failure(request: Request, query: PeopleQuery, error: APIError) -> HttpResponse:
    """Render the error in the partial for the target. The search stays as typed."""
    failure = explain(error)
    partial = ERROR_PARTIALS.get(request.htmx.target or "")
    context = {
        "here": "people",
        "state": query.state,
        "query": query,
        "people": None,
        "opened": None,
        "failure": failure,
        "shows_person": partial == "person",
        "updates_toolbar": partial == "results",
    }
    if partial is None or request.htmx.history_restore_request:
        return render_partial(request, LIST, context, status=failure.status)
    response = _show_in(request, partial, context, status=failure.status)
    return _with_browser_url(request, _shown_query(query), response)


def _show_in(
    request: Request, partial: str, context: dict[str, Any], **options: Any
) -> HttpResponse:
    """Render a partial other than the target of the request."""
    response = render(request, f"{LIST}#{block_name(partial)}", context, **options)
    return reswap(retarget(response, f"#{partial}"), "outerHTML")


def _with_browser_url(request: Request, query: PeopleQuery, response: HttpResponse) -> HttpResponse:
    """Set the browser's URL to the displayed state.

    Only the first letter of a search and the first open person add to the browser's history. So
    Back undoes the whole search or closes the person.
    """
    if request.htmx.target not in ("results", "person"):
        return response
    list_query = _browser_people_query(request)
    is_step = bool(list_query.words) != bool(query.words)
    if request.htmx.target == "person":
        is_step = not list_query.is_open
        query = query.opened_in(list_query)
    return (push_url if is_step else replace_url)(response, query.url)


def _browser_people_query(request: Request) -> PeopleQuery:
    params = browser_query(request)
    return PeopleQuery.of(ListState.parse(PEOPLE, params), params)
