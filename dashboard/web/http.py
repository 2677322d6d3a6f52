"""Requests and answers of this house: typed requests, and pages that htmx may take in part."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails


class Request(HttpRequest):
    """A request after the middleware: someone is logged in, and htmx is known."""

    user: User
    htmx: HtmxDetails


def render_part(
    request: Request,
    template: str,
    context: dict[str, Any],
    *,
    parts: tuple[str, ...] = (),
    **options: Any,
) -> HttpResponse:
    """Render a page, or the named partial of it that htmx aims at.

    A partial has the same name as the id of its target. Only the target tells a request for a
    part from a boosted link or a restored page, which send HX-Request too.
    """
    part = f"#{request.htmx.target}" if wants_part(request, parts) else ""
    response = render(request, f"{template}{part}", context, **options)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


def address_back(request: HttpRequest, field: str, otherwise: str) -> str:
    """Return the address that a form says to go back to, where it is one of ours."""
    back = request.POST.get(field, "")
    is_ours = url_has_allowed_host_and_scheme(
        back, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return back if is_ours else otherwise


def wants_part(request: Request, parts: tuple[str, ...]) -> bool:
    """Tell whether `render_part` is to answer with one of these parts."""
    return request.htmx.target in parts and not request.htmx.history_restore_request
