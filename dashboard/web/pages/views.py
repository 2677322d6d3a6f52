"""Views of the page list, its export, and one page with its audiences."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url, reswap, retarget

from dashboard.accounts.sessions import absolute_url
from dashboard.client import APIError, InvalidRequestError, NotFoundError
from dashboard.contract.audiences import Audience
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.queries.audiences import versions_in_progress
from dashboard.ledger.queries.operations import publishes_of_page, troubled_pages
from dashboard.ledger.queries.pages import is_page_archived, pages_coverage, tally_pages
from dashboard.operations.publish_progress import POLLING_PERIOD
from dashboard.releases.queries import planned_publishes
from dashboard.service.client import publishing_client
from dashboard.service.concurrency import run_concurrently
from dashboard.service.reading import ReadResult, poll_audiences, read_audiences, read_page
from dashboard.web.audiences.polling import next_poll, row_poll
from dashboard.web.audiences.table import (
    AudienceQuery,
    AudienceRow,
    audience_rows,
    audience_table,
)
from dashboard.web.pages import export
from dashboard.web.pages.detail import PageBody, curl_command, search_result, social_card
from dashboard.web.pages.filters import KNOWN_VALUES, flag_options, page_filters
from dashboard.web.pages.listing import (
    COLUMNS,
    ListWindow,
    LoadProgress,
    PageCounts,
    PageQuery,
    PageRows,
    ledger_rows,
    load_next_batch,
    read_window,
)
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.load_more import params_for_all_rows
from dashboard.web.ui.query_params import int_param
from dashboard.web.ui.saved_views import ListViews, opens_saved_views, views_of_list
from dashboard.web.ui.urls import cached_reverse

LIST = "pages/list.html"


@require_GET
@opens_saved_views(ListName.PAGES, COLUMNS)
def page_list(request: Request) -> HttpResponse:
    """List pages: live by `?cursor=`, or from the ledger by `?q= status= type= flag= sort=`.

    `show=` is the number of rows, if more than the default were loaded before; `columns=` are
    those of the table.
    """
    saved = views_of_list(request, ListName.PAGES, KNOWN_VALUES, COLUMNS)
    query = replace(PageQuery.from_params(saved.params), view=saved.hint)
    window = ListWindow.from_params(request.GET)
    if request.htmx.target == "f-flag":
        menu = {"filters": {"flags": flag_options(query, counted=True)}}
        return render_partial(request, LIST, menu, parts=("f-flag",))
    if "read" in request.GET:
        return _load_next_batch(request, query, saved)
    if not query.is_plain:
        return _show(request, _ledger_context(query, window), saved)
    try:
        reading, counts = read_window(query, window)
    except (InvalidRequestError, NotFoundError):
        if window.is_default:
            raise
        reading, counts = read_window(query, ListWindow())
        context = _list_context(query, reading, counts, restarted=True)
        show = _show_all_results if request.htmx else _show
        return show(request, context, saved)
    return _show(request, _list_context(query, reading, counts), saved)


@require_GET
def page_export(request: Request) -> StreamingHttpResponse:
    """Export all known pages that match `?q= status= type= flag= sort=` as CSV."""
    rows = export.rows(PageQuery.from_params(request.GET))
    return csv_response(f"pages-{timezone.localdate():%Y-%m-%d}.csv", export.COLUMNS, rows)


def _load_next_batch(request: Request, query: PageQuery, saved: ListViews) -> HttpResponse:
    """Load one more batch of the whole list; the browser repeats this until all are loaded."""
    progress = load_next_batch(
        request.GET.get("cursor", ""), done=int_param(request.GET.get("read", ""))
    )
    is_done = not (progress.has_more or progress.error)
    context = _ledger_context(query, ListWindow(), progress=None if is_done else progress)
    if not is_done:
        return _show(request, context, saved)
    if request.htmx:
        return _show_all_results(request, context, saved)
    return redirect(saved.url)


def _ledger_context(
    query: PageQuery, window: ListWindow, *, progress: LoadProgress | None = None
) -> dict[str, Any]:
    """Return the context of a list from the ledger."""
    tally, coverage = tally_pages(words=query.words, flags=query.flags), pages_coverage()
    rows = ledger_rows(query, window, total=tally.total(query.statuses, query.types))
    reading = ReadResult(rows, coverage.as_of or timezone.now())
    return _list_context(query, reading, (tally, coverage), progress=progress)


def _list_context(
    query: PageQuery,
    reading: ReadResult[PageRows],
    counts: PageCounts,
    *,
    progress: LoadProgress | None = None,
    restarted: bool = False,
) -> dict[str, Any]:
    done, cursor = (progress.done, progress.cursor) if progress else (0, "")
    tally, coverage = counts
    return {
        "here": "pages",
        "query": query,
        "ordered": replace(query, sort=reading.value.sort),
        "load_url": query.url(read=done, cursor=cursor),
        "reading": reading,
        "pages": reading.value,
        "failed_publishes": troubled_pages([page.page_id for page in reading.value.items]),
        "coverage": coverage,
        "filters": page_filters(query, tally),
        "progress": progress,
        "restarted": restarted,
    }


def _show(request: Request, context: dict[str, Any], saved: ListViews) -> HttpResponse:
    target, query, pages = request.htmx.target, context["query"], context["pages"]
    context |= {"are_added": target == "rows", "saved": saved}
    parts = ("results", "rows", "coverage")
    response = render_partial(request, LIST, context, parts=parts)
    if target == "results":
        # A form sends its empty fields too: show the URL without them.
        return replace_url(response, saved.url)
    if target == "rows":
        # All rows loaded so far, for Back and a reload.
        shown = params_for_all_rows(request, ("cursor", "after"), pages.shown - pages.before)
        return replace_url(response, f"{cached_reverse('page-list')}{query.url(**shown)}")
    return response


def _show_all_results(request: Request, context: dict[str, Any], saved: ListViews) -> HttpResponse:
    """Return all results, even if htmx requested a smaller partial."""
    context |= {"are_added": False, "saved": saved}
    response = render(request, f"{LIST}#results", context)
    return reswap(retarget(response, "#results"), "outerHTML")


@require_GET
def page_detail(request: Request, page_id: str) -> HttpResponse:
    """Show one page, and its audiences by `?q= status= flag= sort= show=`.

    The partial of the audiences fetches the page only if the service does not list them, to find
    out whether the page exists. While a version is in progress, the browser polls the partial
    "row-poll"; `?rows=` is the state of the rows it shows.
    """
    if wants_partial(request, ("row-poll",)):
        return _poll_rows(request, page_id)
    client, read_at = publishing_client(), timezone.now()
    listing = run_concurrently(lambda: client.audiences.list(page_id))
    parts = ("audience-results", "all-matching")
    is_whole = not wants_partial(request, parts)
    page = _page_context(request, read_page(page_id, read_at=read_at)) if is_whole else {}
    query = AudienceQuery.from_params(request.GET)
    try:
        found = read_audiences(page_id, listing=listing, read_at=read_at)
        audiences = _audiences_context(page_id, found, query, page.get("page"))
    except APIError as error:
        audiences = {
            "audiences_error": error,
            "are_live": False,
            "audiences": None,
            "table": None,
            "selected": [],
        }
    if not (is_whole or audiences["are_live"]):
        page = _page_context(request, read_page(page_id))
    response = render_partial(request, "pages/detail.html", page | audiences, parts=parts)
    if is_whole or request.htmx.target == "all-matching":
        return response
    # The filters survive a reload and Back.
    url = reverse("page-detail", args=[page_id])
    return replace_url(response, url + query.url.removesuffix("?"))


def _page_context(request: Request, reading: ReadResult[PageItem]) -> dict[str, Any]:
    page = reading.value
    service = settings.SERVICE_URL or absolute_url(request, "/")
    return {
        "here": "pages",
        "reading": reading,
        "page": page,
        "body": PageBody(page, curl_command(service, "pages", page.page_id)),
        "search_result": search_result(page.metadata, title=page.title),
        "social_card": social_card(page.metadata, title=page.title),
    }


def _audiences_context(
    page_id: str,
    audiences: ReadResult[ListEnvelope[Audience]],
    query: AudienceQuery,
    page: PageItem | None,
) -> dict[str, Any]:
    """Return the context of the audience table."""
    found, now = audiences.value, timezone.now()
    table = audience_table(found, _audience_rows(page_id, found.items, page), query)
    in_progress = _in_progress(page_id, table.rows, now)
    return {
        "audiences": audiences,
        "audiences_error": None,
        "are_live": audiences.is_live,
        "table": table,
        "page_id": page_id,
        "selected": [(page_id, row.audience_id) for row in table.rows if row.audience_id],
        "row_poll": row_poll(table.rows, in_progress, now=now),
    }


def _poll_rows(request: Request, page_id: str) -> HttpResponse:
    """Return the audience rows that have changed, and the next poll."""
    context: dict[str, Any] = {"row_poll": None}
    try:
        audiences = poll_audiences(page_id)
    except APIError as error:
        context["poll_error"] = error
    else:
        now = timezone.now()
        context["poll_error"] = audiences.error
        rows = _audience_rows(page_id, audiences.value.items)
        context["row_poll"] = next_poll(
            rows,
            _in_progress(page_id, rows, now),
            shown=request.GET.get("rows", ""),
            polls=int_param(request.GET.get("polls", "")),
            now=now,
        )
    return render_partial(request, "pages/detail.html", context, parts=("row-poll",))


def _in_progress(page_id: str, rows: list[AudienceRow], now: datetime) -> dict[str, datetime]:
    """Return the keys of rows with a version seen in progress lately, and when."""
    seen = versions_in_progress(page_id, now - POLLING_PERIOD)
    return {row.key: seen[row.audience_id] for row in rows if row.audience_id in seen}


def _audience_rows(
    page_id: str, audiences: list[Audience], page: PageItem | None = None
) -> list[AudienceRow]:
    is_archived = page.status == PageStatus.ARCHIVED if page else is_page_archived(page_id)
    publishes = publishes_of_page(page_id)
    return audience_rows(
        page_id,
        audiences,
        is_page_archived=is_archived,
        publishes=publishes,
        planned=planned_publishes([page_id]),
    )
