"""Common parts of the endpoints: access, rate limit, error responses, ids in paths."""

from functools import wraps
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import register_converter
from django.urls.converters import StringConverter
from django.utils.crypto import constant_time_compare

from dashboard.embedded_api.keys import internal_key
from dashboard.json_api.description import problem_responses
from dashboard.json_api.endpoint import View, json_endpoint
from dashboard.json_api.problems import Problem, ProblemError, not_found
from dashboard.limits import seconds_to_wait


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
    """Serve a view to callers with a key instead of a login, at a limited rate."""

    @wraps(view)
    def limited(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if wait_s := _retry_after_s(request):
            detail = f"Too many requests with this key: wait {wait_s} s."
            headers = {"Retry-After": str(wait_s)}
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, headers=headers)
        return view(request, *args, **kwargs)

    return json_endpoint(limited)


@service_endpoint
def not_found_view(request: HttpRequest) -> HttpResponse:
    raise not_found("Unknown path.")


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
    return problem_responses(Problem, *sorted({401, 405, 429, *statuses}))
