"""Save what is typed into "Create page" as a draft of the user who opened the form.

The form holds a signed ticket with the user's id and the draft's key. The ticket saves a draft for
that user only, even if the session has ended or another user has signed in. It can't be forged,
and it gives no access to a draft.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core import signing
from django.http import HttpRequest
from django.urls import reverse

from dashboard.operations.execution import read_operation_key
from dashboard.page_drafts.drafts import delete_draft, save_draft
from dashboard.web.pages.forms.page import PageInput, as_submitted, is_blank, read_page_input
from dashboard.web.ui.htmx import Request

DRAFT_FIELD = "draft"
AFTER_FIELD = "after"
_SALT = "draft of a page"
_TICKET_MAX_AGE = timedelta(days=30)


@dataclass(frozen=True)
class Ticket:
    user_id: int
    key: str

    def signed(self) -> str:
        return signing.dumps([self.user_id, self.key], salt=_SALT)

    @property
    def url(self) -> str:
        return f"{reverse('page-create')}?{DRAFT_FIELD}={self.key}"


@dataclass(frozen=True)
class DraftSaveResult:
    at: datetime | None = None
    too_long: bool = False


def read_ticket(data: Mapping[str, Any]) -> Ticket | None:
    """Return the ticket of a submitted form; None if it is invalid or expired."""
    try:
        user_id, key = signing.loads(
            str(data.get(DRAFT_FIELD, "")), salt=_SALT, max_age=_TICKET_MAX_AGE
        )
    except (signing.BadSignature, ValueError):
        return None
    return Ticket(user_id, key)


def ticket_for(request: Request) -> Ticket:
    """Return the user's ticket from a submitted form, or a new one."""
    ticket = read_ticket(request.POST)
    is_mine = ticket is not None and ticket.user_id == request.user.pk
    return ticket if ticket and is_mine else Ticket(request.user.pk, str(uuid4()))


def forget_draft(request: Request) -> None:
    delete_draft(request.user.pk, ticket_for(request).key)


def save_form(ticket: Ticket, page_input: PageInput, data: Mapping[str, Any]) -> DraftSaveResult:
    if is_blank(page_input):
        delete_draft(ticket.user_id, ticket.key)
        return DraftSaveResult()
    fields = as_submitted(page_input) | {AFTER_FIELD: str(data.get(AFTER_FIELD, ""))}
    name = page_input.basics.fields.get("name", "")
    try:
        draft = save_draft(
            ticket.user_id, ticket.key, fields, name=name, operation_key=read_operation_key(data)
        )
    except ValueError:
        return DraftSaveResult(too_long=True)
    return DraftSaveResult(draft.saved_at if draft else None)


def save_posted_form(request: HttpRequest) -> Ticket | None:
    """Save a form that can't be processed because the session has ended or changed.

    Returns the form's ticket, or None if the request isn't such a form.
    """
    ticket = read_ticket(request.POST) if request.method == "POST" else None
    if ticket is None or not User.objects.filter(pk=ticket.user_id, is_active=True).exists():
        return None
    save_form(ticket, read_page_input(request.POST), request.POST)
    return ticket


def is_background_request(request: HttpRequest) -> bool:
    """Return whether the form sent this in the background, so that we must not navigate."""
    is_htmx = bool(getattr(request, "htmx", None))
    return is_htmx and ("left" in request.POST or request.POST.get("rows") == "refresh")
