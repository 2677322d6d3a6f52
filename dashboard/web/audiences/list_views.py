"""Views of the list of all audiences: its parts, its export, and loading the rest."""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import replace_url, reswap, retarget

from dashboard.ledger.models.saved_views import ListName
from dashboard.releases.models import MAX_ITEMS
from dashboard.web.audiences import export
from dashboard.web.audiences.filters import (
    COLUMNS,
    KNOWN_VALUES,
    AudienceListQuery,
    list_filters,
    page_filter,
)
from dashboard.web.audiences.listing import list_context, list_poll, poll_rows
from dashboard.web.audiences.loading import LoadStep, load_next_batch
from dashboard.web.audiences.selection import matching_audiences
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.load_more import params_for_all_rows, size_param
from dashboard.web.ui.query_params import int_param, search_param
from dashboard.web.ui.saved_views import ListViews, opens_saved_views, views_of_list
from dashboard.web.ui.urls import cached_reverse

LIST = "audiences/list.html"


@require_GET
@opens_saved_views(ListName.AUDIENCES, COLUMNS)
def audience_list(request: Request) -> HttpResponse:
    """List the audiences seen on any page, by `?q= page= live= status= agent= sort= show=`.

    `columns=` are those of the table.
    Nothing is requested from the service, except by the poll of rows in progress: `?rows=` is
    their state as shown.
    """
    saved = views_of_list(request, ListName.AUDIENCES, KNOWN_VALUES, COLUMNS)
    query = replace(AudienceListQuery.from_params(saved.params), view=saved.hint)
    match request.htmx.target if request.htmx else None:
        case "f-page":
            menu = {"page_options": page_filter(query, search_param(request.GET, "find"))}
            return render_partial(request, LIST, menu, parts=("f-page",))
        case "all-matching":
            selected = {"selected": matching_audiences(request.GET)[:MAX_ITEMS]}
            return render_partial(request, LIST, selected, parts=("all-matching",))
    if "rows" in request.GET and request.htmx:
        return _poll(request)
    return _show(request, query, saved)


@require_GET
def audience_export(request: Request) -> StreamingHttpResponse:
    """Export all known audiences that match the query string of the list as CSV."""
    rows = export.rows(AudienceListQuery.from_params(request.GET))
    return csv_response(f"audiences-{timezone.localdate():%Y-%m-%d}.csv", export.COLUMNS, rows)


@require_POST
def audience_load(request: Request) -> HttpResponse:
    """Load a batch of what was not read yet; the browser repeats this until all is loaded.

    The query string is the list's, with the step that was reached before.
    """
    saved = views_of_list(request, ListName.AUDIENCES, KNOWN_VALUES, COLUMNS)
    query = AudienceListQuery.from_params(saved.params)
    step = load_next_batch(LoadStep.from_params(request.GET) or LoadStep())
    if not request.htmx:
        more = {} if step.is_done else step.params
        return redirect(cached_reverse("audience-list") + query.url(**more).removesuffix("?"))
    context = _context(request, query, saved) | {"step": step}
    if not step.is_done:
        return render_partial(request, LIST, context, parts=("coverage",))
    response = render(request, f"{LIST}#results", context)
    return reswap(retarget(response, "#results"), "outerHTML")


def _show(request: Request, query: AudienceListQuery, saved: ListViews) -> HttpResponse:
    context = _context(request, query, saved)
    target, rows = request.htmx.target, context["rows"]
    context["are_added"] = target == "rows"
    response = render_partial(request, LIST, context, parts=("results", "rows"))
    if target == "results":
        # A form sends its empty fields too: show the URL without them.
        return replace_url(response, saved.url)
    if target == "rows":
        # All rows loaded so far, for Back and a reload.
        shown = params_for_all_rows(request, ("after",), rows.shown - rows.before)
        return replace_url(response, cached_reverse("audience-list") + query.url(**shown))
    return response


def _context(request: Request, query: AudienceListQuery, saved: ListViews) -> dict[str, Any]:
    find = search_param(request.GET, "find")
    options = page_filter(query, find) if find or query.filters.pages else []
    start, size = int_param(request.GET.get("after", "")), size_param(request.GET)
    context = list_context(query, start=start, size=size)
    return context | {
        "here": "audiences",
        "query": query,
        "saved": saved,
        "list_url": saved.url,
        "data_as_of": min(
            (row.last_seen_at for row in context["rows"].items), default=context["coverage"].as_of
        ),
        "filters": list_filters(query, context["tally"]),
        "page_options": options,
        "page_names": {option.page_id: option.name for option in options},
        "row_poll": list_poll(context["rows"].items),
        "step": LoadStep.from_params(request.GET),
        "max_selected": MAX_ITEMS,
        "are_added": False,
    }


def _poll(request: Request) -> HttpResponse:
    """Return the rows that have changed, and the next poll of those that were shown together."""
    params = request.GET
    row_poll, error = poll_rows(params["rows"], int_param(params.get("polls", "")))
    context = {
        "query": AudienceListQuery.from_params(params),
        "row_poll": row_poll,
        "poll_error": error,
        "poll_id": int_param(params.get("part", "")),
    }
    response = render(request, f"{LIST}#row_poll", context)
    patch_vary_headers(response, ["HX-Target", "HX-Request"])
    return response
