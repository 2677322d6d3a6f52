"""Pages: the list, and one page with its audiences."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url, reswap, retarget

from dashboard.client import APIError, InvalidRequestError, NotFoundError
from dashboard.contract.audiences import Audience
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem
from dashboard.itself import Itself
from dashboard.ledger.queries.operations import publishes_of_page
from dashboard.ledger.queries.pages import Coverage, Tally, everything_counted, pages_coverage
from dashboard.web.addresses import address_of
from dashboard.web.asked import count_in
from dashboard.web.audience_rows import (
    AudienceQuery,
    AudienceView,
    audience_table,
    last_outcomes,
)
from dashboard.web.http import Request, render_part, wants_part
from dashboard.web.page_filters import PageFilters, standing_choices
from dashboard.web.page_lists import (
    PageQuery,
    PageRows,
    Progress,
    Stretch,
    drawable,
    listed,
    read_on,
    rows_as_seen,
)
from dashboard.web.page_parts import curl_line, page_body
from dashboard.web.parallel import started
from dashboard.web.permissions import PUBLISH, may
from dashboard.web.readings import Reading, read_audiences, read_page
from dashboard.web.service import publishing_client

LIST = "pages/list.html"


@require_GET
def page_list(request: Request) -> HttpResponse:
    """List pages: live by `?cursor=`, or those seen here by `?q= status= type= standing= sort=`.

    `show=` is how many rows, where more than a part of them were shown before.
    """
    query, stretch = PageQuery.of(request.GET), Stretch.of(request.GET)
    if request.htmx.target == "f-standing":
        counts = {"filters": {"standings": standing_choices(query, counted=True)}}
        return render_part(request, LIST, counts, parts=("f-standing",))
    if "read" in request.GET:
        return _read_the_rest(request, query)
    if not query.is_plain:
        return _show(request, _seen(query, stretch))
    try:
        reading = listed(stretch)
    except (InvalidRequestError, NotFoundError):
        if stretch.is_first_part:
            raise
        start = _context(query, listed(Stretch()), restarted=True)
        return _show_all_results(request, start) if request.htmx else _show(request, start)
    return _show(request, _context(query, reading))


def _read_the_rest(request: Request, query: PageQuery) -> HttpResponse:
    """Read one more part of the whole list; the page asks on until all of it is known."""
    progress = read_on(request.GET.get("cursor", ""), done=count_in(request.GET.get("read", "")))
    is_done = not (progress.goes_on or progress.error)
    context = _seen(query, Stretch(), progress=None if is_done else progress)
    if not is_done:
        return _show(request, context)
    return (
        _show_all_results(request, context) if request.htmx else redirect(context["whole_address"])
    )


def _seen(
    query: PageQuery, stretch: Stretch, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Return the context of a list answered from what was seen here."""
    tally = query.tally()
    coverage = pages_coverage()
    total = tally.total(query.statuses, query.types)
    rows = rows_as_seen(query, stretch, total=total)
    reading = Reading(rows, coverage.as_of or timezone.now())
    return _context(query, reading, counted=(tally, coverage), progress=progress)


def _context(
    query: PageQuery,
    reading: Reading[PageRows],
    *,
    counted: tuple[Tally, Coverage] | None = None,
    progress: Progress | None = None,
    restarted: bool = False,
) -> dict[str, Any]:
    done, cursor = (progress.done, progress.cursor) if progress else (0, "")
    tally, coverage = counted or everything_counted()
    return {
        "here": "pages",
        "query": query,
        "whole_address": reverse("page-list") + query.address().removesuffix("?"),
        "read_address": query.address(read=done, cursor=cursor),
        "reading": reading,
        "rows": reading.value,
        "drawable": drawable(reading.value.items),
        "coverage": coverage,
        "filters": PageFilters.over(query, tally),
        "progress": progress,
        "restarted": restarted,
    }


def _show(request: Request, context: dict[str, Any]) -> HttpResponse:
    foot = context["rows"].foot(context["query"], are_added=request.htmx.target == "rows")
    parts = ("results", "rows", "coverage")
    response = render_part(request, LIST, context | {"foot": foot}, parts=parts)
    if request.htmx.target == "results":
        # A form sends its empty fields too; the address is to be one worth keeping.
        return replace_url(response, context["whole_address"])
    if request.htmx.target == "rows":
        return replace_url(response, _address_of_all_shown(request, context))
    return response


def _address_of_all_shown(request: Request, context: dict[str, Any]) -> str:
    """Return the address that shows the rows there were and those added: Back leads to them."""
    shown = urlsplit(request.htmx.current_url_abs_path or "").query
    stretch = Stretch.of(QueryDict(shown)).grown(Stretch.of(request.GET), context["rows"].shown)
    return f"{address_of('page-list')}{context['query'].address(**stretch.said)}"


def _show_all_results(request: Request, context: dict[str, Any]) -> HttpResponse:
    """Answer with all results, where htmx asked for a smaller part of them."""
    foot = context["rows"].foot(context["query"], are_added=False)
    response = render(request, f"{LIST}#results", context | {"foot": foot})
    return reswap(retarget(response, "#results"), "outerHTML")


@require_GET
def page_detail(request: Request, page_id: str) -> HttpResponse:
    """Show one page with all it has, and its audiences by `?q= status= standing= sort= show=`.

    The audiences alone ask for no page but where the service does not list them: whether there is
    such a page at all is then the page's to say.
    """
    client, asked_at = publishing_client(), timezone.now()
    listing = started(lambda: client.audiences.list(page_id))
    parts = ("audience-results",)
    is_whole = not wants_part(request, parts)
    page = _page_context(request, read_page(page_id)) if is_whole else {}
    query = AudienceQuery.of(request.GET)
    try:
        found = read_audiences(page_id, listing=listing, asked_at=asked_at)
        audiences = _audiences_context(request, page_id, found, query)
    except APIError as error:
        audiences = {"audiences_error": error, "are_live": False}
    if not (is_whole or audiences["are_live"]):
        page = _page_context(request, read_page(page_id))
    response = render_part(request, "pages/detail.html", page | audiences, parts=parts)
    if is_whole:
        return response
    # What was chosen is there after a reload, and when one comes back.
    address = reverse("page-detail", args=[page_id])
    return replace_url(response, address + query.address.removesuffix("?"))


def _page_context(request: Request, reading: Reading[PageItem]) -> dict[str, Any]:
    page = reading.value
    service = settings.SERVICE_URL or request.build_absolute_uri("/")
    return {
        "here": "pages",
        "reading": reading,
        "page": page,
        "body": page_body(Itself(page), curl_line(service, "pages", page.page_id)),
    }


def _audiences_context(
    request: Request,
    page_id: str,
    audiences: Reading[ListEnvelope[Audience]],
    query: AudienceQuery,
) -> dict[str, Any]:
    """Return the table of audiences."""
    view = AudienceView(
        page_id=page_id,
        address=request.path,
        query=query,
        may_publish=may(request, PUBLISH),
        is_held_back=audiences.error is not None,
        last_publishes=last_outcomes(publishes_of_page(page_id)),
    )
    return {
        "audiences": audiences,
        "are_live": audiences.is_live,
        "table": audience_table(audiences.value, view),
    }
