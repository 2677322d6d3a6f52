"""The overview: what needs attention, versions in progress, recent changes, charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from dashboard import clock
from dashboard.accounts.authentication import get_preferences
from dashboard.accounts.preferences import save_preferences
from dashboard.ledger.queries import overview as queries
from dashboard.operations.publish_progress import (
    QueueTime,
    recent_queue_times,
    start_of_day,
    summarize_times,
)
from dashboard.service.circuit_breaker import open_circuits
from dashboard.service.health import health_now
from dashboard.web.overview import summaries as sums
from dashboard.web.overview.in_flight import (
    PollResult,
    changes_since,
    load_versions_in_flight,
    pages_to_read,
    read_again,
)
from dashboard.web.overview.live import live_context
from dashboard.web.ui.htmx import Request, render_partial

TEMPLATE = "overview/overview.html"
PAUSE = timedelta(minutes=15)
"""A request after a longer pause begins a new visit. Source: our choice."""


@dataclass(frozen=True)
class LastVisit:
    """The end of the visit before this one, and the latest request of this one."""

    since: datetime | None
    """None on the first visit."""
    now: datetime


def _read_last_visit(user: User, now: datetime) -> LastVisit:
    """Return the last visit of a user. Makes no query."""
    preferences = get_preferences(user)
    last = preferences.overview_seen_at
    is_new = last is not None and now - last > PAUSE
    return LastVisit(last if is_new else preferences.overview_since, now)


@require_GET
def overview(request: Request) -> HttpResponse:
    """Show the overview from the ledger; its partial `in-flight` also reads from the service."""
    if request.htmx.target == "in-flight":
        return _read_versions_in_flight(request)
    now = clock.now()
    visit = _read_last_visit(request.user, now)
    since = visit.since or now
    times = recent_queue_times(timezone.localdate(now))
    usual = summarize_times(times)
    in_flight = load_versions_in_flight(now, sums.late_after(usual))
    figures = _figures(request, since, now, times)
    went_live = figures["audiences"].went_live
    context = {
        "here": "overview",
        "visit": visit,
        "poll_result": None,
        "went_live": list(queries.went_live(since, request.user)) if went_live else [],
        "outcomes": queries.count_outcomes(since, request.user) if visit.since else {},
        "has_subscriptions": queries.has_subscriptions(),
        "has_embedded_service": settings.EMBEDDED_API,
    }
    context |= live_context(request, now, usual, in_flight) | figures
    return render_partial(request, TEMPLATE, context)


@require_POST
def overview_visited(request: Request) -> HttpResponse:
    """Record the visit. The page posts this when it opens, because a GET must not write."""
    visit = _read_last_visit(request.user, clock.now())
    save_preferences(request.user, overview_since=visit.since, overview_seen_at=visit.now)
    return HttpResponse(status=204) if request.htmx else redirect("overview")


def _read_versions_in_flight(request: Request) -> HttpResponse:
    """Read the versions in progress again, and update them on an open page."""
    now = clock.now()
    times = recent_queue_times(timezone.localdate(now))
    usual = summarize_times(times)
    in_flight, error = load_versions_in_flight(now, sums.late_after(usual)), None
    if page_ids := pages_to_read(in_flight):
        error = read_again(page_ids)
        in_flight = load_versions_in_flight(clock.now(), sums.late_after(usual))
    context = live_context(request, now, usual, in_flight) | _figures(request, now, now, times)
    context["poll_result"] = PollResult(changes_since(request.GET.get("was", "")), error)
    return render_partial(request, TEMPLATE, context, parts=("in-flight",))


def _figures(
    request: Request, since: datetime, now: datetime, times: Sequence[QueueTime]
) -> dict[str, Any]:
    today = timezone.localdate(now)
    starts = {day: start_of_day(day) for day in sums.chart_days(today)}
    counts, health = queries.count_operations_by_day(starts), health_now()
    return {
        "pages": queries.count_pages(since),
        "audiences": queries.count_audiences(since, request.user),
        "today": sums.sum_today(counts, today),
        "publishes": sums.publishes_chart(counts, today),
        "queue": sums.queue_chart(times, today),
        "health": health,
        "paused_reads": open_circuits(),
        "health_bars": sums.health_bars(health),
    }
