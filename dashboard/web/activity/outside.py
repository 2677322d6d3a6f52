"""Versions that were published outside Pressroom: in Activity, as a list and as CSV."""

from collections.abc import Iterator
from datetime import UTC, datetime

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url

from dashboard.ledger.models import OutsidePublish
from dashboard.ledger.queries.outside_publishes import (
    find_outside_publishes,
    outside_publishes_before,
)
from dashboard.ledger.queries.steps import read_in_steps
from dashboard.web.activity.filters import ActivityFilters, read_filters
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.load_more import params_for_all_rows, size_param
from dashboard.web.ui.query_params import int_param

MAX_IN_ACTIVITY = 3
"""Listed above the operations. Source: our choice."""

COLUMNS = (
    *("went live at (UTC)", "noticed at (UTC)", "page", "audience", "version number"),
    *("page ID", "audience ID", "version ID"),
)


def newest_outside(filters: ActivityFilters) -> list[OutsidePublish]:
    """Return the newest ones; none if the operations have a filter that only operations have."""
    return list(_matches(filters)[:MAX_IN_ACTIVITY]) if filters.match_outside else []


@require_GET
def outside_list(request: Request) -> HttpResponse:
    """List what was published outside Pressroom, newest first, filtered by `?since= target=`.

    `?after=` is the primary key of the last one before the list, `show=` the number of rows.
    """
    filters = read_filters(request.GET).of_outside
    matches, size = _matches(filters), size_param(request.GET)
    last = OutsidePublish.objects.filter(pk=int_param(request.GET.get("after", ""))).first()
    rest = outside_publishes_before(matches, last) if last else matches
    rows = list(rest[: size + 1])
    is_more, rows = len(rows) > size, rows[:size]
    context = {
        "here": "activity",
        "filters": filters,
        "total": matches.count(),
        "outside_publishes": rows,
        "next_pk": rows[-1].pk if is_more else None,
        "remaining": rest.count() - size if is_more else 0,
        "is_continued": last is not None,
    }
    response = render_partial(request, "activity/outside.html", context, parts=("more",))
    if request.htmx.target != "more":
        return response
    # The earlier rows and the added ones, for Back and reload.
    shown = urlencode(params_for_all_rows(request, ("after",), len(rows)))
    return replace_url(response, f"{request.path}?{'&'.join(filter(None, (filters.query, shown)))}")


@require_GET
def outside_export(request: Request) -> StreamingHttpResponse:
    """Export what matches the filters as CSV."""
    rows = _export_rows(_matches(read_filters(request.GET).of_outside))
    return csv_response(f"published-outside-{timezone.localdate():%Y-%m-%d}.csv", COLUMNS, rows)


def _matches(filters: ActivityFilters) -> QuerySet[OutsidePublish]:
    return find_outside_publishes(since=filters.since_moment, target=filters.target)


def _export_rows(found: QuerySet[OutsidePublish]) -> Iterator[list[object]]:
    for each in read_in_steps(found):
        yield [
            _utc(each.published_at),
            _utc(each.noticed_at),
            each.page_name,
            each.audience_name,
            each.version_number,
            each.page_id,
            each.audience_id,
            each.version_id,
        ]


def _utc(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else ""
