"""Creating a page: the form, its rows, and what became of it once it was sent.

What is typed is kept as a draft with every request, before anything else is done with it.

The create request has no key at the service, so a repeat makes a second page. The form carries
the key of one operation: sent twice, it is sent once. After an unknown outcome the form asks for
a look at the newest pages before it sends anything again.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.contract.pages import Page
from dashboard.ledger.drafts import drafts_of, drop_draft
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.operations import Target, begin
from dashboard.ledger.queries.pages import brands_seen
from dashboard.web.forms.page_parts import BasicsForm
from dashboard.web.forms.pages import PageForm, Problem
from dashboard.web.forms.rows import edit_rows
from dashboard.web.forms.typed_pages import TypedPage, new_page, typed_page, typed_page_like
from dashboard.web.http import Request, render_part
from dashboard.web.operation_keys import next_key, operation_key_in
from dashboard.web.page_drafts import (
    AFTER,
    FIELD,
    keep,
    new_ticket,
    resume,
    ticket_of,
)
from dashboard.web.page_parts import search_result, social_card
from dashboard.web.permissions import CREATE_PAGE, requires
from dashboard.web.readings import read_page
from dashboard.web.sending import send
from dashboard.web.views.page_draft import throw_away


@requires(CREATE_PAGE)
@require_http_methods(["GET", "POST"])
def page_create(request: Request) -> HttpResponse:
    """Show the form, new, `?from=` a page or `?draft=` one; keep it; check it; create the page."""
    if request.method != "POST":
        return _go_on_with(request) if FIELD in request.GET else _begin(request)
    if "throw_away" in request.POST:
        return throw_away(request)
    typed = typed_page(request.POST)
    if "left" in request.POST:
        return _field_left(request, typed)
    if "rows" in request.POST:
        focus = edit_rows(BasicsForm, typed.basics, request.POST["rows"])
        kept = keep(ticket_of(request), typed, request.POST)
        return _show(request, PageForm(typed, submitted=False), focus=focus, kept=kept)
    return _submit(request, PageForm(typed, submitted=True), typed)


def _submit(request: Request, form: PageForm, typed: TypedPage) -> HttpResponse:
    """Check the whole form, and create the page where all is in order."""
    kept = keep(ticket_of(request), typed, request.POST)
    if not form.is_valid():
        return _show(request, form, status=422, kept=kept)
    if "check" in request.POST:
        return _show(request, form, found_nothing=True, kept=kept)
    if objection := _objection(request):
        form.unplaced.append(objection)
        return _show(request, form, status=422, kept=kept)
    return _create(request, form)


def _begin(request: Request) -> HttpResponse:
    """Show a new form, and what is kept of those that were left."""
    form = PageForm(_begun(request), submitted=False)
    return _show(request, form, drafts=list(drafts_of(request.user.pk)))


def _go_on_with(request: Request) -> HttpResponse:
    """Show the form of a draft as it was left, or a new one where there is none of that key."""
    found = resume(request.user, request.GET[FIELD])
    if found is None:
        messages.info(request, "That draft is not here: it was used, thrown away, or is not yours.")
        return redirect("page-create")
    form = PageForm(found.typed, submitted=False)
    ticket = new_ticket(request.user, found.draft.key)
    return _show(request, form, draft=found.draft, ticket=ticket, lost=found.lost)


def _field_left(request: Request, typed: TypedPage) -> HttpResponse:
    """Answer what is wrong with the one field that was left, and with no other."""
    form = PageForm(typed, submitted=True, keep_blank_rows=True)
    part, name = form.field_at(request.POST["left"])
    if part is None:
        return HttpResponse(status=204)
    bound = part[name]
    context = {"field": bound, "errors": bound.errors, "is_news": True}
    return render(request, "pages/form/_said.html", context)


def _begun(request: Request) -> TypedPage:
    """Return a form to begin with: like the page that `?from=` names, or empty."""
    if page_id := request.GET.get("from"):
        reading = read_page(page_id)
        if reading.error:
            messages.warning(request, f"Filled from the page as last known. {reading.error}")
        return typed_page_like(reading.value.to_wire())
    return new_page(brand_id=next(iter(brands_seen()), ""))


def _create(request: Request, form: PageForm) -> HttpResponse:
    page = form.request()
    operation, attempt = begin(
        operation_key=operation_key_in(request.POST),
        kind=Kind.CREATE_PAGE,
        actor=request.user,
        target=Target(target_name=page.name),
        body=page.to_wire(),
    )
    if attempt is None:
        return _on_record(request, form, operation)
    carried = send(operation, attempt)
    if isinstance(carried.answer, Page):
        messages.success(request, f"Created “{page.name}”.")
        return _go_on(request, carried.operation)
    if carried.error and carried.operation.outcome != Outcome.UNKNOWN:
        form.add_refusal(carried.error)
        return _show(request, form, status=422)
    return _show(request, form, lost=carried.operation, error=carried.error, status=502)


def _on_record(request: Request, form: PageForm, operation: Operation) -> HttpResponse:
    """The form was sent before: show what became of that, and send nothing."""
    match operation.outcome:
        case Outcome.ACCEPTED if operation.page_id:
            messages.info(request, "This form was sent before. Nothing was sent again.")
            return _go_on(request, operation)
        case Outcome.REJECTED | Outcome.NOT_SENT:
            return _show(request, form, sent_before=operation, status=409)
        case Outcome.UNKNOWN:
            return _show(request, form, lost=operation, status=409)
    return redirect("operation-detail", operation.operation_key)


def _go_on(request: Request, operation: Operation) -> HttpResponse:
    drop_draft(request.user.pk, ticket_of(request).key)
    if "another" in request.POST:
        return redirect("page-create")
    return redirect("page-detail", operation.page_id)


def _objection(request: Request) -> Problem | None:
    """Return why a form that is in order is not to be sent yet."""
    if not operation_key_in(request.POST):
        return Problem("This form had lost its key. It has a new one: press Create page again.")
    if AFTER in request.POST and "looked" not in request.POST:
        return Problem("Look at the newest pages first, then say that you did.", "looked")
    return None


def _show(
    request: Request,
    form: PageForm,
    *,
    status: int = 200,
    lost: Operation | None = None,
    **more: Any,
) -> HttpResponse:
    form.focus_row(more.get("focus", ""))
    draft = more.get("draft")
    ticket = more.pop("ticket", None) or ticket_of(request)
    key = draft.operation_key if draft else operation_key_in(request.POST)
    context = {
        "here": "pages",
        "form": form,
        "brands": brands_seen(),
        "operation_key": next_key(key),
        "ticket": ticket.signed(),
        "after": lost.operation_key if lost else request.POST.get(AFTER, ""),
        "lost": lost,
        "search_result": search_result(form.typed_metadata, title=form.typed_name),
        "social_card": social_card(form.typed_metadata, title=form.typed_name),
        **more,
    }
    parts = ("page-form", "header-action", "previews")
    return render_part(request, "pages/create.html", context, parts=parts, status=status)
