"""Create a page, and save drafts of its form."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import CREATE_PAGE, requires
from dashboard.contract.pages import Page, PageRequest
from dashboard.ledger.drafts import delete_draft, draft_fields, get_draft, list_drafts
from dashboard.ledger.models import Operation
from dashboard.ledger.models.approvals import ApprovalKind
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import OperationKeyConflictError, Target, begin
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.ledger.queries.pages import list_brands
from dashboard.operations.approval_requests import ApprovalError
from dashboard.operations.approvals import current_rule
from dashboard.operations.approved_changes import request_page
from dashboard.operations.execution import (
    ExecutionResult,
    read_operation_key,
    send,
    unused_operation_key,
)
from dashboard.service.reading import read_page
from dashboard.web.pages.detail import LinkPreview, search_result, social_card
from dashboard.web.pages.drafts import (
    AFTER_FIELD,
    DRAFT_FIELD,
    Ticket,
    read_ticket,
    save_form,
    ticket_for,
)
from dashboard.web.pages.forms.nested import edit_rows
from dashboard.web.pages.forms.page import FormError, PageForm
from dashboard.web.pages.forms.sections import BasicsForm
from dashboard.web.pages.forms.submitted import TypedPage, new_page, typed_page, typed_page_like
from dashboard.web.ui.approvals import redirect_to_request
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.urls import is_identifier

KEY_IN_USE = (
    "Not sent: another request has this form’s operation key. "
    "The form has a new one now; press Create page to retry."
)


@requires(CREATE_PAGE)
@require_http_methods(["GET", "POST"])
def page_create(request: Request) -> HttpResponse:
    """Show the form (new, `?from=` a page or `?draft=`), save it, check it, create the page."""
    if request.method != "POST":
        return _continue_draft(request) if DRAFT_FIELD in request.GET else _show_new(request)
    if "discard" in request.POST:
        return discard_draft(request)
    typed = typed_page(request.POST)
    if "left" in request.POST:
        return _check_field(request, typed)
    if "rows" in request.POST:
        focus = edit_rows(BasicsForm, typed.basics, request.POST["rows"])
        draft_result = save_form(ticket_for(request), typed, request.POST)
        return _show(
            request, PageForm(typed, submitted=False), focus=focus, draft_result=draft_result
        )
    return _submit(request, PageForm(typed, submitted=True), typed)


def _submit(request: Request, form: PageForm, typed: TypedPage) -> HttpResponse:
    """Check the whole form, and create the page if it is valid."""
    draft_result = save_form(ticket_for(request), typed, request.POST)
    if not form.is_valid():
        return _show(request, form, status=422, draft_result=draft_result)
    if "check" in request.POST:
        return _show(request, form, is_checked=True, draft_result=draft_result)
    if error := _missing_confirmation(request):
        form.general_errors.append(error)
        return _show(request, form, status=422, draft_result=draft_result)
    return _create(request, form)


def _show_new(request: Request) -> HttpResponse:
    """Show a new form, and the user's drafts."""
    form = PageForm(_initial_page(request), submitted=False)
    return _show(request, form, drafts=list(list_drafts(request.user.pk)))


def _continue_draft(request: Request) -> HttpResponse:
    """Show the form of a draft, or a new one if there is no such draft."""
    draft = get_draft(request.user.pk, request.GET[DRAFT_FIELD])
    if draft is None:
        messages.info(request, "Draft not found. It may have been used or discarded.")
        return redirect("page-create")
    fields = draft_fields(draft)
    # It may have created the page already.
    operations = map(operation_by_key, (draft.operation_key, fields.get(AFTER_FIELD, "")))
    unresolved = next((one for one in operations if one and one.is_open), None)
    form = PageForm(typed_page(fields), submitted=False)
    ticket = Ticket(request.user.pk, draft.key)
    return _show(request, form, draft=draft, ticket=ticket, unresolved=unresolved)


def _check_field(request: Request, typed: TypedPage) -> HttpResponse:
    """Return the errors of the one field that was left."""
    form = PageForm(typed, submitted=True, keep_blank_rows=True)
    nested_form, name = form.field_at(request.POST["left"])
    if nested_form is None:
        return HttpResponse(status=204)
    field = nested_form[name]
    context = {"field": field, "errors": field.errors}
    return render(request, "pages/form/_field_error.html", context)


def _initial_page(request: Request) -> TypedPage:
    """Return the initial form: filled from the page that `?from=` names, or empty."""
    if page_id := request.GET.get("from"):
        if not is_identifier(page_id):
            raise Http404
        reading = read_page(page_id)
        if reading.error:
            messages.warning(request, f"Filled from the page’s last known state. {reading.error}")
        return typed_page_like(reading.value.to_wire())
    return new_page(brand_id=next(iter(list_brands()), ""))


def _create(request: Request, form: PageForm) -> HttpResponse:
    page = form.request()
    if current_rule().covers(ApprovalKind.PAGE):
        return _request_approval(request, form, page)
    try:
        operation, attempt = begin(
            operation_key=read_operation_key(request.POST),
            kind=OperationKind.CREATE_PAGE,
            actor=request.user,
            target=Target(target_name=page.name),
            body=page.to_wire(),
        )
    except OperationKeyConflictError as conflict:
        return _show_key_conflict(request, form, conflict.operation)
    if attempt is None:
        return _show_recorded(request, form, operation)
    return _show_result(request, form, send(operation, attempt))


def _show_result(request: Request, form: PageForm, result: ExecutionResult) -> HttpResponse:
    """Go to the page that was created, or show the form with what went wrong."""
    if isinstance(result.response, Page):
        messages.success(request, f"Created “{result.operation.target_name}”.")
        return _redirect_created(request, result.operation)
    if result.refusal:
        form.general_errors.append(FormError(f"Not sent. {result.refusal}"))
        return _show(request, form, status=422)
    if result.error and result.operation.outcome != Outcome.UNKNOWN:
        form.add_api_error(result.error)
        return _show(request, form, status=422)
    return _show(request, form, unresolved=result.operation, error=result.error, status=502)


def _request_approval(request: Request, form: PageForm, page: PageRequest) -> HttpResponse:
    """Ask another person to approve the page, and show the request."""
    note = request.POST.get("note", "")
    try:
        approval = request_page(page.to_wire(), note=note, user=request.user)
    except ApprovalError as error:
        form.general_errors.append(FormError(str(error), "note"))
        return _show(request, form, status=422)
    delete_draft(request.user.pk, ticket_for(request).key)
    return redirect_to_request(request, approval)


def _show_recorded(request: Request, form: PageForm, operation: Operation) -> HttpResponse:
    """Show the outcome of a form that was sent before. Sends nothing."""
    match operation.outcome:
        case Outcome.ACCEPTED if operation.page_id:
            messages.info(request, "This form was already sent. Nothing was sent again.")
            return _redirect_created(request, operation)
        case Outcome.REJECTED | Outcome.NOT_SENT:
            return _show(request, form, sent_before=operation, status=409)
        case Outcome.UNKNOWN:
            return _show(request, form, unresolved=operation, status=409)
    return redirect("operation-detail", operation.operation_key)


def _show_key_conflict(request: Request, form: PageForm, operation: Operation) -> HttpResponse:
    """Show that the key is in use, and the user's own open operation with it. Sends nothing."""
    form.general_errors.append(FormError(KEY_IN_USE))
    is_mine = operation.kind == OperationKind.CREATE_PAGE and operation.actor_id == request.user.pk
    unresolved = operation if is_mine and operation.is_open else None
    return _show(request, form, unresolved=unresolved, status=409)


def _redirect_created(request: Request, operation: Operation) -> HttpResponse:
    delete_draft(request.user.pk, ticket_for(request).key)
    if "another" in request.POST:
        return redirect("page-create")
    return redirect("page-detail", operation.page_id)


def _missing_confirmation(request: Request) -> FormError | None:
    """Return why a valid form may not be sent yet, or None."""
    if not read_operation_key(request.POST):
        return FormError(
            "Not sent: the form had no operation key. It has one now; press Create page to retry."
        )
    if AFTER_FIELD in request.POST and "checked_newest" not in request.POST:
        return FormError(
            "Check the newest pages first, then confirm that you did.", "checked_newest"
        )
    return None


def _show(
    request: Request,
    form: PageForm,
    *,
    status: int = 200,
    unresolved: Operation | None = None,
    **extra: Any,
) -> HttpResponse:
    form.focus_row(extra.get("focus", ""))
    draft = extra.get("draft")
    ticket = extra.pop("ticket", None) or ticket_for(request)
    key = draft.operation_key if draft else read_operation_key(request.POST)
    context = {
        "here": "pages",
        "form": form,
        "brands": list_brands(),
        "operation_key": unused_operation_key(key),
        "ticket": ticket.signed(),
        "after": unresolved.operation_key if unresolved else request.POST.get(AFTER_FIELD, ""),
        "unresolved": unresolved,
        "needs_approval": current_rule().covers(ApprovalKind.PAGE),
        "note": request.POST.get("note", ""),
        **_previews(form),
        **extra,
    }
    parts = ("page-form", "header-action", "previews")
    return render_partial(request, "pages/create.html", context, parts=parts, status=status)


def _previews(form: PageForm) -> dict[str, LinkPreview]:
    metadata, title = form.typed_metadata, form.typed_name
    return {
        "search_result": search_result(metadata, title=title),
        "social_card": social_card(metadata, title=title),
    }


# The signed ticket in the form replaces both: it can't be forged, and it names the user.
@csrf_exempt
@login_not_required
def page_draft(request: Request) -> HttpResponse:
    """Save what is typed; return when it was saved, and previews of a link to the page.

    413 if the form is too large to be read: then it can't be sent either, and the browser says so.
    """
    try:
        ticket = read_ticket(request.POST)
    except (RequestDataTooBig, TooManyFieldsSent):
        return HttpResponse(status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    if ticket is None or not User.objects.filter(pk=ticket.user_id, is_active=True).exists():
        # htmx would follow a redirect, and put a whole page in place of one line.
        message = HttpResponse("Not saved: this form has expired or isn’t yours.")
        return message if request.htmx else redirect_to_login(reverse("page-create"))
    typed = typed_page(request.POST)
    form = PageForm(typed, submitted=False)
    context = {
        "draft_result": save_form(ticket, typed, request.POST),
        "is_signed_out": request.user.pk != ticket.user_id,
        **_previews(form),
    }
    return render(request, "pages/form/draft_saved.html", context)


def discard_draft(request: Request) -> HttpResponse:
    """Delete a draft at its user's request, and redirect to a new form."""
    key = request.POST["discard"]
    if draft := get_draft(request.user.pk, key):
        messages.success(request, f"Discarded draft “{draft.name or 'Unnamed draft'}”.")
        delete_draft(request.user.pk, key)
    return redirect("page-create")
