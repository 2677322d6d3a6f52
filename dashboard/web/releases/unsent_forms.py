"""Save what was typed or selected in a release's form while its user signs in again.

It is saved in the session of the browser. The form carries a signed ticket with its user's id, so
that no other user who signs in there gets it, and no other site can put it there.
"""

from typing import Any

from django.core import signing
from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, resolve, reverse

from dashboard.web.ui.htmx import Request

TICKET_FIELD = "ticket"
RESUME_FIELD = "resume"
FORMS = {
    **dict.fromkeys(("release-new", "release-edit", "release-schedule", "version-publish"), ""),
    **dict.fromkeys(
        ("release-publish", "release-continue", "release-request-approval"), "release-detail"
    ),
}
"""Views whose fields are saved, with the view that shows their form if it is another one.

Of a publish, only the fields of its schedule are.
"""
_SESSION_KEY = "unsent_release_form"
_SALT = "form of a release"
_NOT_SAVED = ("csrfmiddlewaretoken", TICKET_FIELD)


def ticket_of(request: Request) -> str:
    """Return the signed text for the form's hidden field."""
    return signing.dumps(request.user.pk, salt=_SALT)


def save_unsent_form(request: HttpRequest, *, is_from_us: bool) -> str:
    """Save a form that can't be processed now: the session has ended, or another one began.

    Returns the URL at which it is resumed; "" if it is no form of a release. A form without a
    ticket, such as the selection of audiences, is saved only if it passed the CSRF check
    (`is_from_us`), and then for any user who signs in: it has nothing but ids.
    """
    path = _path_of_form(request) if request.method == "POST" else ""
    if not path:
        return ""
    user_id = _user_of(request.POST.get(TICKET_FIELD, ""))
    if user_id is None and not is_from_us:
        return ""
    fields = {name: values for name, values in request.POST.lists() if name not in _NOT_SAVED}
    if not fields:
        return ""
    request.session[_SESSION_KEY] = {
        "path": path,
        "user_id": user_id,
        "fields": fields,
    }
    return f"{path}?{RESUME_FIELD}=1"


def resumed_form(request: Request) -> QueryDict | None:
    """Return the fields of the form that was saved for this page and user, if it is resumed."""
    saved: dict[str, Any] = request.session.get(_SESSION_KEY) or {}
    if RESUME_FIELD not in request.GET or saved.get("path") != request.path:
        return None
    if saved["user_id"] not in (None, request.user.pk):
        return None
    fields = QueryDict(mutable=True)
    for name, values in saved["fields"].items():
        fields.setlist(name, values)
    return fields


def forget_unsent_form(request: Request) -> None:
    """Delete the form that was saved, once it was submitted."""
    request.session.pop(_SESSION_KEY, None)


def _user_of(ticket: str) -> int | None:
    try:
        return int(signing.loads(ticket, salt=_SALT))
    except (signing.BadSignature, ValueError, TypeError):
        return None


def _path_of_form(request: HttpRequest) -> str:
    """Return the path of the page that shows the form that was submitted; "" if it isn't saved."""
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return ""
    name = match.url_name or ""
    if name not in FORMS or (name == "version-publish" and request.POST.get("when") != "schedule"):
        return ""
    shown_by = FORMS[name]
    return reverse(shown_by, kwargs=match.kwargs) if shown_by else request.path
