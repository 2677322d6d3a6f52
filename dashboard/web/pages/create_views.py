"""Create a page, or request approval for it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import CREATE_PAGE, requires
from dashboard.approvals.changes import request_page
from dashboard.approvals.models import ApprovalKind
from dashboard.approvals.requests import ApprovalError
from dashboard.approvals.rule import current_rule
from dashboard.ledger.models.operations import Operation, OperationKind, Outcome
from dashboard.ledger.operations import OperationKeyConflictError, Target, begin
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.operations.execution import ExecutionResult, read_operation_key, send
from dashboard.web.pages.drafts import AFTER_FIELD, forget_draft
from dashboard.web.pages.form_views import open_form, show_form, submitted_form
from dashboard.web.pages.forms.page import FormError, PageForm
from dashboard.web.ui.forms import redirect_to_request
from dashboard.web.ui.htmx import Request, posted_from

KEY_IN_USE = (
    "Not sent: another request has this form’s operation key. "
    "The form has a new one now; press Create page to retry."
)


@requires(CREATE_PAGE)
@require_http_methods(["GET", "POST"])
def page_create(request: Request) -> HttpResponse:
    if request.method != "POST":
        return open_form(request)
    form, draft_result = submitted_form(request)
    if not form.is_valid():
        return show_form(request, form, status=422, draft_result=draft_result)
    if error := _missing_confirmation(request, form):
        form.general_errors.append(error)
        return show_form(request, form, status=422, draft_result=draft_result)
    return _create(request, form)


@requires(CREATE_PAGE)
@posted_from("page-create")
def page_check(request: Request) -> HttpResponse:
    """Check the whole form. Nothing is sent."""
    form, draft_result = submitted_form(request)
    if not form.is_valid():
        return show_form(request, form, status=422, draft_result=draft_result)
    return show_form(request, form, is_checked=True, draft_result=draft_result)


def _missing_confirmation(request: Request, form: PageForm) -> FormError | None:
    """Return why a valid form may not be sent yet, or None."""
    if not read_operation_key(request.POST):
        return FormError(
            "Not sent: the form had no operation key. It has one now; press Create page to retry."
        )
    if form.serious_findings and request.POST.get("findings") != form.serious_findings:
        return FormError(
            "Not sent: visitors can’t open a link. Change it, or press Create page to send it.",
            form.findings[0].path,
        )
    if AFTER_FIELD in request.POST and "checked_newest" not in request.POST:
        return FormError(
            "Check the newest pages first, then confirm that you did.", "checked_newest"
        )
    return None


def _create(request: Request, form: PageForm) -> HttpResponse:
    body, key = form.request().to_wire(), read_operation_key(request.POST)
    if current_rule().covers(ApprovalKind.PAGE) and operation_by_key(key) is None:
        return _request_approval(request, form, body)
    try:
        operation, attempt = begin(
            operation_key=key,
            kind=OperationKind.CREATE_PAGE,
            actor=request.user,
            target=Target(target_name=body["name"]),
            body=body,
        )
    except OperationKeyConflictError as conflict:
        return _show_key_conflict(request, form, conflict.operation)
    if attempt is None:
        return _show_recorded(request, form, operation)
    return _show_result(request, form, send(operation, attempt))


def _show_result(request: Request, form: PageForm, result: ExecutionResult) -> HttpResponse:
    if result.response:
        messages.success(request, f"Created “{result.operation.target_name}”.")
        return _redirect_created(request, result.operation)
    if result.refusal:
        form.general_errors.append(FormError(f"Not sent. {result.refusal}"))
        return show_form(request, form, status=422)
    if result.error and result.operation.outcome != Outcome.UNKNOWN:
        form.add_api_error(result.error)
        return show_form(request, form, status=422)
    return show_form(request, form, unresolved=result.operation, error=result.error, status=502)


def _request_approval(request: Request, form: PageForm, body: dict[str, Any]) -> HttpResponse:
    note, key = request.POST.get("note", ""), read_operation_key(request.POST)
    try:
        approval = request_page(body, operation_key=key, note=note, user=request.user)
    except ApprovalError as error:
        form.general_errors.append(FormError(str(error), "note"))
        return show_form(request, form, status=422)
    forget_draft(request)
    return redirect_to_request(request, approval)


def _show_recorded(request: Request, form: PageForm, operation: Operation) -> HttpResponse:
    """Show the outcome of a form that was sent before. Nothing is sent."""
    match operation.outcome:
        case Outcome.ACCEPTED if operation.page_id:
            messages.info(request, "This form was already sent. Nothing was sent again.")
            return _redirect_created(request, operation)
        case Outcome.REJECTED | Outcome.NOT_SENT:
            return show_form(request, form, sent_before=operation, status=409)
        case Outcome.UNKNOWN:
            return show_form(request, form, unresolved=operation, status=409)
    return redirect("operation-detail", operation.operation_key)


def _show_key_conflict(request: Request, form: PageForm, operation: Operation) -> HttpResponse:
    """Show that the key is in use, with the operation if it is open and the user's own.

    Nothing is sent.
    """
    form.general_errors.append(FormError(KEY_IN_USE))
    is_mine = operation.kind == OperationKind.CREATE_PAGE and operation.actor_id == request.user.pk
    unresolved = operation if is_mine and operation.is_open else None
    return show_form(request, form, unresolved=unresolved, status=409)


def _redirect_created(request: Request, operation: Operation) -> HttpResponse:
    forget_draft(request)
    if "another" in request.POST:
        return redirect("page-create")
    return redirect("page-detail", operation.page_id)
