"""Views of a page: the page with its audiences, and what was live on it at a past moment."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url

from dashboard import clock
from dashboard.client import APIError
from dashboard.ledger.queries.audience_list import AudienceFilters
from dashboard.ledger.queries.pages import page_last_known
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import ReadResult, poll_audiences, read_audiences, read_page
from dashboard.web.audiences.moment import moment_list
from dashboard.web.audiences.progress import any_moving
from dashboard.web.audiences.table import AUDIENCES_OF_PAGE, audience_rows, audience_table
from dashboard.web.lists.state import ListState
from dashboard.web.pages.detail import page_context
from dashboard.web.ui.htmx import (
    Request,
    is_moving,
    is_refresh,
    keys_on_screen,
    render_partial,
    wants_partial,
)
from dashboard.web.ui.query_params import PastMoment, int_param, past_moment, search_param


@require_GET
def page_detail(request: Request, page_id: str) -> HttpResponse:
    """Show a page, and its audiences by `?q= status= flag= sort= show=`.

    The partial with the audiences fetches the page only if reading the audiences failed, to find
    out whether the page exists. `?at=` shows what was live at that moment.
    """
    if at := past_moment(request.GET.get("at", ""), now=clock.now()):
        return _show_moment(request, page_id, at)
    if wants_partial(request, ("page-head",)) and (record := page_last_known(page_id)):
        # The change that caused this request is in the ledger already.
        context = page_context(request, ReadResult(record.page, record.last_seen_at))
        return render_partial(request, "pages/detail.html", context, parts=("page-head",))
    client, read_at, listing = publishing_client(), clock.now(), None
    if not is_refresh(request):
        listing = run_concurrently(lambda: client.audiences.list(page_id))
    parts = ("audience-results", "all-matching")
    is_whole = not wants_partial(request, parts)
    page = page_context(request, read_page(page_id, read_at=read_at)) if is_whole else {}
    state = ListState.parse(AUDIENCES_OF_PAGE, request.GET)
    try:
        reading = (
            read_audiences(page_id, listing=listing, read_at=read_at)
            if listing
            else poll_audiences(page_id, is_moving=is_moving(request))
        )
    except APIError as error:
        audiences: dict[str, Any] = {
            "audiences_error": error,
            "are_live": False,
            "audiences": None,
            "table": None,
            "is_moving": False,
            "selected": [],
            "page_id": page_id,
        }
    else:
        rows = audience_rows(page_id, reading.value.items, page=page.get("page"))
        table = audience_table(reading.value, rows, state)
        keys = {*keys_on_screen(request, "audience-")} - {row.key for row in table.rows}
        left = [row for row in rows if row.key in keys]
        audiences = {
            "audiences": reading,
            "audiences_error": None,
            "are_live": reading.is_live,
            "table": table,
            "page_id": page_id,
            "selected": [(page_id, row.audience_id) for row in table.rows if row.audience_id],
            "left": left,
            "is_moving": any_moving([*table.rows, *left]),
        }
    if not (is_whole or audiences["are_live"]):
        page = page_context(request, read_page(page_id))
    response = render_partial(request, "pages/detail.html", page | audiences, parts=parts)
    if is_whole or request.htmx.target == "all-matching":
        return response
    # Keep the filters in the URL for a reload and for Back.
    url = reverse("page-detail", args=[page_id])
    return replace_url(response, url + state.url().removesuffix("?"))


def _show_moment(request: Request, page_id: str, at: PastMoment) -> HttpResponse:
    """Show what was live at a moment, from the ledger. Makes no call to the service."""
    record = page_last_known(page_id)
    if record is None:
        raise Http404
    filters = AudienceFilters(words=search_param(request.GET), pages=(page_id,))
    start = int_param(request.GET.get("after", ""))
    context = {"here": "pages", "record": record, "list": moment_list(at, filters, start=start)}
    return render(request, "pages/at.html", context)
