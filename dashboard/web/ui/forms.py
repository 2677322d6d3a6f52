"""Form fields with our CSS classes, form keys, and forms resumed after signing in."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django_htmx.http import HttpResponseClientRedirect

from dashboard.approvals.models import ApprovalRequest
from dashboard.web.ui.htmx import Request

_LINK = re.compile(r"(https?://[^\s/?#]+|mailto:\S|tel:\S|sms:\S)\S*", re.IGNORECASE)


MAX_LINE_LENGTH = 5_000
MAX_TEXT_LENGTH = 500_000
"""In characters. Source: our choice; the spec gives no limit."""


class SingleLineField(forms.CharField):
    """A line of text. `mono` is for ids and field names of the API."""

    longest = MAX_LINE_LENGTH
    """Limit in characters that forms for new objects check.

    An HTML `maxlength` would cut the text silently.
    """

    def __init__(
        self, *, mono: bool = False, full: bool = False, missing: str = "", **options: Any
    ) -> None:
        """Require the field if `missing` is set. It is the message for an empty field."""
        classes = "input mono" if mono else "input"
        options.setdefault("widget", forms.TextInput(attrs={"class": classes}))
        super().__init__(required=bool(missing), error_messages={"required": missing}, **options)
        self.widget.full = full  # read by components/forms.html


class LinkField(SingleLineField):
    """An http, https, mailto, tel or sms URL. Other schemes might run a script."""

    def __init__(self, **options: Any) -> None:
        widget = forms.URLInput(attrs={"class": "input mono", "placeholder": "https://"})
        super().__init__(widget=widget, **options)

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and not _LINK.fullmatch(value):
            raise ValidationError("Start with https:// and don’t use spaces.", code="address")


class MultiLineField(SingleLineField):
    """Several lines of text, with `\\n` line ends instead of the browser's `\\r\\n`."""

    longest = MAX_TEXT_LENGTH

    def __init__(self, *, rows: int, mono: bool = False, **options: Any) -> None:
        classes = "input mono" if mono else "input"
        widget = forms.Textarea(attrs={"class": classes, "rows": rows})
        super().__init__(widget=widget, full=True, **options)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class CommaSeparatedField(SingleLineField):
    def __init__(self, **options: Any) -> None:
        super().__init__(help_text="Separate with commas.", **options)

    def clean(self, value: Any) -> Any:
        return [part.strip() for part in super().clean(value).split(",") if part.strip()]


FORM_KEY_FIELD = "form_key"
"""Field that identifies a form that is sent again, by a second click, after Back or on a retry.

The row that the form creates holds the key in a unique column. Forms that send something to the
service have an operation key instead.
"""


def form_key_input() -> SafeString:
    return format_html('<input type="hidden" name="{}" value="{}">', FORM_KEY_FIELD, uuid4())


def sent_form_key(request: Request) -> str | None:
    """Return a digest of the form's key, its user and all its fields; None without a key.

    A form that stays on the page can be sent again with another selection, as its digest differs.
    """
    if not request.POST.get(FORM_KEY_FIELD):
        return None
    lists = {**request.POST, "csrfmiddlewaretoken": None, "user": request.user.pk}
    return sha256(repr(sorted(lists.items())).encode()).hexdigest()


TICKET_FIELD = "ticket"
RESUME_FIELD = "resume"
SESSION_KEY = "unsent_form"
_SALT = "unsent form"


def form_ticket(request: HttpRequest) -> str:
    """Return the signed ticket for the hidden field of a form that can be resumed.

    If the user has to sign in again, `web/shell/unsent_forms.py` keeps the fields in the session.
    The ticket holds the user's id, so that nobody else who signs in there sees the fields. It is
    signed, so that another site can't plant them.
    """
    return signing.dumps(request.user.pk, salt=_SALT)


def ticket_user_id(request: HttpRequest) -> int | None:
    """Return the id of the user who opened the submitted form; None without a valid ticket."""
    try:
        return int(signing.loads(request.POST.get(TICKET_FIELD, ""), salt=_SALT))
    except (signing.BadSignature, ValueError, TypeError):
        return None


def keep_form(
    request: HttpRequest, path: str, fields: Mapping[str, Sequence[object]], user_id: int | None
) -> str:
    """Keep the fields of a form in the session; return the URL of the page that shows it again.

    With the id of a user, nobody else who signs in gets them.
    """
    request.session[SESSION_KEY] = {"path": path, "user_id": user_id, "fields": fields}
    return f"{path}?{RESUME_FIELD}=1"


def resumed_form(request: Request) -> QueryDict | None:
    """Return the fields saved for this page and user, if the form is resumed."""
    saved: dict[str, Any] = request.session.get(SESSION_KEY) or {}
    if RESUME_FIELD not in request.GET or saved.get("path") != request.path:
        return None
    if saved["user_id"] not in (None, request.user.pk):
        return None
    fields = QueryDict(mutable=True)
    for name, values in saved["fields"].items():
        fields.setlist(name, values)
    return fields


def forget_unsent_form(request: Request) -> None:
    request.session.pop(SESSION_KEY, None)


def redirect_to_request(request: Request, approval: ApprovalRequest) -> HttpResponse:
    """Redirect to the approval request that a form created, with a message."""
    messages.success(request, "Approval requested. Everyone who can approve it is notified.")
    url = reverse("approval-detail", args=[approval.pk])
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)
