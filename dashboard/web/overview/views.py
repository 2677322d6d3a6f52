"""The overview: what needs attention, versions in progress, recent changes, charts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HTMX_STOP_POLLING

from dashboard.accounts.permissions import may
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.queries import overview as queries
from dashboard.ledger.queries.operations import find_operations
from dashboard.ledger.queries.pages import page_names
from dashboard.operations.typical_times import (
    QueueTime,
    first_day,
    recent_queue_times,
    start_of_day,
    summarize_times,
)
from dashboard.service.circuit_breaker import open_circuits
from dashboard.service.health import health_now
from dashboard.web.activity.records import RELATED, record_of
from dashboard.web.activity.views import RIGHTS
from dashboard.web.approvals.listing import badge_of, read_news
from dashboard.web.overview import summaries as sums
from dashboard.web.overview.in_flight import load_flights, poll_service
from dashboard.web.overview.last_visit import read_last_visit, save_last_visit
from dashboard.web.overview.outside import MAX_SHOWN, recent_outside_publishes
from dashboard.web.overview.releases import read_open_releases
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.polling import wait_s
from dashboard.web.ui.query_params import int_param

TEMPLATE = "overview/overview.html"
MAX_RECENT = 8


@require_GET
def overview(request: Request) -> HttpResponse:
    """Show the overview from the ledger alone; its partial `flight` polls the service."""
    if request.htmx.target == "flight":
        return _poll_flights(request)
    now = timezone.now()
    visit = read_last_visit(request.user, now)
    since = visit.since or now
    audiences = queries.count_audiences(since, request.user)
    context = {
        "here": "overview",
        "visit": visit,
        "polls": 0,
        "wait_s": wait_s(0),
        "poll_result": None,
        "pages": queries.count_pages(since),
        "audiences": audiences,
        "went_live": list(queries.went_live(since, request.user)) if audiences.went_live else [],
        "outcomes": queries.count_outcomes(since, request.user) if visit.since else {},
        "has_subscriptions": queries.has_subscriptions(),
        "has_embedded_service": settings.EMBEDDED_API,
    }
    times = recent_queue_times(timezone.localdate(now))
    context |= _live_context(request, now, times) | _charts(now, times)
    return render_partial(request, TEMPLATE, context)


@require_POST
def overview_visited(request: Request) -> HttpResponse:
    """Record the visit: the page sends this when it is opened, as no GET writes."""
    save_last_visit(request.user, timezone.now())
    return HttpResponse(status=204) if request.htmx else redirect("overview")


def _poll_flights(request: Request) -> HttpResponse:
    """Poll the service for the versions in progress, and schedule the next poll."""
    now = timezone.now()
    times = recent_queue_times(timezone.localdate(now))
    before = load_flights(now, sums.late_after(summarize_times(times)))
    result = poll_service(before)
    polls = 0 if result.changes else int_param(request.GET.get("polls", "")) + 1
    context = _live_context(request, timezone.now(), times)
    context |= {
        "poll_result": result,
        "polls": polls,
        "wait_s": wait_s(polls) if context["is_moving"] else None,
    }
    status = 200 if context["wait_s"] else HTMX_STOP_POLLING
    return render_partial(request, TEMPLATE, context, parts=("flight",), status=status)


def _live_context(request: Request, now: datetime, times: Sequence[QueueTime]) -> dict[str, Any]:
    """Return the context that is polled while a version or an operation is in progress."""
    recent = list(find_operations().prefetch_related(*RELATED)[:MAX_RECENT])
    attention = queries.operations_needing_attention(now)
    usual = summarize_times(times)
    flights = load_flights(now, sums.late_after(usual))
    releases = read_open_releases()
    outside_publishes = recent_outside_publishes(now)
    page_ids = [operation.page_id for operation in recent]
    return {
        "usual": usual,
        "flights": flights,
        "is_moving": bool(
            flights.shown
            or releases.running
            or any(operation.outcome == Outcome.SENDING for operation in recent)
        ),
        "releases": releases,
        "approvals": read_news(request.user, now),
        "badge_of": badge_of,
        "page_names": page_names([*page_ids, *(one.record.page_id for one in flights.shown)]),
        "records": [record_of(operation) for operation in recent],
        "outside_publishes": outside_publishes[:MAX_SHOWN],
        "outside_is_more": len(outside_publishes) > MAX_SHOWN,
        "attention_count": attention.count + flights.late_count + releases.held_count,
        "attention": attention,
        "attention_items": [
            (one, may(request, RIGHTS[OperationKind(one.kind)])) for one in attention.shown
        ],
    }


def _charts(now: datetime, times: Sequence[QueueTime]) -> dict[str, Any]:
    today = timezone.localdate(now)
    since = start_of_day(first_day(today))
    counts, health = queries.count_operations_by_day(since), health_now()
    return {
        "today": sums.sum_today(counts, today),
        "publishes": sums.publishes_chart(counts, today),
        "queue": sums.queue_chart(times, today),
        "health": health,
        "paused_reads": open_circuits(),
        "health_bars": sums.health_bars(health),
    }
