"""The form "Create page": show it, change rows, check a field, save and discard drafts."""

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
from django_htmx.http import replace_url

from dashboard.accounts.permissions import CREATE_PAGE, requires
from dashboard.approvals.models import ApprovalKind
from dashboard.approvals.rule import current_rule
from dashboard.ledger.models import Operation
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.ledger.queries.pages import list_brands
from dashboard.operations.execution import read_operation_key, unused_operation_key
from dashboard.page_drafts.drafts import delete_draft, draft_fields, get_draft, list_drafts
from dashboard.service.reading import read_page
from dashboard.web.pages.drafts import (
    AFTER_FIELD,
    DRAFT_FIELD,
    DraftSaveResult,
    Ticket,
    read_ticket,
    save_form,
    ticket_for,
)
from dashboard.web.pages.forms.page import (
    PageForm,
    PageInput,
    new_page,
    page_input_from_wire,
    read_page_input,
)
from dashboard.web.ui.htmx import Request, posted_from, render_partial
from dashboard.web.ui.urls import is_identifier


def open_form(request: Request) -> HttpResponse:
    """Show a new form, which `?from=` fills from a page, or continue the draft of `?draft=`."""
    if DRAFT_FIELD in request.GET:
        return _continue_draft(request)
    form = PageForm(_initial_page(request), submitted=False)
    return show_form(request, form, drafts=list(list_drafts(request.user.pk)))


def _continue_draft(request: Request) -> HttpResponse:
    draft = get_draft(request.user.pk, request.GET[DRAFT_FIELD])
    if draft is None:
        messages.info(request, "Draft not found. It may have been used or discarded.")
        return redirect("page-create")
    fields = draft_fields(draft)
    # The draft may have created the page already.
    earlier = map(operation_by_key, (draft.operation_key, fields.get(AFTER_FIELD, "")))
    unresolved = next((operation for operation in earlier if operation and operation.is_open), None)
    form = PageForm(read_page_input(fields), submitted=False)
    ticket = Ticket(request.user.pk, draft.key)
    return show_form(request, form, draft=draft, ticket=ticket, unresolved=unresolved)


def _initial_page(request: Request) -> PageInput:
    if page_id := request.GET.get("from"):
        if not is_identifier(page_id):
            raise Http404
        reading = read_page(page_id)
        if reading.error:
            messages.warning(request, f"Filled from the page’s last known state. {reading.error}")
        return page_input_from_wire(reading.value.to_wire())
    return new_page(brand_id=next(iter(list_brands()), ""))


@requires(CREATE_PAGE)
@posted_from("page-create")
def page_rows(request: Request) -> HttpResponse:
    page_input = read_page_input(request.POST)
    focus = page_input.edit_rows(request.POST.get("rows", ""))
    draft_result = save_form(ticket_for(request), page_input, request.POST)
    form = PageForm(page_input, submitted=False)
    return show_form(request, form, focus=focus, draft_result=draft_result)


@requires(CREATE_PAGE)
@posted_from("page-create")
def page_field(request: Request) -> HttpResponse:
    form = PageForm(read_page_input(request.POST), submitted=True, keep_blank_rows=True)
    nested_form, name = form.field_at(request.POST.get("left", ""))
    if nested_form is None:
        return HttpResponse(status=204)
    return render(request, "pages/create.html#field_error", {"field": nested_form[name]})


# The signed ticket in the form replaces CSRF check and login: it names the user, unforgeably.
@csrf_exempt
@login_not_required
def page_draft(request: Request) -> HttpResponse:
    """Save what is typed; return the time of saving, and previews of links to the page.

    Returns 413 if the form is too large to read. Then it can't be sent either, as the browser says.
    """
    try:
        ticket = read_ticket(request.POST)
    except (RequestDataTooBig, TooManyFieldsSent):
        return HttpResponse(status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    if ticket is None or not User.objects.filter(pk=ticket.user_id, is_active=True).exists():
        # htmx would follow a redirect and replace a single line with a whole page.
        message = HttpResponse("Not saved: this form has expired or isn’t yours.")
        return message if request.htmx else redirect_to_login(reverse("page-create"))
    page_input = read_page_input(request.POST)
    form = PageForm(page_input, submitted=False)
    result = save_form(ticket, page_input, request.POST)
    context = {
        "draft_result": result,
        "is_signed_out": request.user.pk != ticket.user_id,
        "form": form,
    }
    response = render(request, "pages/create.html#draft_saved", context)
    # If the browser loads the page again, after Back or a crash, it shows the draft.
    return replace_url(response, ticket.url) if result.at else response


@requires(CREATE_PAGE)
@posted_from("page-create")
def page_discard(request: Request) -> HttpResponse:
    key = request.POST.get("discard", "")
    if draft := get_draft(request.user.pk, key):
        messages.success(request, f"Discarded draft “{draft.name or 'Unnamed draft'}”.")
        delete_draft(request.user.pk, key)
    return redirect("page-create")


def submitted_form(request: Request) -> tuple[PageForm, DraftSaveResult]:
    page_input = read_page_input(request.POST)
    draft_result = save_form(ticket_for(request), page_input, request.POST)
    return PageForm(page_input, submitted=True), draft_result


def show_form(
    request: Request,
    form: PageForm,
    *,
    status: int = 200,
    unresolved: Operation | None = None,
    **extra: Any,
) -> HttpResponse:
    """Show the form. `extra` holds context on its draft and on what was sent before."""
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
        **extra,
    }
    parts = ("page-form", "header-action", "previews")
    return render_partial(request, "pages/create.html", context, parts=parts, status=status)
