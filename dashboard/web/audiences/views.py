"""The audience page: its own fields beside the effective ones."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_GET

from dashboard.client import APIError
from dashboard.contract.pages import PageItem
from dashboard.ledger.models import Operation
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.ledger.queries.operations import publishes_of
from dashboard.ledger.queries.pages import page_last_known
from dashboard.ledger.receiver import last_publish_delivery
from dashboard.operations.verdicts import find_publish_of
from dashboard.service.reading import (
    AudienceLookup,
    ReadResult,
    poll_audience,
    read_audience,
    read_audiences,
    read_page,
)
from dashboard.web.audiences.fields import metadata_rows, override_rows
from dashboard.web.audiences.polling import version_poll
from dashboard.web.audiences.state import AudienceHead, head_of
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.query_params import int_param

FRESH = timedelta(seconds=4)
"""A page read this recently, perhaps for another badge, is not read again."""


@require_GET
def audience_detail(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show one audience; `?metadata=` selects the fields that are set, that differ, or all.

    For `?badge=`, the number of polls, show its badge alone, for a list of another page.
    """
    if request.htmx and "badge" in request.GET:
        return _poll_badge(request, page_id, audience_id)
    is_poll = wants_partial(request, ("head-poll",))
    reading = (poll_audience if is_poll else read_audience)(page_id, audience_id)
    head = head_of(page_id, audience_id, reading.value)
    if is_poll:
        return _poll_head(request, reading, head)
    chosen = request.GET.get("metadata", "")
    context = audience_context(head, may_fetch=reading.is_live) | {"reading": reading}
    if chosen in context["metadata"]:
        context["metadata_view"] = chosen
    return render_partial(request, "audiences/detail.html", context, parts=("metadata",))


def audience_context(head: AudienceHead, *, may_fetch: bool) -> dict[str, Any]:
    """Return the context of `audiences/detail.html` without `reading`; `may_fetch` its page."""
    page = _page(head.page_id, may_fetch=may_fetch)
    rows = metadata_rows(head.audience)
    return {
        "here": "pages",
        "tab": "overview",
        "head": head,
        "audience": head.audience,
        "overrides": override_rows(head.audience, page),
        "page_known": page is not None,
        "metadata_view": "set",
        "metadata": {
            "set": [row for row in rows if row.is_set],
            "differs": [row for row in rows if row.differs],
            "all": rows,
        },
        "published_by": _published_by(head),
        "last_delivery": last_publish_delivery(head.audience_id),
        "watch": version_poll(head, now=timezone.now()),
    }


def _poll_head(
    request: Request, reading: ReadResult[AudienceLookup], head: AudienceHead
) -> HttpResponse:
    """Return the head of an audience page if it has changed, and the next poll.

    `?was=` is the state that the page shows; `?tab=` names the page.
    """
    params = request.GET
    watch = version_poll(head, now=timezone.now(), polls=int_param(params.get("polls", "")))
    context = {
        "reading": reading,
        "head": head,
        "tab": params.get("tab", ""),
        "watch": watch,
        "is_poll": True,
        "is_new": params.get("was", watch.state) != watch.state,
        "published_by": SimpleLazyObject(lambda: _published_by(head)),
        "last_delivery": SimpleLazyObject(lambda: last_publish_delivery(head.audience_id)),
    }
    return render_partial(request, "audiences/detail.html", context, parts=("head-poll",))


def _poll_badge(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Return the badge of an audience that was seen before, as it is now, and its next poll."""
    record = audience_last_known(page_id, audience_id)
    if record and record.last_seen_at < timezone.now() - FRESH:
        with suppress(APIError):  # The next poll may get a response.
            read_audiences(page_id)
        record = audience_last_known(page_id, audience_id)
    if record is None:
        raise Http404
    polls = int_param(request.GET["badge"]) + 1
    return render(request, "audiences/badge.html", {"record": record, "polls": polls})


def _page(page_id: str, *, may_fetch: bool) -> PageItem | None:
    """Return the page as last seen; if it never was, fetch it."""
    if record := page_last_known(page_id):
        return record.page
    try:
        return read_page(page_id).value if may_fetch else None
    except APIError:
        return None  # The template reports it; the audience itself can be shown.


def _published_by(head: AudienceHead) -> Operation | None:
    """Return our operation that published the live version, or None."""
    if head.live is None:
        return None
    publishes = publishes_of(head.page_id, head.audience_id)
    return find_publish_of(head.live, publishes.filter(version_id=head.live.version_id))
