"""Versions that were published outside Pressroom: in Activity, as a list and as CSV."""

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url

from dashboard.ledger.models import Publication
from dashboard.ledger.queries.audiences import outside_publications
from dashboard.ledger.queries.rows import read_in_steps, rows_after
from dashboard.web.activity.filters import OUTSIDE, SINCE, TARGET, since_moment
from dashboard.web.lists.state import ListState
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, render_partial

MAX_IN_ACTIVITY = 3
"""Listed above the operations. Source: our choice."""


def newest_outside(state: ListState) -> list[Publication]:
    """Return the newest ones; none if the operations have a filter that only operations have."""
    is_of_operations = state.is_filtered_besides(SINCE, TARGET)
    return [] if is_of_operations else list(_matches(state)[:MAX_IN_ACTIVITY])


@require_GET
def outside_list(request: Request) -> HttpResponse:
    """List what was published outside Pressroom, newest first, filtered by `?since= target=`.

    `?after=` is the primary key of the last one before the list, `show=` the number of rows.
    """
    state = ListState.parse(OUTSIDE, request.GET)
    matches = _matches(state)
    last = Publication.objects.filter(pk=state.start).first()
    rest = rows_after(matches, last, column="seen_at") if last else matches
    rows = list(rest[: state.size + 1])
    is_more, rows = len(rows) > state.size, rows[: state.size]
    context = {
        "here": "activity",
        "state": state,
        "total": matches.count(),
        "publications": rows,
        "next_pk": rows[-1].pk if is_more else None,
        "remaining": rest.count() - state.size if is_more else 0,
        "is_continued": last is not None,
    }
    response = render_partial(request, "activity/outside.html", context, parts=("more",))
    if request.htmx.target != "more":
        return response
    return replace_url(response, state.url_of_loaded(request, len(rows)))


@require_GET
def outside_export(request: Request) -> StreamingHttpResponse:
    rows = read_in_steps(_matches(ListState.parse(OUTSIDE, request.GET)))
    name = f"published-outside-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, OUTSIDE.cells, rows)


def _matches(state: ListState) -> QuerySet[Publication]:
    return outside_publications(since=since_moment(state), target=state.value(TARGET))
