"""Activity: the operations, and what was published outside Pressroom, as lists and as CSV."""

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, may
from dashboard.ledger.models import Publication
from dashboard.ledger.queries.audiences import outside_publications
from dashboard.ledger.queries.operations import list_actor_names, operation_by_key
from dashboard.ledger.queries.rows import read_in_steps, rows_after
from dashboard.web.activity.filters import (
    ACTIVITY,
    ACTOR,
    OUTSIDE,
    SINCE,
    TARGET,
    are_grouped,
    release_of,
    since_day,
    since_moment,
)
from dashboard.web.activity.poll_views import POLL_ID, is_sending, poll_context, poll_sending
from dashboard.web.activity.records import (
    for_records,
    newest_of_releases,
    record_of,
    summaries_by_pk,
)
from dashboard.web.lists.saved_views import opens_saved_views
from dashboard.web.lists.state import ListState, open_list
from dashboard.web.lists.window import render_list
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request

MAX_IN_ACTIVITY = 3
"""Listed above the operations. Source: our choice."""


@require_GET
@opens_saved_views(ACTIVITY)
def operation_list(request: Request) -> HttpResponse:
    """List operations, newest first, filtered by `?kind= outcome= actor= since= target=`.

    `?after=` is the key of the last operation before the list, `show=` the number of rows. While
    an operation is being sent or a release published, the page fetches its partial
    "operation-poll", and each "Load more" adds one, "operation-poll-7"; `?sending=` are the ids of
    those operations, `releases=` those releases as shown.
    """
    if (request.htmx.target or "").startswith(POLL_ID) and not request.htmx.history_restore_request:
        return poll_sending(request)
    actors = list_actor_names()
    state = open_list(request, ACTIVITY, {ACTOR: actors})
    operations = state.find()
    matches = newest_of_releases(operations) if are_grouped(state) else operations
    last = operation_by_key(state.start_text)
    rest = rows_after(matches, last, column="requested_at") if last else matches
    rows = list(for_records(rest)[: state.size + 1])
    is_more, rows = len(rows) > state.size, rows[: state.size]
    records = [record_of(operation) for operation in rows]
    in_releases = [record for record in records if record.release and are_grouped(state)]
    releases = summaries_by_pk(release.release.pk for release in in_releases if release.release)
    context = {
        "here": "activity",
        "state": state,
        "since_day": since_day(state),
        "total": matches.count(),
        "operations_total": operations.count(),
        "records": records,
        "releases": releases,
        "release": release_of(state),
        "next_key": rows[-1].operation_key if is_more else "",
        "remaining": rest.count() - state.size if is_more else 0,
        "is_continued": last is not None,
        "outside_publications": [] if last else newest_outside(state),
        "actors": actors,
        **poll_context(
            [record.operation for record in records if is_sending(record, in_releases)],
            releases.values(),
            poll_id=f"{POLL_ID}-{last.pk}" if last else POLL_ID,
        ),
    }
    return render_list(request, "activity/list.html", context, state=state, added=len(rows))


@require_GET
def operation_export(request: Request) -> StreamingHttpResponse:
    matches = for_records(ListState.parse(ACTIVITY, request.GET).find())
    shows = may(request, UPDATE_SUBSCRIPTION)
    rows = (record_of(operation, shows_secrets=shows) for operation in read_in_steps(matches))
    name = f"activity-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, ACTIVITY.cells, rows)


@require_GET
def outside_list(request: Request) -> HttpResponse:
    """List what was published outside Pressroom, newest first, filtered by `?since= target=`.

    `?after=` is the primary key of the last one before the list, `show=` the number of rows.
    """
    state = ListState.parse(OUTSIDE, request.GET)
    matches = _outside_matches(state)
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
    return render_list(request, "activity/outside.html", context, state=state, added=len(rows))


@require_GET
def outside_export(request: Request) -> StreamingHttpResponse:
    rows = read_in_steps(_outside_matches(ListState.parse(OUTSIDE, request.GET)))
    name = f"published-outside-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, OUTSIDE.cells, rows)


def newest_outside(state: ListState) -> list[Publication]:
    """Return the newest ones; none if the operations have a filter that only operations have."""
    is_of_operations = state.is_filtered_besides(SINCE, TARGET)
    return [] if is_of_operations else list(_outside_matches(state)[:MAX_IN_ACTIVITY])


def _outside_matches(state: ListState) -> QuerySet[Publication]:
    return outside_publications(since=since_moment(state), target=state.value(TARGET))
