"""What is typed into "Create page", kept as it is typed. Quiet: no answer here is an error page."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from dashboard.ledger.drafts import draft_of, drop_draft
from dashboard.web.forms.pages import PageForm
from dashboard.web.forms.typed_pages import typed_page
from dashboard.web.http import Request
from dashboard.web.page_drafts import Kept, keep, ticket_in
from dashboard.web.page_parts import search_result, social_card


# The ticket in the form stands for both: it can't be forged, and lets its owner's words be kept.
@csrf_exempt
@login_not_required
def page_draft(request: Request) -> HttpResponse:
    """Keep what is typed; answer when that was, and how a link to the page may look."""
    try:
        ticket = ticket_in(request.POST)
    except (RequestDataTooBig, TooManyFieldsSent):
        return render(request, "pages/form/_kept.html", {"kept": Kept(too_long=True)})
    if ticket is None or not User.objects.filter(pk=ticket.person_id, is_active=True).exists():
        # A redirect would be followed, and a whole page put where one line stands.
        told = HttpResponse("Not kept: this form was drawn too long ago, or is not yours.")
        return told if request.htmx else redirect_to_login(reverse("page-create"))
    typed = typed_page(request.POST)
    form = PageForm(typed, submitted=False)
    context: dict[str, Any] = {
        "kept": keep(ticket, typed, request.POST),
        "is_signed_out": request.user.pk != ticket.person_id,
        "search_result": search_result(form.typed_metadata, title=form.typed_name),
        "social_card": social_card(form.typed_metadata, title=form.typed_name),
    }
    return render(request, "pages/form/kept.html", context)


def throw_away(request: Request) -> HttpResponse:
    """Forget a draft, as its person asked to, and go back to a new form."""
    key = request.POST["throw_away"]
    if draft := draft_of(request.user.pk, key):
        messages.success(request, f"Threw away the draft “{draft.name or 'No name yet'}”.")
        drop_draft(request.user.pk, key)
    return redirect("page-create")
