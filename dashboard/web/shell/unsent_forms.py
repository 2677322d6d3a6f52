"""Save a form that can't be processed now: the session has ended, or another one began."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse
from django.utils.http import urlencode

from dashboard.web.pages.drafts import save_posted_form
from dashboard.web.ui.forms import RESUME_FIELD, SESSION_KEY, TICKET_FIELD, ticket_user_id

RESUMED_AT = {
    "release-new": "release-new",
    "release-edit": "release-edit",
    "release-schedule": "release-schedule",
    "release-schedule-request": "release-schedule",
    "release-publish": "release-detail",
    "release-continue": "release-detail",
    "release-request-approval": "release-detail",
    "version-schedule": "version-publish",
    "saved-view-new": "saved-view-new",
    "saved-view-edit": "saved-view-edit",
}
"""Views whose fields are saved, and the view that shows their form. Pages have drafts besides."""
SAVED_IN_URL = ("saved-view-new", "saved-view-edit")
"""Nothing is stored of these: a view of people holds what may be personal data."""
MAX_URL = 3500
"""Characters: servers limit a URL to 4,094, and the sign-in page has this one in its own."""


@dataclass(frozen=True)
class UnsentForm:
    url: str
    """Where it is resumed."""
    draft_of: int | None = None
    """The id of the user whose draft it became, if it did."""


def save_unsent_form(request: HttpRequest, *, is_from_us: bool) -> UnsentForm | None:
    """Save a submitted form, and return where it is resumed; None if it is not of those saved.

    A form without a ticket, such as the selection of audiences, is saved only if it passed the
    CSRF check (`is_from_us`), and then for any user who signs in: it has nothing but ids.
    """
    if request.method != "POST":
        return None
    if draft := save_posted_form(request):
        return UnsentForm(draft.url, draft.user_id)
    path, user_id = _resumed_at(request), ticket_user_id(request)
    if not path or (user_id is None and not is_from_us):
        return None
    fields = dict(request.POST.lists())
    for name in ("csrfmiddlewaretoken", TICKET_FIELD):
        fields.pop(name, None)
    if not fields:
        return None
    if resolve(path).url_name in SAVED_IN_URL:
        url = f"{path}?{urlencode(fields, doseq=True)}"
        return UnsentForm(url) if len(urlencode({"next": url})) <= MAX_URL else None
    request.session[SESSION_KEY] = {"path": path, "user_id": user_id, "fields": fields}
    return UnsentForm(f"{path}?{RESUME_FIELD}=1")


def _resumed_at(request: HttpRequest) -> str:
    """Return the path of the page that shows the submitted form; "" if it isn't saved."""
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return ""
    shown_by = RESUMED_AT.get(match.url_name or "")
    return reverse(shown_by, kwargs=match.kwargs) if shown_by else ""
