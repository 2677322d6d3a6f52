"""Activity: list, export and detail of operations; check and retry of unknown outcomes."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import replace_url

from dashboard.accounts.permissions import CREATE_PAGE, PUBLISH, UPDATE_SUBSCRIPTION, demand, may
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.operations import mark_interrupted_unknown
from dashboard.ledger.queries.operations import list_actor_names, operation_by_key, operations_after
from dashboard.ledger.queries.steps import read_in_steps
from dashboard.operations.checking import check_outcome
from dashboard.operations.publish import has_changed, submit_problem
from dashboard.operations.resending import (
    differs_from_sent,
    resend_page,
    resend_publish,
    resend_update,
    review_again,
)
from dashboard.releases.models import Release
from dashboard.web.activity.filters import ActivityFilters, known_values, read_filters
from dashboard.web.activity.outside import newest_outside
from dashboard.web.activity.records import RELATED, Record, record_of
from dashboard.web.activity.releases import (
    changed_releases,
    moving_marks,
    newest_of_releases,
    of_release,
    summaries_by_pk,
)
from dashboard.web.publishing.views import confirm_resend, publish_url, show_publish
from dashboard.web.releases.summary import ReleaseSummary
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.load_more import PAGE_SIZE, params_for_all_rows, size_param
from dashboard.web.ui.polling import wait_s
from dashboard.web.ui.query_params import int_param
from dashboard.web.ui.saved_views import opens_saved_views, views_of_list

RIGHTS = {
    OperationKind.PUBLISH_VERSION: PUBLISH,
    OperationKind.CREATE_PAGE: CREATE_PAGE,
    OperationKind.UPDATE_SUBSCRIPTION: UPDATE_SUBSCRIPTION,
}
POLL_ID = "operation-poll"


@require_GET
@opens_saved_views(ListName.ACTIVITY)
def operation_list(request: Request) -> HttpResponse:
    """List operations, newest first, filtered by `?kind= outcome= actor= since= target=`.

    `?after=` is the key of the last operation before the list, `show=` the number of rows. While
    an operation is being sent or a release published, the page polls its partial "operation-poll",
    and each "Load more" adds a poll of its rows, "operation-poll-7"; `?sending=` are the ids of
    those operations, `releases=` those releases as shown.
    """
    if (request.htmx.target or "").startswith(POLL_ID) and not request.htmx.history_restore_request:
        return _poll_sending(request)
    actors = list_actor_names()
    saved = views_of_list(request, ListName.ACTIVITY, known_values(actors))
    filters = replace(read_filters(saved.params), view=saved.hint)
    found = filters.find()
    matches = newest_of_releases(found) if filters.are_grouped else found
    last = operation_by_key(request.GET.get("after", ""))
    rest = operations_after(matches, last) if last else matches
    size = size_param(request.GET)
    rows = list(rest.prefetch_related(*RELATED)[: size + 1])
    is_more, rows = len(rows) > size, rows[:size]
    records = [record_of(operation) for operation in rows]
    in_releases = [one for one in records if one.release and filters.are_grouped]
    releases = summaries_by_pk(one.release.pk for one in in_releases if one.release)
    context = {
        "here": "activity",
        "filters": filters,
        "total": matches.count(),
        "operations_total": found.count(),
        "records": records,
        "releases": releases,
        "release": _release_of(filters),
        "next_key": rows[-1].operation_key if is_more else "",
        "remaining": rest.count() - size if is_more else 0,
        "is_continued": last is not None,
        "outside_publishes": [] if last else newest_outside(filters),
        "kinds": OperationKind.choices,
        "outcomes": Outcome.choices,
        "actors": actors,
        "saved": saved,
        **_poll_context(
            [one.operation for one in records if _is_sending(one, in_releases)],
            releases.values(),
            poll_id=f"{POLL_ID}-{last.pk}" if last else POLL_ID,
            polls=0,
        ),
    }
    response = render_partial(request, "activity/list.html", context, parts=("more",))
    if request.htmx.target != "more":
        return response
    # The earlier rows and the added ones, for Back and reload.
    shown = urlencode(params_for_all_rows(request, ("after",), len(rows)))
    return replace_url(response, f"{request.path}?{'&'.join(filter(None, (filters.query, shown)))}")


def _release_of(filters: ActivityFilters) -> Release | None:
    """Return the release whose operations are shown, if it exists."""
    if not filters.release:
        return None
    return Release.objects.filter(pk=int_param(filters.release)).first()


def _is_sending(record: Record, in_releases: list[Record]) -> bool:
    """Return whether the row of an operation has to be polled; that of a release is by itself."""
    return record.operation.outcome == Outcome.SENDING and record not in in_releases


@require_GET
def release_operations(request: Request, release_id: int) -> HttpResponse:
    """Show the operations that a release sent, for its row in the list; else the filtered list.

    While the release is published, the row polls its partial; `?was=` is what it shows.
    """
    release = get_object_or_404(Release, pk=release_id)
    target = request.htmx.target or ""
    if not target.startswith("release-") or request.htmx.history_restore_request:
        return redirect(f"{reverse('operation-list')}?{urlencode({'release': release_id})}")
    operations = of_release(Operation.objects.all(), release_id).order_by("requested_at", "pk")
    is_poll = target.startswith("release-poll-")
    summary = summaries_by_pk([release_id])[release_id]
    is_changed = summary.mark != request.GET.get("was", "")
    polls = int_param(request.GET.get("polls", "")) + 1 if is_poll and not is_changed else 0
    context = {
        "release": release,
        "records": [record_of(one) for one in operations.prefetch_related(*RELATED)],
        "mark": summary.mark,
        "is_changed": is_changed,
        "polls": polls,
        "wait_s": wait_s(polls) if summary.is_moving else None,
    }
    block = "release_poll" if is_poll else "release_operations"
    response = render(request, f"activity/list.html#{block}", context)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


def _poll_sending(request: Request) -> HttpResponse:
    """Render the operations no longer being sent, the releases that changed, and the next poll."""
    pks = [int_param(pk) for pk in request.GET.get("sending", "").split(".")][:PAGE_SIZE]
    operations = Operation.objects.filter(pk__in=pks).prefetch_related(*RELATED)
    records = [record_of(one) for one in operations]
    settled = [one for one in records if one.operation.outcome != Outcome.SENDING]
    sending = [one.operation for one in records if one.operation.outcome == Outcome.SENDING]
    releases, changed = changed_releases(request.GET.get("releases", ""))
    polls = 0 if settled or changed else int_param(request.GET.get("polls", "")) + 1
    context = {
        "settled": settled,
        "changed_releases": changed,
        **_poll_context(sending, releases, poll_id=request.htmx.target or POLL_ID, polls=polls),
    }
    response = render(request, "activity/list.html#operation_poll", context)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


def _poll_context(
    sending: list[Operation], releases: Iterable[ReleaseSummary], *, poll_id: str, polls: int
) -> dict[str, Any]:
    shown = {
        "sending": ".".join(str(one.pk) for one in sending),
        "releases": moving_marks(releases),
    }
    is_moving = any(shown.values())
    return {
        "poll_id": poll_id,
        "poll_query": urlencode(shown | {"polls": polls}),
        "wait_s": wait_s(polls) if is_moving else None,
    }


@require_GET
def operation_export(request: Request) -> StreamingHttpResponse:
    """Export all operations that match the filters as CSV."""
    matches = read_filters(request.GET).find().prefetch_related(*RELATED)
    shows = may(request, UPDATE_SUBSCRIPTION)
    rows = (
        record_of(operation, shows_secrets=shows).cells() for operation in read_in_steps(matches)
    )
    name = f"activity-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, Record.COLUMNS, rows)


@require_GET
def operation_detail(request: Request, operation_key: str) -> HttpResponse:
    """Show one operation; only its exchange if a row of the list is expanded.

    While it is being sent, the page polls its partial "operation-poll".
    """
    operation = _operation(operation_key)
    is_poll = wants_partial(request, ("operation-poll",))
    polls = int_param(request.GET.get("polls", "")) + 1 if is_poll else 0
    context = {
        "here": "activity",
        "operation": operation,
        "record": record_of(operation, shows_secrets=may(request, UPDATE_SUBSCRIPTION)),
        "may_settle": may(request, RIGHTS[OperationKind(operation.kind)]),
        "polls": polls,
        "wait_s": wait_s(polls),
    }
    if is_poll:
        return render_partial(request, "activity/detail.html", context, parts=("operation-poll",))
    target = request.htmx.target or ""
    template = "activity/detail.html"
    is_row = target.startswith("exchange-") and not request.htmx.history_restore_request
    response = render(request, f"{template}#exchange" if is_row else template, context)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


@require_POST
def operation_check(request: Request, operation_key: str) -> HttpResponse:
    """Check the outcome of an operation by reading its target again."""
    mark_interrupted_unknown()
    operation = _operation(operation_key, for_request=request)
    if operation.is_open:
        operation = check_outcome(operation)
    return _redirect_back(request, operation)


@require_POST
def operation_retry(request: Request, operation_key: str) -> HttpResponse:
    """Retry an operation of unknown outcome, with the same key and body."""
    mark_interrupted_unknown()
    operation = _operation(operation_key, for_request=request)
    if not record_of(operation).may_retry:
        return _redirect_back(request, operation)
    if operation.kind == OperationKind.PUBLISH_VERSION:
        return _retry_publish(request, operation)
    is_update = operation.kind == OperationKind.UPDATE_SUBSCRIPTION
    send_again = resend_update if is_update else resend_page
    return _redirect_back(request, send_again(operation, actor=request.user))


def _retry_publish(request: Request, operation: Operation) -> HttpResponse:
    """Retry a publish; ask for confirmation first if it may undo what went live since."""
    operation, review = review_again(operation)
    shown, typed = request.POST.get("shown", ""), request.POST.get("number", "")
    is_seen = bool(shown) or not differs_from_sent(operation, review)
    needs_confirmation = not is_seen or has_changed(review, shown) or submit_problem(review, typed)
    if operation.is_open and needs_confirmation:
        return confirm_resend(request, review)
    sent = resend_publish(operation, review, actor=request.user)
    return _redirect_back(request, sent)


def _operation(operation_key: str, *, for_request: Request | None = None) -> Operation:
    """Return an operation. Raises Http404, or PermissionDenied if the user may not settle it."""
    operation = operation_by_key(operation_key)
    if operation is None:
        raise Http404
    if for_request:
        demand(for_request, RIGHTS[OperationKind(operation.kind)])
    return operation


def _redirect_back(request: Request, operation: Operation) -> HttpResponse:
    """Go back to the publish dialog, to the overview or to the operation's page."""
    if operation.kind == OperationKind.PUBLISH_VERSION and request.POST.get("from") == "publish":
        if request.htmx:
            return show_publish(request, operation, is_new=True)
        return redirect(publish_url(operation))
    label = operation.get_outcome_display()
    found = f" Last check: {operation.check_result}." if operation.check_result else ""
    messages.info(request, f"{operation.title}: {label}.{found}")
    if request.POST.get("from") == "overview":
        return redirect("overview")
    return redirect("operation-detail", operation.operation_key)
