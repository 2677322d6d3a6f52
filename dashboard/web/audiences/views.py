"""The audience page: its own fields beside the effective ones."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_GET

from dashboard import clock
from dashboard.client import APIError
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.ledger.queries.pages import page_last_known
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import poll_audience, read_audience, read_audiences, read_page
from dashboard.web.audiences.fields import Sent, metadata_rows, not_returned, override_rows
from dashboard.web.audiences.live import live_view
from dashboard.web.audiences.moment import live_at
from dashboard.web.audiences.progress import version_in_progress
from dashboard.web.audiences.state import AudienceHead, head_last_known, head_of
from dashboard.web.ui.htmx import Request, is_moving, render_partial, wants_partial
from dashboard.web.ui.query_params import PastMoment, int_param, past_moment
from dashboard.webhooks.hints import followed_pages
from dashboard.webhooks.receiver import last_publish_delivery

REFRESHED = ("audience-head", "live")
"""The partials that an open page fetches again."""
FRESH = timedelta(seconds=4)
"""A page read this recently, perhaps for another badge, is not read again."""


@require_GET
def audience_detail(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show one audience; `?metadata=` selects the fields that are set, that differ, or all.

    For `?badge=`, the number of polls, show its badge alone, for a list of another page. With
    `?at=` show what was live at that moment.
    """
    if request.htmx and "badge" in request.GET:
        return _poll_badge(request, page_id, audience_id)
    if at := past_moment(request.GET.get("at", ""), now=clock.now()):
        return _show_moment(request, page_id, audience_id, at)
    if wants_partial(request, REFRESHED):
        return _refresh(request, page_id, audience_id)
    page, read_at = page_last_known(page_id), clock.now()
    # A page that was never seen is fetched at the same time as its audiences.
    response = None if page else run_concurrently(lambda: publishing_client().pages.get(page_id))
    reading = read_audience(page_id, audience_id)
    if response:
        with suppress(APIError):  # The template reports it; the audience itself can be shown.
            read_page(page_id, response=response, read_at=read_at)
    head = head_of(page_id, audience_id, reading.value, page=page)
    chosen = request.GET.get("metadata", "")
    context = audience_context(head) | {"reading": reading}
    if chosen in context["metadata"]:
        context["metadata_view"] = chosen
    return render_partial(request, "audiences/detail.html", context, parts=("metadata",))


def audience_context(head: AudienceHead) -> dict[str, Any]:
    """Return the context of `audiences/detail.html` without `reading`."""
    page = head.page.page if head.page else None
    overrides, rows = override_rows(head.audience, page), metadata_rows(head.audience)
    return {
        "here": "pages",
        "tab": "overview",
        "head": head,
        "audience": head.audience,
        "overrides": [row for row in overrides if row.override.sent != Sent.ABSENT],
        "page_known": page is not None,
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
    """Show what was live at a moment, from the ledger: no request is made to the service."""
    head = head_last_known(page_id, audience_id)
    if head is None:
        raise Http404
    context = {"here": "pages", "head": head, "live_at": live_at(head, at)}
    return render(request, "audiences/at.html", context)


def _refresh(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Return the head of an open page of the audience, `?tab=`, or the texts of its overview."""
    reading = poll_audience(page_id, audience_id, is_moving=is_moving(request))
    head = head_of(page_id, audience_id, reading.value)
    context = {
        "reading": reading,
        "head": head,
        "tab": request.GET.get("tab", ""),
        "in_progress": version_in_progress(head, now=clock.now()),
        "live_view": SimpleLazyObject(lambda: live_view(head)),
        "last_delivery": SimpleLazyObject(lambda: last_publish_delivery(head.audience_id)),
    }
    return render_partial(request, "audiences/detail.html", context, parts=REFRESHED)


def _poll_badge(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Return the badge of an audience that was seen before, as it is now, and its next poll."""
    record = audience_last_known(page_id, audience_id)
    now = clock.now()
    is_old = record is not None and record.last_seen_at < now - FRESH
    if is_old and not followed_pages([page_id], now):
        with suppress(APIError):  # The next poll may get a response.
            read_audiences(page_id)
        record = audience_last_known(page_id, audience_id)
    if record is None:
        raise Http404
    polls = int_param(request.GET["badge"]) + 1
    return render(request, "audiences/badge.html", {"record": record, "polls": polls})
