"""Shared by the JSON API and MCP: authenticate callers and render problems."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import ResolverMatch
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt

from dashboard.json_api.problems import PROBLEM_TYPE
from dashboard.machine.errors import ActError
from dashboard.machine.models import MAX_CLIENT
from dashboard.machine.tokens import TOKEN, Caller, authenticate, unauthorized
from dashboard.observability.request_context import current_notes

View = Callable[..., HttpResponse]
IN_URL = "A token was sent in the URL, where logs and proxies keep it."
REVOKE = "Revoke that token, make a new one, and send it as Authorization: Bearer."


class MachineRequest(HttpRequest):
    caller: Caller
    resolver_match: ResolverMatch


def machine_endpoint(view: View) -> View:
    """Authenticate callers by token instead of login, and turn ActErrors into responses."""

    @csrf_exempt
    @login_not_required
    @wraps(view)
    def endpoint(request: MachineRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            request.caller = identify(request)
            response = view(request, *args, **kwargs)
        except ActError as error:
            response = problem_response(error)
        response.headers["Cache-Control"] = "no-store"
        patch_vary_headers(response, ["Authorization"])
        return response

    return endpoint


def identify(request: HttpRequest) -> Caller:
    """Return the caller from the Authorization header, and note it for the log. Raises ActError."""
    if TOKEN.search(request.get_full_path()):
        raise ActError(HTTPStatus.BAD_REQUEST, IN_URL, next_step=REVOKE)
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise unauthorized("Send a token as Authorization: Bearer prt_…")
    caller = authenticate(text.strip(), printable(request.headers.get("User-Agent", "")))
    if notes := current_notes():
        notes.person = caller.user.get_username()
        notes.machine = f"{caller.token.name}, {caller.client}".strip(", ")
    return caller


def printable(client: str) -> str:
    """Return a program's name without unprintable characters, cut to MAX_CLIENT."""
    return "".join(character for character in client if character.isprintable())[:MAX_CLIENT]


def problem_response(error: ActError) -> HttpResponse:
    return JsonResponse(
        error.body, status=error.status, content_type=PROBLEM_TYPE, headers=error.headers
    )
