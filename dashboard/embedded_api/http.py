"""What stands around the nine operations: who may call, what is refused, any id in a path."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import register_converter
from django.views.decorators.csrf import csrf_exempt

from dashboard.embedded_api.problems import PROBLEM_TYPE, ProblemError
from dashboard.embedded_api.rates import wait_s

View = Callable[..., HttpResponse]


class ServiceRequest(HttpRequest):
    """A request whose key was accepted."""

    auth: str
    """The id of the tenant the key belongs to."""


class IdConverter:
    """An id in a path: any characters, `/` included; what stands around it is fixed text.

    A server decodes `%2F` before Django sees it, so an id is not one segment. An id that itself
    ends in `/audiences`, or holds another such piece of a path, can't be told from that path.
    """

    regex = r"[^\0]+"

    def to_python(self, value: str) -> str:
        """Return the id as it came, decoded."""
        return value

    def to_url(self, value: str) -> str:
        """Return the id; Django percent-encodes it."""
        return value


register_converter(IdConverter, "any_id")


def of_the_service(view: View) -> View:
    """Open a view to callers with a key instead of a log-in, and answer refusals with problems."""

    @csrf_exempt
    @login_not_required
    @wraps(view)
    def service_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if wait := wait_s(request):
            detail = f"Too many calls with this key: wait {wait} s."
            headers = {"Retry-After": str(wait), "Cache-Control": "no-store"}
            return ProblemError(HTTPStatus.TOO_MANY_REQUESTS, detail, headers=headers).to_response()
        # Django reads no body of unknown length, so what it says would be lost silently.
        if request.headers.get("Transfer-Encoding") and not request.headers.get("Content-Length"):
            detail = "Send the body with a Content-Length."
            return ProblemError(HTTPStatus.LENGTH_REQUIRED, detail).to_response()
        response = view(request, *args, **kwargs)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            response = _not_allowed(response)
        response.headers["Cache-Control"] = "no-store"
        return response

    return service_view


@of_the_service
def nothing_here(request: HttpRequest) -> HttpResponse:
    """Answer for every other path under /v0/."""
    detail = "The service has no such path."
    return ProblemError(HTTPStatus.NOT_FOUND, detail).to_response()


def refusals(*statuses: int) -> dict[str, Any]:
    """Return an operation's refusals for the OpenAPI document; 401, 405 and 429 always may be."""
    problem = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        "responses": {
            status: {"description": HTTPStatus(status).phrase, "content": problem}
            for status in sorted({401, 405, 429, *statuses})
        }
    }


def _not_allowed(response: HttpResponse) -> HttpResponse:
    allowed = ", ".join(sorted(response.headers["Allow"].split(", ")))
    detail = f"This path answers to {allowed}."
    return ProblemError(
        HTTPStatus.METHOD_NOT_ALLOWED, detail, headers={"Allow": allowed}
    ).to_response()
