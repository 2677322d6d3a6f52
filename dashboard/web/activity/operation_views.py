"""One operation: its record, its check and its retry."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET, require_POST

from dashboard.accounts.permissions import (
    CREATE_PAGE,
    PUBLISH,
    UPDATE_SUBSCRIPTION,
    may,
    require_permission,
)
from dashboard.ledger.models import Operation, Publication
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import mark_interrupted_unknown
from dashboard.ledger.queries.audiences import live_publication, rollback_target
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.operations.checking import check_outcome
from dashboard.operations.publish import has_changed, submit_problem
from dashboard.operations.resending import (
    differs_from_sent,
    resend_page,
    resend_publish,
    resend_update,
    review_again,
)
from dashboard.web.activity.records import for_records, record_of
from dashboard.web.publishing.dialog import NOT_RESENT, publish_url, show_publish, show_review
from dashboard.web.ui.htmx import Request, render_partial, wants_partial

RIGHTS = {
    OperationKind.PUBLISH_VERSION: PUBLISH,
    OperationKind.CREATE_PAGE: CREATE_PAGE,
    OperationKind.UPDATE_SUBSCRIPTION: UPDATE_SUBSCRIPTION,
}


@require_GET
def operation_detail(request: Request, operation_key: str) -> HttpResponse:
    """Show an operation, or only its requests and responses if a row of the list is expanded."""
    operation = _operation(operation_key)
    context = {
        "here": "activity",
        "operation": operation,
        "record": record_of(operation, shows_secrets=may(request, UPDATE_SUBSCRIPTION)),
        "may_settle": may(request, RIGHTS[OperationKind(operation.kind)]),
        "rollback": _rollback_of(operation),
    }
    if wants_partial(request, ("operation",)):
        return render_partial(request, "activity/detail.html", context, parts=("operation",))
    target = request.htmx.target or ""
    template = "activity/detail.html"
    is_row = target.startswith("exchange-") and not request.htmx.history_restore_request
    response = render(request, f"{template}#exchange" if is_row else template, context)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


def _rollback_of(operation: Operation) -> Publication | None:
    """Return the version to roll back to, while the version of this operation is live."""
    if operation.kind != OperationKind.PUBLISH_VERSION or operation.is_rollback:
        return None
    key = (operation.page_id, operation.audience_id)
    live = live_publication(*key)
    is_live = live and live.version_id == operation.version_id
    return rollback_target(*key) if is_live else None


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
    """Retry an operation whose outcome is unknown, with the same key and body."""
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
    """Retry a publish. Ask for confirmation first if it might undo what went live since."""
    operation, review = review_again(operation)
    displayed_digest, entered_number = request.POST.get("shown", ""), request.POST.get("number", "")
    is_seen = bool(displayed_digest) or not differs_from_sent(operation, review)
    needs_confirmation = (
        not is_seen
        or has_changed(review, displayed_digest)
        or submit_problem(review, entered_number)
    )
    if operation.is_open and needs_confirmation:
        return show_review(request, review, is_retry=True, problem=NOT_RESENT, status=422)
    sent = resend_publish(operation, review, actor=request.user)
    return _redirect_back(request, sent)


def _operation(operation_key: str, *, for_request: Request | None = None) -> Operation:
    """Return an operation. Raises Http404, or PermissionDenied if the user may not settle it."""
    operation = operation_by_key(operation_key)
    if operation is None:
        raise Http404
    operation = for_records(Operation.objects.filter(pk=operation.pk)).get()
    if for_request:
        require_permission(for_request, RIGHTS[OperationKind(operation.kind)])
    return operation


def _redirect_back(request: Request, operation: Operation) -> HttpResponse:
    """Go back to the publish dialog, to the overview or to the operation's page."""
    if operation.kind == OperationKind.PUBLISH_VERSION and request.POST.get("from") == "publish":
        if request.htmx:
            return show_publish(request, operation, is_new=True)
        return redirect(publish_url(operation))
    label = record_of(_operation(operation.operation_key)).state.label
    check = f" Last check: {operation.check_result}." if operation.check_result else ""
    messages.info(request, f"{operation.title}: {label}.{check}")
    if request.POST.get("from") == "overview":
        return redirect("overview")
    return redirect("operation-detail", operation.operation_key)
