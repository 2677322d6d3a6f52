"""Shared by the JSON API and MCP: authenticate callers and render problems."""

from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import ResolverMatch
from django.views.decorators.vary import vary_on_headers

from dashboard.json_api.endpoint import View, json_endpoint
from dashboard.json_api.problems import PROBLEM_TYPE, ProblemError
from dashboard.machine.errors import problem_body
from dashboard.machine.models import MAX_CLIENT
from dashboard.machine.tokens import Caller, authenticate, refuse_token_in, unauthorized
from dashboard.observability.request_context import current_notes
from dashboard.texts import redact_secret


class MachineRequest(HttpRequest):
    caller: Caller
    resolver_match: ResolverMatch


def machine_endpoint(view: View) -> View:
    """Serve a view to callers with a token instead of a login."""

    @wraps(view)
    def identified(request: MachineRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        request.caller = identify(request)
        return view(request, *args, **kwargs)

    return vary_on_headers("Authorization")(json_endpoint(identified, problem_response))


def identify(request: HttpRequest) -> Caller:
    """Return the caller from the Authorization header, and note it for the log."""
    refuse_token_in(request.get_full_path(), "the URL")
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise unauthorized("Send a token as Authorization: Bearer prt_…")
    caller = authenticate(text.strip(), printable(request.headers.get("User-Agent", "")))
    if notes := current_notes():
        notes.person = caller.user.get_username()
        notes.machine = f"{caller.token.name}, {caller.client}".strip(", ")
    return caller


def printable(client: str) -> str:
    """Return a program's name without unprintable characters and tokens, cut to MAX_CLIENT."""
    name = "".join(character for character in client if character.isprintable())
    return redact_secret(name)[:MAX_CLIENT]


def problem_response(error: ProblemError) -> HttpResponse:
    return JsonResponse(
        problem_body(error), status=error.status, content_type=PROBLEM_TYPE, headers=error.headers
    )
