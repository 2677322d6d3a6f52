"""Error pages. They say what happened, what did not change, and what to do."""

from collections.abc import Mapping

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import Error
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import redirect, render, resolve_url
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import defaults
from django_htmx.http import HttpResponseClientRedirect

from dashboard import clock
from dashboard.accounts.permissions import SecondFactorNeededError
from dashboard.client import APIError
from dashboard.ledger.models import Operation
from dashboard.observability.request_context import current_notes, current_request_id
from dashboard.web.pages.drafts import is_background_request
from dashboard.web.shell.unsent_forms import save_unsent_form
from dashboard.web.ui.failures import Failure, explain
from dashboard.web.ui.formats import number
from dashboard.web.ui.forms import ticket_user_id
from dashboard.web.ui.request_body import FileRefusedError

SECTIONS = {
    "pages": "page-list",
    "audiences": "audience-list",
    "releases": "release-list",
    "approvals": "approval-list",
    "people": "people-list",
    "webhooks": "subscription-list",
    "activity": "operation-list",
    "notifications": "notification-list",
}
"""List views by section."""


def service_error(request: HttpRequest, error: APIError) -> HttpResponse:
    return _render_failure(request, explain(error))


def key_conflict(request: HttpRequest) -> HttpResponse:
    """409: the form contains the key of another operation."""
    title, what_to_do = "Operation key already used", "Reload the form, then try again."
    detail = "Nothing was sent: this form’s operation key was already used for another request."
    return _render_failure(request, Failure(409, "alert", title, what_to_do, detail))


def deleted_meanwhile(request: HttpRequest) -> HttpResponse:
    """409: another request deleted, or began to use, an object of this change meanwhile."""
    title, what_to_do = "Changed at the same moment", "Reload the page, then try again."
    detail = "Not saved: an account or something else that belongs to this was changed meanwhile."
    return _render_failure(request, Failure(409, "alert", title, what_to_do, detail))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    what_to_do = "Check the URL, or start from the overview."
    return _render_failure(request, Failure(404, "search", "Page not found", what_to_do))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: the user lacks permission or a second factor."""
    title, what_to_do, way = "Not allowed", "Ask an administrator for access.", ""
    if isinstance(exception, SecondFactorNeededError):
        title, way = "Second factor required", "settings"
        what_to_do = "Nothing was changed. Set up a second factor, then try again."
    detail = str(exception) or "You don’t have permission to do this."
    return _render_failure(request, Failure(403, "lock", title, what_to_do, detail, way))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """413: the form is too large. 400: it contains a file, or something no browser sends.

    400 also if the session can't be saved: the user signed out meanwhile, or the disk is full.
    """
    if isinstance(exception, SessionInterrupted):
        what_to_do = "Reload the page. If you signed out meanwhile, sign in again."
        return _render_failure(request, Failure(400, "alert", "Session not saved", what_to_do))
    if isinstance(exception, FileRefusedError):
        what_to_do = "Nothing was changed. Remove the file, then try again."
        return _render_failure(request, Failure(400, "alert", "Files are not accepted", what_to_do))
    if not isinstance(exception, RequestDataTooBig | TooManyFieldsSent):
        return defaults.bad_request(request, exception)
    fields = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    size = settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 2**20
    what_to_do = "Go back and shorten your input, if your browser still has it."
    if request.path.startswith(reverse("page-create")):
        what_to_do += " The draft may be missing your latest changes."
    detail = f"Nothing was sent. The limit is {number(fields)} fields and {number(size)} MB."
    return _render_failure(request, Failure(413, "alert", "Form too large", what_to_do, detail))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form belongs to another session. Forms with a draft are saved and resumed."""
    try:
        form = save_unsent_form(request, is_from_us=False)
    except UnreadablePostError:
        return incomplete(request)
    if form and is_background_request(request):
        return HttpResponse(status=204)
    if form and (not form.draft_of or request.user.pk in (form.draft_of, None)):
        login = redirect_to_login(form.url, resolve_url(settings.LOGIN_URL))
        if request.user.is_authenticated:
            messages.warning(request, "Your session changed. Nothing was sent; submit again.")
        url = form.url if request.user.is_authenticated else login.url
        is_htmx = getattr(request, "htmx", None)
        return HttpResponseClientRedirect(url) if is_htmx else redirect(url)
    # The same user signed in twice, after Back or by a double click. Continue as signed in.
    is_same = request.POST.get("username") == request.user.get_username()
    if is_same and request.user.is_authenticated and request.path == reverse("login"):
        return redirect_to_login(request.POST.get("next", ""), resolve_url(settings.LOGIN_URL))
    what_to_do = (
        "Another user opened it. The input was saved as their draft."
        if form
        else "Nothing was changed. Go back, reload the page and try again."
    )
    return _render_failure(request, Failure(403, "lock", "Form expired", what_to_do))


def incomplete(request: HttpRequest) -> HttpResponse:
    """400: the body is shorter than its Content-Length, or the connection broke."""
    title = "The form arrived incomplete"
    what_to_do = "Nothing was changed. Check your connection, then try again."
    return _render_failure(request, Failure(400, "clock", title, what_to_do))


def server_error(request: HttpRequest) -> HttpResponse:
    """500: an error in Pressroom or the database. Says what happened to a requested change."""
    notes = current_notes()
    if notes and notes.sent:
        return _render_failure(request, _sent_and_not_recorded(notes.sent))
    key = notes.operation_key if notes else ""
    if key:
        detail = "The operation and its outcome are recorded."
    else:
        is_change = request.method not in ("GET", "HEAD", "OPTIONS")
        detail = "Nothing was changed at the service." if is_change else ""
    title, what_to_do = "Something went wrong on our end", "The error was logged."
    failure = Failure(500, "alert", title, what_to_do, detail, operation_key=key)
    return _render_failure(request, failure)


def _sent_and_not_recorded(operation: Operation) -> Failure:
    target = f" ({operation.target_name})" if operation.target_name else ""
    return Failure(
        500,
        "st-unknown",
        "Sent, outcome unknown",
        "Wait a minute, then check it in Activity. Submitting the same form again is safe: "
        "nothing is sent twice.",
        f"“{operation.title}”{target} was sent to the service, but Pressroom failed to record the "
        "outcome. It may or may not have gone through.",
        operation_key=operation.operation_key,
    )


def _typed_fields(request: HttpRequest, failure: Failure) -> Mapping[str, object]:
    """Return the fields of the user's own form, unless it may be too large or incomplete."""
    if request.method != "POST" or failure.status in (400, 404, 413, 500):
        return {}
    user_id = ticket_user_id(request)
    return request.POST if user_id is not None and user_id == request.user.pk else {}


def _render_failure(request: HttpRequest, failure: Failure) -> HttpResponse:
    template = "errors/message.html" if getattr(request, "htmx", None) else "errors/page.html"
    referer = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(
        referer, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    path = request.path
    here = next((name for name, view in SECTIONS.items() if path.startswith(reverse(view))), "")
    context = {
        "failure": failure,
        "here": here,
        "list_view": SECTIONS.get(here),
        "form_url": referer if request.method == "POST" and is_ours else "",
        "fields": _typed_fields(request, failure),
        "now": clock.now(),
        "request_id": current_request_id(),
    }
    try:
        return render(request, template, context, status=failure.status)
    except Error:
        # The frame of the page also needs the database, for the user and the service's health.
        return HttpResponse(render_to_string("errors/bare.html", context), status=failure.status)
