"""Activity: the record of all operations, one of them, and settling what is unknown."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET, require_POST

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.queries.operations import actors, operation_by_key, operations_after
from dashboard.web.activity_filters import read_filters
from dashboard.web.activity_record import Record, record_of
from dashboard.web.csv_export import csv_response
from dashboard.web.http import Request, render_part
from dashboard.web.looks import look
from dashboard.web.permissions import CREATE_PAGE, PUBLISH, UPDATE_SUBSCRIPTION, demand, may
from dashboard.web.publishing import has_changed, problem_with
from dashboard.web.sending import sweep
from dashboard.web.sending_again import prepare_again, send_again, update_again
from dashboard.web.views.publish import ask_again, publish_address, show_publish

SHOWN_AT_ONCE = 50

RIGHTS = {
    Kind.PUBLISH_VERSION: PUBLISH,
    Kind.CREATE_PAGE: CREATE_PAGE,
    Kind.UPDATE_SUBSCRIPTION: UPDATE_SUBSCRIPTION,
}


@require_GET
def operation_list(request: Request) -> HttpResponse:
    """List operations, newest first, filtered by `?kind= outcome= actor= since= target=`.

    `?after=` is the key of the last one shown before.
    """
    sweep()
    filters = read_filters(request.GET)
    found = filters.find()
    last = operation_by_key(request.GET.get("after", ""))
    rest = operations_after(found, last) if last else found
    rows = list(rest.prefetch_related("attempts")[: SHOWN_AT_ONCE + 1])
    is_more = len(rows) > SHOWN_AT_ONCE
    context = {
        "here": "activity",
        "filters": filters,
        "total": found.count(),
        "records": [record_of(operation) for operation in rows[:SHOWN_AT_ONCE]],
        "next": rows[SHOWN_AT_ONCE - 1].operation_key if is_more else "",
        "older": rest.count() - SHOWN_AT_ONCE if is_more else 0,
        "is_continued": last is not None,
        "kinds": Kind.choices,
        "outcomes": Outcome.choices,
        "actors": actors,
    }
    return render_part(request, "activity/list.html", context, parts=("more",))


@require_GET
def operation_export(request: Request) -> StreamingHttpResponse:
    """Answer what is filtered, all of it, as CSV."""
    found = read_filters(request.GET).find().prefetch_related("attempts")
    rows = (record_of(operation).cells() for operation in found.iterator(chunk_size=500))
    name = f"activity-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, Record.COLUMNS, rows)


@require_GET
def operation_detail(request: Request, operation_key: str) -> HttpResponse:
    """Show one operation; only its request and answer to a row of the list that opens."""
    sweep()
    operation = _operation(operation_key)
    context = _detail_context(request, operation)
    target = request.htmx.target or ""
    template = "activity/detail.html"
    wants_part = target.startswith("exchange-") and not request.htmx.history_restore_request
    response = render(request, f"{template}#exchange" if wants_part else template, context)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


@require_POST
def operation_check(request: Request, operation_key: str) -> HttpResponse:
    """Re-read what an operation was about, and settle it where that proves something."""
    sweep()
    operation = _operation(operation_key, for_request=request)
    if operation.is_open:
        operation = look(operation)
    return _settled(request, operation)


@require_POST
def operation_send_again(request: Request, operation_key: str) -> HttpResponse:
    """Send an operation of unknown outcome once more, with the same key and body."""
    sweep()
    operation = _operation(operation_key, for_request=request)
    if not record_of(operation).may_send_again:
        return _settled(request, operation)
    if operation.kind == Kind.PUBLISH_VERSION:
        return _publish_again(request, operation)
    if operation.kind == Kind.UPDATE_SUBSCRIPTION:
        return _settled(request, update_again(operation, actor=request.user))
    return _settled(request, send_again(operation, actor=request.user))


def _publish_again(request: Request, operation: Operation) -> HttpResponse:
    """Send a publish again; ask first where it may undo what went live since."""
    operation, preparation = prepare_again(operation)
    shown, typed = request.POST.get("shown", ""), request.POST.get("number", "")
    is_asked = has_changed(preparation, shown) or problem_with(preparation, typed)
    if operation.is_open and is_asked:
        return ask_again(request, preparation)
    return _settled(request, send_again(operation, actor=request.user))


def _operation(operation_key: str, *, for_request: Request | None = None) -> Operation:
    """Return an operation. Raises Http404, and PermissionDenied for who may not settle it."""
    operation = operation_by_key(operation_key)
    if operation is None:
        raise Http404
    if for_request:
        demand(for_request, RIGHTS[Kind(operation.kind)])
    return operation


def _detail_context(request: Request, operation: Operation) -> dict[str, Any]:
    return {
        "here": "activity",
        "operation": operation,
        "record": record_of(operation),
        "may_settle": may(request, RIGHTS[Kind(operation.kind)]),
    }


def _settled(request: Request, operation: Operation) -> HttpResponse:
    """Go back to where the question was asked: the publish dialog, or the operation's page."""
    if operation.kind == Kind.PUBLISH_VERSION and request.POST.get("from") == "publish":
        if request.htmx:
            return show_publish(request, operation, is_new=True)
        return redirect(publish_address(operation))
    label = operation.get_outcome_display()
    found = f" The last look found: {operation.look_found}." if operation.look_found else ""
    messages.info(request, f"{operation.title}: {label}.{found}")
    return redirect("operation-detail", operation.operation_key)
