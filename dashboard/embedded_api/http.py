"""Common parts of the endpoints: access, rate limit, error responses, ids in paths."""

from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import register_converter
from django.urls.converters import StringConverter
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt

from dashboard.embedded_api.keys import internal_key
from dashboard.json_api.problems import PROBLEM_TYPE, ProblemError, not_found
from dashboard.limits import seconds_to_wait

View = Callable[..., HttpResponse]


class ServiceRequest(HttpRequest):
    auth: str
    """Id of the key's tenant."""


class IdConverter(StringConverter):
    """Matches an id in a path, which may contain any character, including `/`.

    A server decodes `%2F` before Django sees it, so an id may span several segments. An id that
    contains a fixed part of a path, such as `/audiences`, is ambiguous.
    """

    regex = r"[^\0]+"


register_converter(IdConverter, "any_id")


def service_endpoint(view: View) -> View:
    """Serve a view to callers with a key instead of a login. Errors are problem responses."""

    @csrf_exempt
    @login_not_required
    @wraps(view)
    def endpoint(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if wait_s := _retry_after_s(request):
            detail = f"Too many requests with this key: wait {wait_s} s."
            headers = {"Retry-After": str(wait_s), "Cache-Control": "no-store"}
            return ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, headers=headers).to_response()
        # Django ignores a body of unknown length, which would lose its content silently.
        if request.headers.get("Transfer-Encoding") and not request.headers.get("Content-Length"):
            detail = "Send the body with a Content-Length."
            return ProblemError(HTTPStatus.LENGTH_REQUIRED, detail).to_response()
        is_head = request.method == "HEAD"
        if is_head:  # Ninja has no HEAD. Treat it as a GET whose body isn't sent.
            request.method = "GET"
        response = view(request, *args, **kwargs)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            methods = {*response.headers["Allow"].split(", ")}
            methods |= {"HEAD"} if "GET" in methods else set()
            allowed = ", ".join(sorted(methods))
            problem = ProblemError(
                HTTPStatus.METHOD_NOT_ALLOWED,
                f"Allowed methods: {allowed}.",
                headers={"Allow": allowed},
            )
            response = problem.to_response()
        response.headers["Cache-Control"] = "no-store"
        if is_head:
            request.method = "HEAD"
            response.headers["Content-Length"] = str(len(response.content))
            response.content = b""
        return response

    return endpoint


@service_endpoint
def not_found_view(request: HttpRequest) -> HttpResponse:
    return not_found("Unknown path.").to_response()


def _retry_after_s(request: HttpRequest) -> int:
    """Count a call with its key; return the seconds to wait, or 0 if the call is allowed.

    The dashboard's own calls are not limited, as a user waits for them.
    """
    key = request.headers.get("x-api-key", "")
    if constant_time_compare(key, internal_key()):
        return 0
    caller = sha256(key.encode(errors="replace")).hexdigest()[:32]
    return seconds_to_wait(f"api:{caller}", at_most=settings.EMBEDDED_API_CALLS_PER_MINUTE)


def error_responses(*statuses: int) -> dict[str, Any]:
    """Return an operation's errors for the OpenAPI document, always with 401, 405 and 429."""
    problem = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        "responses": {
            status: {"description": HTTPStatus(status).phrase, "content": problem}
            for status in sorted({401, 405, 429, *statuses})
        }
    }
