"""People: the list, search as one types, one person opened, and all of it as CSV.

They are other people's personal data: read anew each time, kept in no cache and no record.
"""

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from django_htmx.http import push_url, replace_url, reswap, retarget

from dashboard.client import APIError
from dashboard.web import people_export as export
from dashboard.web.csv_export import csv_response
from dashboard.web.http import Request, render_part
from dashboard.web.people_part import OpenPerson, open_person, people_part
from dashboard.web.people_query import PeopleQuery
from dashboard.web.views.errors import explain

LIST = "people/list.html"
PARTS = ("results", "rows", "person")
# Where a part of the page says that it could not be read.
FAILS_IN = {"results": "results", "rows": "list-foot", "person": "person"}


@require_GET
@never_cache
def people_list(request: Request) -> HttpResponse:
    """List or search people by `?q= cursor=`; `person=` opens one of the part that is shown."""
    query = PeopleQuery.of(request.GET)
    try:
        part = people_part(query)
    except APIError as error:
        return _show_failure(request, query, error)
    opened = open_person(part) if part.query.is_open else None
    context = {
        "here": "people",
        "query": part.query,
        "part": part,
        "opened": opened,
        "shows_person": part.query.is_open,
        "keeps_focus": _keeps_focus(request, opened),
    }
    if part.is_restarted and request.htmx.target in ("rows", "person"):
        response = _show_in(request, "results", context | {"brings_all": True})
        return _put_on_record(request, part.query, response)
    context["brings_all"] = request.htmx.target == "results"
    return _put_on_record(request, query, render_part(request, LIST, context, parts=PARTS))


@require_GET
def people_export(request: Request) -> StreamingHttpResponse:
    """Answer everyone who matches `?q=`, or everyone, as CSV. Raises APIError before it begins."""
    words = PeopleQuery.of(request.GET).words
    rows = export.rows(words, export.first_part(words))
    return csv_response(f"people-{timezone.localdate():%Y-%m-%d}.csv", export.COLUMNS, rows)


def _show_failure(request: Request, query: PeopleQuery, error: APIError) -> HttpResponse:
    """Say what failed where it was to be shown; the search stays as it was typed."""
    failure = explain(error)
    part = FAILS_IN.get(request.htmx.target or "")
    context = {
        "here": "people",
        "query": query,
        "failure": failure,
        "shows_person": part == "person",
        "brings_all": part == "results",
    }
    if part is None or request.htmx.history_restore_request:
        return render_part(request, LIST, context, status=failure.status)
    response = _show_in(request, part, context, status=failure.status)
    return _put_on_record(request, query, response)


def _show_in(request: Request, part: str, context: dict[str, Any], **options: Any) -> HttpResponse:
    """Answer with a part of the page other than htmx asked for."""
    response = render(request, f"{LIST}#{part}", context, **options)
    return reswap(retarget(response, f"#{part}"), "outerHTML")


def _put_on_record(request: Request, query: PeopleQuery, response: HttpResponse) -> HttpResponse:
    """Let the browser's address hold what is shown.

    Back undoes all of a search, not letter by letter, and closes whoever is open, not one by one.
    """
    shown = PeopleQuery.of(QueryDict(urlsplit(request.htmx.current_url_abs_path or "").query))
    is_step = {
        "results": bool(shown.words) != bool(query.words),
        "person": not shown.is_open,
    }.get(request.htmx.target or "")
    if is_step is None:
        return response
    return (push_url if is_step else replace_url)(response, query.address)


def _keeps_focus(request: Request, opened: OpenPerson | None) -> bool:
    """Tell whether the arrow that was pressed is there again to be pressed on."""
    arrows = {
        "person-next": opened and opened.next,
        "person-previous": opened and opened.previous,
    }
    return bool(arrows.get(request.htmx.trigger or ""))
