"""Save a form that can't be processed because the session has ended or changed."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse
from django.utils.http import urlencode

from dashboard.web.pages.drafts import save_posted_form
from dashboard.web.ui.forms import TICKET_FIELD, keep_form, ticket_user_id

RESUMED_AT = {
    "release-new": "release-new",
    "release-edit": "release-edit",
    "release-schedule": "release-schedule",
    "release-schedule-request": "release-schedule",
    "release-publish": "release-detail",
    "release-continue": "release-detail",
    "release-request-approval": "release-detail",
    "review-needs-work": "review-item",
    "review-reject": "review-item",
    "review-later": "review-item",
    "change-verdict": "conversation",
    "version-schedule": "version-publish",
    "saved-view-new": "saved-view-new",
    "saved-view-edit": "saved-view-edit",
    "thread-new": "thread-new",
    "thread-reply": "thread-reply",
    "comment-edit": "comment-edit",
}
"""Views whose fields are saved, with the view that shows the form. Pages have drafts instead."""
SAVED_IN_URL = ("saved-view-new", "saved-view-edit")
"""Views whose fields go into the URL. They aren't stored, as they may be personal data."""
MAX_URL = 3500
"""Maximum length in characters. Servers allow 4,094, and the sign-in URL contains this one."""


@dataclass(frozen=True)
class UnsentForm:
    url: str
    """Page that resumes the form."""
    draft_of: int | None = None
    """Id of the user whose draft the form became; None if it became none."""


def save_unsent_form(request: HttpRequest, *, is_from_us: bool) -> UnsentForm | None:
    """Save a submitted form and return where it is resumed; None if it isn't saved.

    A form without a ticket, such as a selection of audiences, is saved only if it passed the CSRF
    check (`is_from_us`). Any user who signs in then gets it, as it contains only ids.
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
    return UnsentForm(keep_form(request, path, fields, user_id))


def _resumed_at(request: HttpRequest) -> str:
    """Return the path of the page that shows the submitted form; "" if such forms aren't saved."""
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return ""
    shown_by = RESUMED_AT.get(match.url_name or "")
    return reverse(shown_by, kwargs=match.kwargs) if shown_by else ""
