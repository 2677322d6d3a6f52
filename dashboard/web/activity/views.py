"""Activity: the list of operations, and its export."""

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, may
from dashboard.ledger.queries.operations import list_actor_names, operation_by_key
from dashboard.ledger.queries.rows import read_in_steps, rows_after
from dashboard.web.activity.filters import ACTIVITY, ACTOR, are_grouped, release_of, since_day
from dashboard.web.activity.outside import newest_outside
from dashboard.web.activity.poll_views import POLL_ID, is_sending, poll_context, poll_sending
from dashboard.web.activity.records import for_records, record_of
from dashboard.web.activity.releases import newest_of_releases, summaries_by_pk
from dashboard.web.lists.saved_views import opens_saved_views
from dashboard.web.lists.state import ListState, open_list
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, render_partial


@require_GET
@opens_saved_views(ACTIVITY)
def operation_list(request: Request) -> HttpResponse:
    """List operations, newest first, filtered by `?kind= outcome= actor= since= target=`.

    `?after=` is the key of the last operation before the list, `show=` the number of rows. While
    an operation is being sent or a release published, the page polls its partial "operation-poll",
    and each "Load more" adds a poll of its rows, "operation-poll-7"; `?sending=` are the ids of
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
            polls=0,
        ),
    }
    response = render_partial(request, "activity/list.html", context, parts=("more",))
    if request.htmx.target != "more":
        return response
    return replace_url(response, state.url_of_loaded(request, len(rows)))


@require_GET
def operation_export(request: Request) -> StreamingHttpResponse:
    matches = for_records(ListState.parse(ACTIVITY, request.GET).find())
    shows = may(request, UPDATE_SUBSCRIPTION)
    rows = (record_of(operation, shows_secrets=shows) for operation in read_in_steps(matches))
    name = f"activity-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, ACTIVITY.cells, rows)
