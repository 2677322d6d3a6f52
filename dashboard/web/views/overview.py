"""The overview: what needs a person, what is under way, what changed, how things go."""

from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET
from django_htmx.http import HTMX_STOP_POLLING

from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.operations import Kind
from dashboard.ledger.queries import overview as queries
from dashboard.ledger.queries.audiences import audiences_in_flight
from dashboard.ledger.queries.operations import find_operations
from dashboard.ledger.queries.pages import page_names
from dashboard.ledger.queries.queue_times import QueueTime, queue_times
from dashboard.web import overview as sums
from dashboard.web.activity_record import record_of
from dashboard.web.breakers import broken_lines
from dashboard.web.flight import Flight, flight_of, look_again, wait_s
from dashboard.web.http import Request, render_part
from dashboard.web.last_look import keep_look, last_look
from dashboard.web.permissions import may
from dashboard.web.sending import sweep
from dashboard.web.service_health import health_now
from dashboard.web.views.activity import RIGHTS

TEMPLATE = "overview/overview.html"
SHOWN_IN_FLIGHT = 8
RECENT = 8
QUEUE_TIMES_KEPT_S = 60


@require_GET
def overview(request: Request) -> HttpResponse:
    """Show the overview from the ledger alone; its part in flight asks the service."""
    if request.htmx.target == "flight":
        return _look_at_flights(request)
    sweep()
    now = timezone.now()
    look = last_look(request, now)
    context = _counts(look.since or now) | _operations(request, now) | _charts(now)
    flights = _flights(now)
    late = [f for f in flights if f.is_dated and sums.waits_long(f.lasted, context["queue"])]
    names = [record.operation.page_id for record in context["records"]]
    context |= {
        "here": "overview",
        "look": look,
        "flights": flights,
        "in_flight": context["audiences"].in_flight,
        "late": late,
        "attention_count": context["attention_of"].count + len(late),
        "page_names": page_names([*names, *(flight.record.page_id for flight in flights)]),
        "looks": 0,
        "wait_s": wait_s(0),
    }
    response = render_part(request, TEMPLATE, context)
    keep_look(response, request, look)
    return response


def _look_at_flights(request: Request) -> HttpResponse:
    """Ask the service about what is on its way, and say in how long to ask again."""
    look = look_again(_records())
    looks = 0 if look.changes else _number(request.GET.get("looks", "")) + 1
    flights = _flights(timezone.now())
    context = {
        "flights": flights,
        "in_flight": audiences_in_flight().count(),
        "page_names": page_names([flight.record.page_id for flight in flights]),
        "flight_look": look,
        "looks": looks,
        "wait_s": wait_s(looks) if flights else None,
    }
    status = 200 if context["wait_s"] else HTMX_STOP_POLLING
    return render_part(request, TEMPLATE, context, parts=("flight",), status=status)


def _counts(since: datetime) -> dict[str, Any]:
    return {
        "pages": queries.count_pages(since),
        "audiences": queries.count_audiences(since),
        "went_live": list(queries.went_live(since)),
        "outcomes": queries.count_outcomes(since),
        "knows_subscriptions": queries.knows_subscriptions(),
    }


def _operations(request: Request, now: datetime) -> dict[str, Any]:
    recent = find_operations().prefetch_related("attempts")[:RECENT]
    attention = queries.operations_needing_attention(now)
    return {
        "records": [record_of(operation) for operation in recent],
        "attention_of": attention,
        "attention": [(one, may(request, RIGHTS[Kind(one.kind)])) for one in attention.shown],
    }


def _charts(now: datetime) -> dict[str, Any]:
    today = timezone.localdate(now)
    since = sums.start_of(sums.first_day(today))
    counts, health = queries.count_operations_by_day(since), health_now()
    return {
        "today": sums.sum_today(counts, today),
        "publishes": sums.publishes_chart(counts, today),
        "queue": sums.queue_chart(_queue_times(since), today),
        "health": health,
        "held_back": broken_lines(),
        "health_bars": sums.health_bars(health),
    }


def _queue_times(since: datetime) -> list[QueueTime]:
    # The first day begins at another moment in another zone.
    key = f"queue-times:{since:%Y%m%d%H%M%z}"
    return cache.get_or_set(key, lambda: queue_times(since), timeout=QUEUE_TIMES_KEPT_S) or []


def _records() -> list[AudienceRecord]:
    return list(audiences_in_flight()[:SHOWN_IN_FLIGHT])


def _flights(now: datetime) -> list[Flight]:
    return [flight_of(record, now) for record in _records()]


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0
