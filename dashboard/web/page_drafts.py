"""Keeping what is typed into "Create page", for the person it was drawn for.

The form carries a ticket: whose it is and which one, signed by us. With it the form's words are
kept for that person and nobody else, also where the session has ended meanwhile, or another
person has logged in. A ticket lets nobody read anything, and nobody can write one.
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

from dashboard.ledger.drafts import draft_of, drop_draft, keep_draft, typed_in
from dashboard.ledger.models import Operation, PageDraft
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.web.forms.typed_pages import TypedPage, as_submitted, is_blank, typed_page
from dashboard.web.http import Request
from dashboard.web.operation_keys import operation_key_in

FIELD = "draft"
AFTER = "after"
_SALT = "draft of a page"
_TICKET_GOOD_FOR = timedelta(days=30)


@dataclass(frozen=True)
class Ticket:
    """Whose form it is, and which one."""

    person_id: int
    key: str

    def signed(self) -> str:
        """Return it as the form carries it."""
        return signing.dumps([self.person_id, self.key], salt=_SALT)

    @property
    def address(self) -> str:
        """Where the person goes on with what is kept."""
        return f"{reverse('page-create')}?{FIELD}={self.key}"


@dataclass(frozen=True)
class Kept:
    """What became of what was typed: kept at a time, or not because it is too long."""

    at: datetime | None = None
    too_long: bool = False


@dataclass(frozen=True)
class Resumed:
    """A draft to go on with, and the operation that was begun of it and may have made the page."""

    draft: PageDraft
    typed: TypedPage
    lost: Operation | None


def new_ticket(person: User, key: str = "") -> Ticket:
    """Return the ticket of a form that is drawn now."""
    return Ticket(person.pk, key or str(uuid4()))


def ticket_in(data: Mapping[str, Any]) -> Ticket | None:
    """Return the ticket that a submitted form carries, or None where it is none of ours."""
    try:
        person_id, key = signing.loads(
            str(data.get(FIELD, "")), salt=_SALT, max_age=_TICKET_GOOD_FOR
        )
    except (signing.BadSignature, ValueError):
        return None
    return Ticket(person_id, key)


def ticket_of(request: Request) -> Ticket:
    """Return the ticket a form came with, or a new one where it has none of this person's."""
    ticket = ticket_in(request.POST)
    is_mine = ticket is not None and ticket.person_id == request.user.pk
    return ticket if ticket and is_mine else new_ticket(request.user)


def keep(ticket: Ticket, typed: TypedPage, data: Mapping[str, Any]) -> Kept:
    """Keep what was typed; a form in which nothing is leaves no draft."""
    if is_blank(typed):
        drop_draft(ticket.person_id, ticket.key)
        return Kept()
    fields = as_submitted(typed) | {AFTER: str(data.get(AFTER, ""))}
    name = typed.basics.fields.get("name", "")
    try:
        draft = keep_draft(
            ticket.person_id, ticket.key, fields, name=name, operation_key=operation_key_in(data)
        )
    except ValueError:
        return Kept(too_long=True)
    return Kept(draft.saved_at if draft else None)


def keep_what_was_posted(request: HttpRequest) -> Ticket | None:
    """Keep a form that can't be dealt with now: the session ended, or another one began.

    Returns its ticket; None where the request is no such form.
    """
    ticket = ticket_in(request.POST) if request.method == "POST" else None
    if ticket is None or not User.objects.filter(pk=ticket.person_id, is_active=True).exists():
        return None
    keep(ticket, typed_page(request.POST), request.POST)
    return ticket


def asks_quietly(request: HttpRequest) -> bool:
    """Tell whether the form asks by itself, while someone types: that must not leave the page."""
    is_part = bool(getattr(request, "htmx", None))
    return is_part and ("left" in request.POST or request.POST.get("rows") == "look")


def resume(person: User, key: str) -> Resumed | None:
    """Return one draft of a person's own, or None."""
    draft = draft_of(person.pk, key)
    if draft is None:
        return None
    fields = typed_in(draft)
    begun = [operation_by_key(found) for found in (draft.operation_key, fields.get(AFTER, ""))]
    lost = next((operation for operation in begun if operation and operation.is_open), None)
    return Resumed(draft, typed_page(fields), lost)
