"""Detect wrong settings of https and PUBLIC_URL in requests, and explain them."""

import logging
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

NO_TLS = (
    "This request used plain http, and this server doesn’t support https. Put an https proxy in "
    "front and set BEHIND_PROXY=true, or set SECURE_COOKIES=false to run without https."
)
PROXY_NOT_TRUSTED = (
    "The proxy in front uses https, but BEHIND_PROXY is not set. Set BEHIND_PROXY=true once the "
    "proxy sets X-Forwarded-Proto itself and removes the client’s."
)
NO_PROTO = (
    "BEHIND_PROXY is set, but the proxy in front sends neither http nor https in "
    "X-Forwarded-Proto. Configure it to send X-Forwarded-Proto: https for each https request."
)
ANOTHER_URL = (
    "A page was opened at %s, but PUBLIC_URL is %s: set PUBLIC_URL to where people open Pressroom, "
    "and have the proxy pass on the Host header with its port and set X-Forwarded-Proto."
)
MAX_LOGGED = 20
"""Maximum number of URLs. If ALLOWED_HOSTS has a wildcard, a client can invent hosts."""

_logger = logging.getLogger(__name__)


def missing_https_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Explain what to set, instead of a redirect to https that would fail or loop."""
    if not settings.SECURE_SSL_REDIRECT:
        raise MiddlewareNotUsed
    logged: set[str] = set()
    exempt = re.compile("|".join(settings.SECURE_REDIRECT_EXEMPT))

    def middleware(request: HttpRequest) -> HttpResponse:
        problem = "" if request.is_secure() else _problem(request)
        if not problem or exempt.search(request.path.lstrip("/")):
            return get_response(request)
        if problem not in logged:
            logged.add(problem)
            _logger.warning("%s", problem)
        return render(None, "errors/no_https.html", {"problem": problem}, status=503)

    return middleware


def public_url_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Log once if people open the dashboard at another URL than PUBLIC_URL.

    Links, redirects and single sign-on lead to PUBLIC_URL, where they have no session.
    """
    if not settings.HAS_PUBLIC_URL:
        raise MiddlewareNotUsed
    parts = urlsplit(settings.PUBLIC_URL)
    expected = f"{parts.scheme}://{parts.netloc}".lower()
    logged: set[str] = set()

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        # Pages only: probes, API clients and files may use any host name.
        if response.status_code == 200 and response.get("Content-Type", "").startswith("text/html"):
            came = f"{request.scheme}://{request.get_host()}".lower()
            if came != expected and came not in logged and len(logged) < MAX_LOGGED:
                logged.add(came)
                _logger.warning(ANOTHER_URL, came, expected)
        return response

    return middleware


def _problem(request: HttpRequest) -> str:
    """Return what is wrong and how to fix it; "" if a redirect to https may work."""
    protocol = request.headers.get("X-Forwarded-Proto", "").strip().lower()
    if settings.BEHIND_PROXY:
        # Django reads the first of several values.
        return "" if protocol.partition(",")[0].strip() == "http" else NO_PROTO
    if protocol == "https":
        return PROXY_NOT_TRUSTED
    # `manage.py serve` starts Gunicorn. Another server may have https on another port.
    is_gunicorn = request.META.get("SERVER_SOFTWARE", "").startswith("gunicorn/")
    return NO_TLS if is_gunicorn and not protocol else ""
