"""The page of an audience."""

from contextlib import suppress
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dashboard import clock
from dashboard.client import APIError
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.ledger.queries.pages import page_last_known
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import poll_audience, poll_audiences, read_audience, read_page
from dashboard.web.audiences.fields import linked_actions, metadata_rows, not_returned, overrides_of
from dashboard.web.audiences.live import live_view
from dashboard.web.audiences.moment import live_at
from dashboard.web.audiences.progress import version_in_progress
from dashboard.web.audiences.state import AudienceHead, head_last_known, head_of
from dashboard.web.ui.htmx import Request, is_moving, is_refresh, render_partial, wants_partial
from dashboard.web.ui.query_params import PastMoment, past_moment
from dashboard.webhooks.receiver import last_publish_delivery


@require_GET
def audience_detail(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show an audience. `?metadata=` selects fields that are `set`, that `differ`, or `all`.

    `?badge` shows only the badge, for lists on other pages. `?at=` shows what was live at that
    moment.
    """
    if request.htmx and "badge" in request.GET:
        return _show_badge(request, page_id, audience_id)
    if at := past_moment(request.GET.get("at", ""), now=clock.now()):
        return _show_moment(request, page_id, audience_id, at)
    if wants_partial(request, ("audience-head",)):
        return _refresh_head(request, page_id, audience_id)
    page, read_at = page_last_known(page_id), clock.now()
    # Fetch a page that was never seen at the same time as its audiences.
    response = None if page else run_concurrently(lambda: publishing_client().pages.get(page_id))
    reading = (
        poll_audience(page_id, audience_id, is_moving=is_moving(request))
        if is_refresh(request)
        else read_audience(page_id, audience_id)
    )
    if response:
        with suppress(APIError):  # The template reports it and shows the audience.
            read_page(page_id, response=response, read_at=read_at)
    head = head_of(page_id, audience_id, reading.value, page=page)
    chosen = request.GET.get("metadata", "")
    context = audience_context(head) | {"reading": reading}
    if chosen in context["metadata"]:
        context["metadata_view"] = chosen
    return render_partial(request, "audiences/detail.html", context, parts=("audience-body",))


def audience_context(head: AudienceHead) -> dict[str, Any]:
    """Return the context of `audiences/detail.html` without `reading`."""
    page = head.page.page if head.page else None
    rows = metadata_rows(head.audience)
    return {
        "here": "pages",
        "tab": "overview",
        "head": head,
        "audience": head.audience,
        "overrides": overrides_of(head.audience),
        "page_actions": linked_actions(page) if page else None,
        "metadata_view": "set",
        "metadata": {
            "set": [row for row in rows if row.is_set],
            "differs": [row for row in rows if row.differs],
            "all": [row for row in rows if row.is_returned],
        },
        "not_returned": not_returned(head.audience, rows),
        "live_view": live_view(head),
        "last_delivery": last_publish_delivery(head.audience_id),
        "in_progress": version_in_progress(head, now=clock.now()),
    }


def _show_moment(request: Request, page_id: str, audience_id: str, at: PastMoment) -> HttpResponse:
    """Show what was live at a moment, from the ledger. Makes no call to the service."""
    head = head_last_known(page_id, audience_id)
    if head is None:
        raise Http404
    context = {"here": "pages", "head": head, "live_at": live_at(head, at)}
    return render(request, "audiences/at.html", context)


def _refresh_head(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Return the head for an open page of the audience. `?tab=` is the page's tab."""
    reading = poll_audience(page_id, audience_id, is_moving=is_moving(request))
    head = head_of(page_id, audience_id, reading.value)
    context = {
        "reading": reading,
        "head": head,
        "tab": request.GET.get("tab", ""),
        "in_progress": version_in_progress(head, now=clock.now()),
    }
    return render_partial(request, "audiences/detail.html", context, parts=("audience-head",))


def _show_badge(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    record = audience_last_known(page_id, audience_id)
    if record is None:
        raise Http404
    if record.is_in_flight:
        with suppress(APIError):  # The badge shows the last known state.
            poll_audiences(page_id, is_moving=True)
        record.refresh_from_db()
    return render(request, "audiences/detail.html#badge", {"record": record})
