"""Typed requests, and pages that can be rendered as a partial for htmx."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import unquote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from dashboard.accounts.permissions import AuthenticatedRequest, View
from dashboard.accounts.sessions import BACKGROUND
from dashboard.observability.request_context import is_unrecorded

MOVING = "X-Moving"
"""Header of a region that refreshes itself. Sent while it shows something in progress."""
ROWS = "X-Rows"
"""Header of a list that refreshes itself: the ids of its rows, even if they no longer match."""
TOPICS = "X-Topics"
"""Header of a list that refreshes itself because of these topics only. Other rows are unchanged."""


MAX_ROWS = 200


class Request(AuthenticatedRequest):
    """A request after the middleware: with a signed-in user and htmx details."""

    htmx: HtmxDetails


def render_partial(
    request: Request,
    template: str,
    context: dict[str, Any],
    *,
    parts: tuple[str, ...] = (),
    **options: Any,
) -> HttpResponse:
    """Render a page, or the partial of it that htmx targets.

    A partial is a block whose name is the id of its target. Only the target tells a request for a
    partial from a boosted link or a history restore, which send HX-Request too.
    """
    part = f"#{block_name(request.htmx.target)}" if wants_partial(request, parts) else ""
    response = render(request, f"{template}{part}", context, **options)
    if part and is_unrecorded():
        note = {"unrecorded": True, "is_partial": True}
        response.content += render_to_string("components/unrecorded.html", note).encode()
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


def is_refresh(request: HttpRequest) -> bool:
    """Return whether a region of an open page refreshes itself."""
    return BACKGROUND in request.headers


def is_moving(request: HttpRequest) -> bool:
    """Return whether the region that refreshes itself shows something in progress."""
    return MOVING in request.headers


def keys_on_screen(request: HttpRequest, prefix: str) -> list[str]:
    """Return the ids of the rows that an open page shows, without their prefix.

    Returns at most MAX_ROWS ids.
    """
    ids = (unquote(name) for name in request.headers.get(ROWS, "").split())
    return [name.removeprefix(prefix) for name in ids if name.startswith(prefix)][:MAX_ROWS]


def posted_from(view_name: str) -> Callable[[View], View]:
    """Redirect a GET to the page of the form, for example after signing in again."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: Request, **ids: str) -> HttpResponse:
            if request.method == "POST":
                return view(request, **ids)
            query = f"?{request.GET.urlencode()}" if request.GET else ""
            return redirect(reverse(view_name, kwargs=ids) + query)

        return guarded

    return decorate


def block_name(target: str | None) -> str:
    return (target or "").replace("-", "_")


def safe_return_url(request: HttpRequest, field: str, otherwise: str) -> str:
    url = request.POST.get(field) or request.GET.get(field, "")
    # `redirect` would take any other text as the name of a view.
    is_ours = url.startswith(("/", "https://", "http://")) and url_has_allowed_host_and_scheme(
        url, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return url if is_ours else otherwise


def wants_partial(request: Request, parts: tuple[str, ...]) -> bool:
    return request.htmx.target in parts and not request.htmx.history_restore_request
