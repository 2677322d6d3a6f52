"""Views of the page list and its export."""

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET

from dashboard.client import InvalidRequestError, NotFoundError
from dashboard.web.lists.saved_views import opens_saved_views
from dashboard.web.lists.state import ListState, open_list
from dashboard.web.lists.window import render_all_results, render_list
from dashboard.web.pages.filters import FLAG, PAGES, flag_options
from dashboard.web.pages.listing import (
    exported_pages,
    is_plain,
    ledger_context,
    list_context,
    load_next_batch,
    read_window,
)
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.query_params import int_param

LIST = "pages/list.html"


@require_GET
@opens_saved_views(PAGES)
def page_list(request: Request) -> HttpResponse:
    """List pages, live by `?cursor=` or from the ledger by `?q= status= type= flag= sort=`.

    `?show=` is the number of rows, if more than the default were loaded. `?columns=` chooses the
    columns.
    """
    state = open_list(request, PAGES)
    if request.htmx.target == "f-flag":
        menu = {"options": {FLAG.param: flag_options(state, counted=True)}}
        return render_partial(request, LIST, menu, parts=("f-flag",))
    if "read" in request.GET:
        return _load_next_batch(request, state)
    if not is_plain(state):
        return _show(request, ledger_context(state))
    try:
        reading, counts = read_window(state)
    except (InvalidRequestError, NotFoundError):
        if state.is_at_start:
            raise
        state = state.from_start
        reading, counts = read_window(state)
        context = list_context(state, reading, counts, restarted=True)
        if request.htmx:
            return render_all_results(request, LIST, context)
        return _show(request, context)
    return _show(request, list_context(state, reading, counts))


@require_GET
def page_export(request: Request) -> StreamingHttpResponse:
    rows = exported_pages(ListState.parse(PAGES, request.GET))
    return csv_response(f"pages-{timezone.localdate():%Y-%m-%d}.csv", PAGES.cells, rows)


def _load_next_batch(request: Request, state: ListState) -> HttpResponse:
    """Load the next batch of the list. The browser repeats this until all pages are loaded."""
    progress = load_next_batch(state.cursor, done=int_param(request.GET.get("read", "")))
    is_done = not (progress.has_more or progress.error)
    context = ledger_context(state.from_start, progress=None if is_done else progress)
    if not is_done:
        return _show(request, context)
    if request.htmx:
        return render_all_results(request, LIST, context)
    return redirect(state.saved.url)


def _show(request: Request, context: dict[str, Any]) -> HttpResponse:
    state, window = context["state"], context["pages"]
    parts = ("results", "rows", "coverage")
    added = window.loaded_count - window.before
    return render_list(request, LIST, context, state=state, added=added, parts=parts)
