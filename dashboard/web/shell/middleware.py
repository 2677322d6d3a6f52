"""Middleware: incomplete forms, login, time zone, removed objects, counts, visits, errors."""

import logging
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth import middleware as auth_middleware
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig
from django.db import Error, IntegrityError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect

from dashboard.accounts.sessions import BACKGROUND, is_stale
from dashboard.client import APIError
from dashboard.ledger.feed import changes_since
from dashboard.ledger.operations import OperationKeyConflictError
from dashboard.observability.request_context import current_notes
from dashboard.web.live.shell_state import (
    CACHE_SECONDS,
    FORM_SENT_COOKIE,
    SidebarCounts,
    approvals_to_decide,
    cached_counts,
    refresh_counts,
)
from dashboard.web.live.views import session_ended
from dashboard.web.pages.drafts import is_background_request
from dashboard.web.search.recent_visits import record_visit
from dashboard.web.shell.errors import deleted_meanwhile, incomplete, key_conflict, service_error
from dashboard.web.shell.unsent_forms import save_unsent_form
from dashboard.web.ui.formats import override_formats, request_formats, request_time_zone
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.request_body import content_length

Handler = Callable[[HttpRequest], HttpResponse]

SIGNED_OUT = "You were signed out, so nothing was sent. Make the change again."
SIGNED_OUT_AND_SAVED = "You were signed out, so nothing was sent. What you entered was saved."
SIGNED_OUT_MEANWHILE = "You were signed out. Requests already sent continue."


_logger = logging.getLogger("dashboard.requests")

VISITS = ("page-detail", "audience-detail", "version-list", "conversation")
"""Views of a page or an audience."""
COUNTS_NOTHING = ("page-draft", "page-opened", "overview-visited")
"""Views that a page requests in the background, and that change no count in the sidebar."""


class IncompleteFormMiddleware(MiddlewareMixin):
    """Rejects a form whose body is shorter than its Content-Length. Django would accept it.

    It runs before the CSRF check, which ignores an unreadable body. Views without that check don't
    read forms, and they limit their bodies themselves.
    """

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponse | None:
        if request.method != "POST" or getattr(view_func, "csrf_exempt", False):
            return None
        length = content_length(request)
        try:
            is_whole = length is None or len(request.body) >= length
        except UnreadablePostError:
            return incomplete(request)
        except RequestDataTooBig:
            return None  # The next reader of the form reports it.
        return None if is_whole else incomplete(request)


class LoginRequiredMiddleware(auth_middleware.LoginRequiredMiddleware):
    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        """End a stale session, redirect to the login page if needed, and set the log's user."""
        is_required = getattr(view_func, "login_required", True)
        if is_required and is_stale(request):
            logout(request)
        response = super().process_view(request, view_func, view_args, view_kwargs)
        if response is None and is_required and (notes := current_notes()):
            notes.person = request.user.get_username()
        return response

    def handle_no_permission(  # type: ignore[override]  # any redirect will do
        self, request: HttpRequest, view_func: object
    ) -> HttpResponse:
        """Redirect to the login page. Requests by htmx get a redirect of the whole page.

        Some forms are saved first and resumed after the login. After other POSTs, a message says
        that nothing was sent.
        """
        htmx = getattr(request, "htmx", None)
        if htmx and BACKGROUND in request.headers:
            return session_ended(request, _page_of(request))
        form = save_unsent_form(request, is_from_us=True)
        if form and is_background_request(request):
            return HttpResponse(status=204)
        if form and not form.draft_of:
            messages.warning(request, SIGNED_OUT_AND_SAVED)
        elif request.method == "POST" and not form:
            messages.warning(request, SIGNED_OUT)
        elif request.method == "GET" and htmx:
            messages.info(request, SIGNED_OUT_MEANWHILE)
        page = form.url if form else _page_of(request)
        login = redirect_to_login(page, resolve_url(settings.LOGIN_URL))
        return HttpResponseClientRedirect(login.url) if htmx else login


def allow_probe_host_middleware(get_response: Handler) -> Handler:
    """Accept any Host on probes and metrics, as load balancers use the IP address of a machine.

    Their responses contain nothing derived from the host.
    """
    host = next((name for name in settings.ALLOWED_HOSTS if name != "*"), "localhost").lstrip(".")

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path.startswith("/health/") or request.path == "/metrics":
            request.META["HTTP_HOST"] = host
        return get_response(request)

    return middleware


def locale_middleware(get_response: Handler) -> Handler:
    """Activate the viewer's time zone and the viewer's formats for days and times."""

    def middleware(request: HttpRequest) -> HttpResponse:
        zone, formats = request_time_zone(request), request_formats(request)
        with timezone.override(zone), override_formats(formats):
            return get_response(request)

    return middleware


def removed_object_middleware(get_response: Handler) -> Handler:
    """Let an open page say that what it shows was removed, whatever its view responds then."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        is_of_open_page = BACKGROUND in request.headers and request.method == "GET"
        if response.status_code == HTTPStatus.NOT_FOUND and is_of_open_page:
            return render(request, "live/removed.html", status=HTTPStatus.NOT_FOUND)
        return response

    return middleware


def current_counts_middleware(get_response: Handler) -> Handler:
    """Update the counts in the sidebar after a POST: at once for htmx, else on the next page.

    Counts are cached, in each process if there is no shared cache. So a cookie asks the next
    request to count again.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method != "POST" or not request.user.is_authenticated:
            return get_response(request)
        before = cached_counts()
        response = get_response(request)
        match = request.resolver_match
        is_typing = match is not None and match.url_name in COUNTS_NOTHING
        if not request.user.is_authenticated or is_typing or BACKGROUND in request.headers:
            return response
        response.set_cookie(
            FORM_SENT_COOKIE,
            "1",
            max_age=CACHE_SECONDS,
            samesite="Lax",
            secure=request.is_secure(),
            httponly=True,
        )
        htmx = cast("Request", request).htmx
        is_part = htmx and not htmx.boosted and response.status_code == HTTPStatus.OK
        if is_part and response.headers.get("Content-Type", "").startswith("text/html"):
            response.content += _changed_counts(request, before).encode()
        return response

    return middleware


def _changed_counts(request: HttpRequest, before: SidebarCounts | None) -> str:
    try:
        counts = refresh_counts()
    except Error:
        return ""  # The POST itself has succeeded.
    if counts == before:
        return ""
    context = {
        "counts": counts,
        "to_decide": approvals_to_decide(request.user, counts),
        "user": request.user,
    }
    return render_to_string("components/side_swaps.html", context)


def feed_cursor_middleware(get_response: Handler) -> Handler:
    """Record the end of the feed before a page reads its data, so that its poll starts there."""

    def middleware(request: HttpRequest) -> HttpResponse:
        htmx = cast("Request", request).htmx
        is_part = htmx and not (htmx.boosted or htmx.history_restore_request)
        if request.method == "GET" and request.user.is_authenticated and not is_part:
            # Without a cursor, the first poll of the page makes it fetch everything again.
            with suppress(Error):
                request.feed_cursor = changes_since(None).cursor  # type: ignore[attr-defined]
        return get_response(request)

    return middleware


def recent_visits_middleware(get_response: Handler) -> Handler:
    """Record visits to pages and audiences for the palette."""

    def middleware(request: Request) -> HttpResponse:
        response = get_response(request)
        match = request.resolver_match
        if match and match.url_name in VISITS and response.status_code == 200 and not request.htmx:
            visit = (match.kwargs["page_id"], match.kwargs.get("audience_id", ""))
            record_visit(response, request, visit)
        return response

    return middleware  # type: ignore[return-value]  # the request has a user by then


class ServiceErrorMiddleware(MiddlewareMixin):
    def process_exception(self, request: Request, exception: Exception) -> HttpResponse | None:
        match exception:
            case APIError():
                return service_error(request, exception)
            case OperationKeyConflictError():
                return key_conflict(request)
            case UnreadablePostError():
                return incomplete(request)
            case IntegrityError() if request.user.is_authenticated:
                # PostgreSQL checks references at the commit. An account may just have been deleted.
                _logger.warning("A row that belongs to another was refused", exc_info=exception)
                return deleted_meanwhile(request)
        return None


def _page_of(request: HttpRequest) -> str:
    """Return the URL of the page that sent a request, as the URL of a form may not be a page."""
    htmx = getattr(request, "htmx", None)
    if not htmx and request.method in {"GET", "HEAD"}:
        return request.get_full_path()
    page = htmx.current_url if htmx else request.headers.get("Referer")
    parts = urlsplit(page or "")
    if parts.netloc != request.get_host():
        return resolve_url(settings.LOGIN_REDIRECT_URL)
    return parts._replace(scheme="", netloc="", fragment="").geturl()
