"""What was typed into the form of a view while the session had ended: in the URL of its page.

Nothing is stored for it, as a view of people holds what may be personal data.
"""

from django.core import signing
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils.http import urlencode

FORMS = ("saved-view-new", "saved-view-edit")
TICKET_FIELD = "ticket"
MAX_URL = 3500
"""Characters: servers limit a URL to 4,094, and the sign-in page has this one in its own."""
_SALT = "form of a saved view"
_NOT_TYPED = ("csrfmiddlewaretoken", TICKET_FIELD)


def view_ticket(request: HttpRequest) -> str:
    """Return the signed text for the form's hidden field: no other site can send it."""
    return signing.dumps(request.user.pk, salt=_SALT)


def url_of_typed_view(request: HttpRequest, *, is_from_us: bool) -> str:
    """Return the URL of the form with what was typed; "" if it is too long, or another form.

    A form that did not pass the CSRF check (`is_from_us` is false) must have a ticket.
    """
    if request.method != "POST" or not _is_form_of_view(request):
        return ""
    if not is_from_us and not _has_ticket(request):
        return ""
    fields = request.POST.dict()
    for name in _NOT_TYPED:
        fields.pop(name, None)
    url = f"{request.path}?{urlencode(fields)}"
    return url if len(urlencode({"next": url})) <= MAX_URL else ""


def _is_form_of_view(request: HttpRequest) -> bool:
    try:
        return resolve(request.path_info).url_name in FORMS
    except Resolver404:
        return False


def _has_ticket(request: HttpRequest) -> bool:
    try:
        signing.loads(request.POST.get(TICKET_FIELD, ""), salt=_SALT)
    except signing.BadSignature:
        return False
    return True
