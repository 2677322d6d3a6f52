"""Activity: lists and CSV exports of operations, and of publications outside Pressroom."""

from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, may
from dashboard.ledger.models import Operation, Publication
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audiences import outside_publications
from dashboard.ledger.queries.operations import list_actor_names, operation_by_key
from dashboard.ledger.queries.rows import read_in_steps, rows_after
from dashboard.releases.models import Release
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
from dashboard.web.activity.records import (
    for_records,
    newest_of_releases,
    of_release,
    record_of,
    summaries_by_pk,
)
from dashboard.web.lists.saved_views import opens_saved_views
from dashboard.web.lists.state import ListState, open_list
from dashboard.web.lists.window import render_list
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import rows_gone

MAX_IN_ACTIVITY = 3
"""How many outside publications are listed above the operations. Source: our choice."""


@require_GET
@opens_saved_views(ACTIVITY)
def operation_list(request: Request) -> HttpResponse:
    """List operations, newest first, filtered by `?kind= outcome= actor= since= target=`.

    `?after=` is the key of the last operation before the list, `?show=` the number of rows.
    """
    actors = list_actor_names()
    state = open_list(request, ACTIVITY, {ACTOR: actors})
    operations = state.find()
    matches = newest_of_releases(operations) if are_grouped(state) else operations
    last = operation_by_key(state.start_text)
    rest = rows_after(matches, last, column="requested_at") if last else matches
    rows = list(for_records(rest)[: state.size + 1])
    is_more, rows = len(rows) > state.size, rows[: state.size]
    records = [record_of(operation) for operation in rows]
    in_releases = [record.release for record in records if record.release and are_grouped(state)]
    releases = summaries_by_pk(release.pk for release in in_releases)
    gone = rows_gone(request, "row-", [row.pk for row in rows])
    left = for_records(Operation.objects.filter(pk__in=gone)) if gone else []
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
        "left": [record_of(operation) for operation in left],
        "is_moving": any(row.outcome == Outcome.SENDING for row in rows)
        or any(summary.is_moving for summary in releases.values()),
    }
    template, parts = "activity/list.html", ("more", "log")
    return render_list(request, template, context, state=state, added=len(rows), parts=parts)


@require_GET
def release_operations(request: Request, release_id: int) -> HttpResponse:
    """Show the operations of a release within its row, or redirect to the filtered list."""
    release = get_object_or_404(Release, pk=release_id)
    target = request.htmx.target or ""
    if not target.startswith("release-") or request.htmx.history_restore_request:
        return redirect(f"{reverse('operation-list')}?{urlencode({'release': release_id})}")
    operations = of_release(Operation.objects.all(), release_id).order_by("requested_at", "pk")
    records = [record_of(operation) for operation in for_records(operations)]
    context = {"release": release, "records": records}
    response = render(request, "activity/list.html#release_operations", context)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


@require_GET
def operation_export(request: Request) -> StreamingHttpResponse:
    matches = for_records(ListState.parse(ACTIVITY, request.GET).find())
    shows = may(request, UPDATE_SUBSCRIPTION)
    rows = (record_of(operation, shows_secrets=shows) for operation in read_in_steps(matches))
    name = f"activity-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, ACTIVITY.cells, rows)


@require_GET
def outside_list(request: Request) -> HttpResponse:
    """List publications outside Pressroom, newest first, filtered by `?since= target=`.

    `?after=` is the primary key of the last row before the list, `?show=` the number of rows.
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
    template, parts = "activity/outside.html", ("more", "outside")
    return render_list(request, template, context, state=state, added=len(rows), parts=parts)


@require_GET
def outside_export(request: Request) -> StreamingHttpResponse:
    rows = read_in_steps(_outside_matches(ListState.parse(OUTSIDE, request.GET)))
    name = f"published-outside-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, OUTSIDE.cells, rows)


def newest_outside(state: ListState) -> list[Publication]:
    """Return the newest publications; none if a filter applies to operations only."""
    is_of_operations = state.is_filtered_besides(SINCE, TARGET)
    return [] if is_of_operations else list(_outside_matches(state)[:MAX_IN_ACTIVITY])


def _outside_matches(state: ListState) -> QuerySet[Publication]:
    return outside_publications(since=since_moment(state), target=state.value(TARGET))
