"""Views of the list of all audiences: its parts, its export, and loading the rest."""

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from dashboard import clock
from dashboard.releases.models import MAX_ITEMS
from dashboard.web.audiences.filters import AUDIENCES, PAGE, filter_options, filters_of, page_filter
from dashboard.web.audiences.listing import (
    exported_audiences,
    list_context,
    matching_audiences,
    read_in_progress,
)
from dashboard.web.audiences.loading import LoadStep, load_next_batch
from dashboard.web.audiences.moment import EXPORT, exported_publications, moment_list
from dashboard.web.audiences.progress import any_moving
from dashboard.web.lists.saved_views import opens_saved_views
from dashboard.web.lists.state import ListState, open_list
from dashboard.web.lists.window import render_all_results, render_list
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, is_moving, render_partial
from dashboard.web.ui.query_params import past_moment, search_param
from dashboard.web.ui.urls import cached_reverse

LIST = "audiences/list.html"


@require_GET
@opens_saved_views(AUDIENCES)
def audience_list(request: Request) -> HttpResponse:
    """List the audiences of all pages, by `?q= page= live= status= agent= sort= show=`.

    `?columns=` chooses the columns. `?at=` lists what was live at that moment. Nothing is requested
    from the service, except when an open list refreshes rows in progress.
    """
    if at := past_moment(request.GET.get("at", ""), now=clock.now()):
        state = ListState.parse(AUDIENCES, request.GET, request.user)
        moment = moment_list(at, filters_of(state), start=state.start)
        return render(request, "audiences/list_at.html", {"here": "audiences", "list": moment})
    state = open_list(request, AUDIENCES)
    match request.htmx.target if request.htmx else None:
        case "f-page":
            menu = {"page_options": page_filter(state, search_param(request.GET, "find"))}
            return render_partial(request, LIST, menu, parts=("f-page",))
        case "all-matching":
            selected = {"selected": matching_audiences(request.GET, request.user)[:MAX_ITEMS]}
            return render_partial(request, LIST, selected, parts=("all-matching",))
    context = _context(request, state)
    added = context["rows"].loaded_count - context["rows"].before
    parts = ("results", "rows")
    return render_list(request, LIST, context, state=state, added=added, parts=parts)


@require_GET
def audience_export(request: Request) -> StreamingHttpResponse:
    state = ListState.parse(AUDIENCES, request.GET, request.user)
    if at := past_moment(request.GET.get("at", ""), now=clock.now()):
        name = f"audiences-live-{at.moment or clock.now():%Y-%m-%d-%H%M}.csv"
        return csv_response(name, EXPORT, exported_publications(at, filters_of(state)))
    rows = exported_audiences(state)
    return csv_response(f"audiences-{timezone.localdate():%Y-%m-%d}.csv", AUDIENCES.cells, rows)


@require_POST
def audience_load(request: Request) -> HttpResponse:
    """Load a batch of audiences that weren't read yet. The browser repeats this until done.

    The query string is the list's, plus the step reached so far.
    """
    state = open_list(request, AUDIENCES)
    step = load_next_batch(LoadStep.from_params(request.GET) or LoadStep())
    if not request.htmx:
        more = {} if step.is_done else step.params
        return redirect(cached_reverse("audience-list") + state.url(**more).removesuffix("?"))
    context = _context(request, state) | {"step": step}
    if not step.is_done:
        return render_partial(request, LIST, context, parts=("coverage",))
    return render_all_results(request, LIST, context)


def _context(request: Request, state: ListState) -> dict[str, Any]:
    find = search_param(request.GET, "find")
    options = page_filter(state, find) if find or state.values(PAGE) else []
    context = list_context(request, state)
    rows = [*context["listed"].values(), *context["left"]]
    if is_moving(request) and read_in_progress(rows):
        context = list_context(request, state)
        rows = [*context["listed"].values(), *context["left"]]
    return context | {
        "here": "audiences",
        "state": state,
        "list_url": state.saved.url,
        "data_as_of": min(
            (row.last_seen_at for row in context["rows"].items), default=context["coverage"].as_of
        ),
        "options": filter_options(state, context["tally"]),
        "page_options": options,
        "page_names": {option.page_id: option.name for option in options},
        "is_moving": any_moving(rows),
        "step": LoadStep.from_params(request.GET),
        "max_selected": MAX_ITEMS,
        "are_added": False,
    }
