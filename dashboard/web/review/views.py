"""The list of a user's reviews, the summary of a review, and its export."""

from collections import Counter

from django.contrib import messages
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.queries.audience_list import matching_keys, tally_audiences
from dashboard.review.decisions import last_of_run
from dashboard.review.models import MAX_KEYS, ReviewDecision, ReviewRun
from dashboard.review.runs import begin_run, read_queue
from dashboard.saved_views.models import ListName
from dashboard.saved_views.queries import ViewOfUser
from dashboard.web.audiences.filters import AUDIENCES, filters_of
from dashboard.web.lists.saved_views import visible_views
from dashboard.web.lists.state import ListState
from dashboard.web.review.item_views import own_run, redirect_to_next
from dashboard.web.ui.csv import Cell, csv_response
from dashboard.web.ui.forms import sent_form_key
from dashboard.web.ui.htmx import Request

MAX_RUNS = 10
CELLS = (
    Cell("decision", lambda row: row.get_kind_display()),
    Cell("page ID", "page_id"),
    Cell("audience ID", "audience_id"),
    Cell("audience", "audience_name"),
    Cell("version number", "version_number"),
    Cell("version ID", "version_id"),
    Cell("reason", "reason"),
    Cell("assigned to", lambda row: actor_name(row.assignee) if row.assignee else ""),
    Cell("back at (UTC)", "until"),
    Cell("by", "user_name"),
    Cell("at (UTC)", "at"),
    Cell("undone at (UTC)", "undone_at"),
)


@require_http_methods(["GET", "HEAD", "POST"])
def review_list(request: Request) -> HttpResponse:
    """List a user's reviews. A POST begins a review of the audiences that match `query`."""
    if request.method == "POST":
        return _begin(request)
    runs = ReviewRun.objects.filter(user=request.user)[:MAX_RUNS]
    context = {
        "here": "review",
        "queues": [read_queue(run) for run in runs],
        "views": _views_of_audiences(request),
    }
    return render(request, "review/list.html", context)


def _begin(request: Request) -> HttpResponse:
    query = QueryDict(request.POST.get("query", "").removeprefix("?"))
    state = ListState.parse(AUDIENCES, query, request.user)
    filters = filters_of(state)
    keys = matching_keys(filters, sort=state.order, limit=MAX_KEYS)
    if not keys:
        messages.info(request, "No audiences match, so there is nothing to review.")
        return redirect(f"{reverse('audience-list')}{state.url()}")
    run = begin_run(
        request.user,
        title=_title(request, state),
        query=state.query,
        keys=keys,
        matches=tally_audiences(filters).total(filters),
        form_key=sent_form_key(request),
    )
    return redirect_to_next(request, run, 0)


def _title(request: Request, state: ListState) -> str:
    """Return the name of the saved view with this state, or a list of the filters."""
    for view in _views_of_audiences(request):
        if ListState.parse(AUDIENCES, QueryDict(view.query)).chosen == state.chosen:
            return view.name
    return ", ".join(chip.filter.words(chip.value) for chip in state.chips) or "All audiences"


def _views_of_audiences(request: Request) -> list[ViewOfUser]:
    return [view for view in visible_views(request) if view.list_name == ListName.AUDIENCES]


@require_GET
def review_summary(request: Request, run_id: int) -> HttpResponse:
    """Show the states of a review's items, and how many are left."""
    queue = read_queue(own_run(request, run_id))
    context = {
        "here": "review",
        "queue": queue,
        "tallies": Counter(item.state.value for item in queue.selected),
        "last": last_of_run(queue.run),
    }
    return render(request, "review/summary.html", context)


@require_GET
def review_export(request: Request, run_id: int) -> StreamingHttpResponse:
    run = own_run(request, run_id)
    rows = ReviewDecision.objects.filter(run=run).select_related("assignee").order_by("at", "pk")
    return csv_response(f"review-{run.pk}.csv", CELLS, rows.iterator())
