"""What stands around every page: log-in, the reader's time zone, and the service's failures."""

import re
from collections.abc import Callable
from secrets import randbelow, token_hex
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import resolve_url
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect
from zstandard import ZstdCompressor

from dashboard.client import APIError
from dashboard.web.http import Request
from dashboard.web.languages import following, language_of
from dashboard.web.page_drafts import asks_quietly, keep_what_was_posted
from dashboard.web.request_notes import note_person
from dashboard.web.second_factor import is_stale
from dashboard.web.time_zones import zone_of
from dashboard.web.views.errors import service_error

Handler = Callable[[HttpRequest], HttpResponse]

SIGNED_OUT = "Nothing was sent: you were signed out. Make the change again."
WORTH_COMPRESSING = 200
"""Bytes; as Django has it."""
PADDING_HEADER = "X-Padding"
_idle_compressors: list[ZstdCompressor] = []
"""Those that no thread uses: as many as have ever been needed at once."""
_ACCEPTS_ZSTANDARD = re.compile(r"\bzstd\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)


class LoginRequired(LoginRequiredMiddleware):
    """Ask for a log-in everywhere but where a view says otherwise."""

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        """Let the person in, or ask who it is; note who came in."""
        is_asked = getattr(view_func, "login_required", True)
        if is_asked and is_stale(request):
            logout(request)
        refused = super().process_view(request, view_func, view_args, view_kwargs)
        if refused is None and is_asked:
            note_person(request.user.get_username())
        return refused

    def handle_no_permission(  # type: ignore[override]  # any redirect will do
        self, request: HttpRequest, view_func: object
    ) -> HttpResponse:
        """Send the whole page to the log-in; htmx would put it into a part of the page.

        What was typed into a form that has a draft is kept, and is there after the log-in. What
        any other form asked for is lost, and is said to be so there.
        """
        htmx = getattr(request, "htmx", None)
        ticket = keep_what_was_posted(request)
        if ticket and asks_quietly(request):
            return HttpResponse(status=204)
        if request.method == "POST" and not ticket:
            messages.warning(request, SIGNED_OUT)
        page = ticket.address if ticket else _page_of(request)
        login = redirect_to_login(page, resolve_url(settings.LOGIN_URL))
        return HttpResponseClientRedirect(login.url) if htmx else login


class CompressedPages(GZipMiddleware):
    """Send pages, and their parts, at a sixth of their size; files and the API as they are.

    With Zstandard where a browser takes it: as small as with gzip, in a seventh of the time.

    The token that guards a form is masked anew in every answer, and the length differs by chance,
    so how well a page compresses does not give the token away.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Compress a page for whoever takes it so."""
        if not response.get("Content-Type", "").startswith("text/html"):
            return response
        accepted = request.META.get("HTTP_ACCEPT_ENCODING", "")
        if isinstance(response, HttpResponse) and _ACCEPTS_ZSTANDARD.search(accepted):
            return self._with_zstandard(response)
        return super().process_response(request, response)

    def _with_zstandard(self, response: HttpResponse) -> HttpResponse:
        if len(response.content) < WORTH_COMPRESSING:
            return response
        patch_vary_headers(response, ["Accept-Encoding"])
        response.content = _compressed(response.content)
        response.headers["Content-Length"] = str(len(response.content))
        response.headers["Content-Encoding"] = "zstd"
        # What gzip makes Django pads in the name of a file, for which this has no place.
        response.headers[PADDING_HEADER] = token_hex(1 + randbelow(self.max_random_bytes // 2))
        return response


def _compressed(content: bytes) -> bytes:
    # Its tables take a megabyte, which to make and to clear anew takes as long as to fill.
    try:
        compressor = _idle_compressors.pop()
    except IndexError:
        compressor = ZstdCompressor()
    compressed = compressor.compress(content)
    _idle_compressors.append(compressor)
    return compressed


def probes_by_address(get_response: Handler) -> Handler:
    """Answer a load balancer, which asks a machine by its address, whatever ALLOWED_HOSTS names.

    Nothing in these answers is made from the host's name.
    """
    host = next((name for name in settings.ALLOWED_HOSTS if name != "*"), "localhost").lstrip(".")

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path.startswith("/health/") or request.path == "/metrics":
            request.META["HTTP_HOST"] = host
        return get_response(request)

    return middleware


def readers_time_zone(get_response: Handler) -> Handler:
    """Show times in the zone of who reads them."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with timezone.override(zone_of(request)):
            return get_response(request)

    return middleware


def readers_language(get_response: Handler) -> Handler:
    """Write numbers and days as the language of who reads them does."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with following(language_of(request)):
            response = get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ["Accept-Language"])
        return response

    return middleware


class ServiceErrors:
    """Turn a call's failure that no view dealt with into a page that says what to do."""

    def __init__(self, get_response: Handler) -> None:
        """Keep the next handler."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on; failures come to process_exception."""
        return self.get_response(request)

    def process_exception(self, request: Request, exception: Exception) -> HttpResponse | None:
        """Answer an APIError with its page; anything else is Django's to report."""
        return service_error(request, exception) if isinstance(exception, APIError) else None


def _page_of(request: HttpRequest) -> str:
    """Return the page a request was made on; the address of a form may be no page itself."""
    htmx = getattr(request, "htmx", None)
    if not htmx and request.method in {"GET", "HEAD"}:
        return request.get_full_path()
    page = htmx.current_url if htmx else request.headers.get("Referer")
    parts = urlsplit(page or "")
    if parts.netloc != request.get_host():
        return resolve_url(settings.LOGIN_REDIRECT_URL)
    return parts._replace(scheme="", netloc="", fragment="").geturl()
