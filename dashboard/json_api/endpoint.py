"""APIs on ninja, with our own bodies, errors and documentation; and what each endpoint does."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from dashboard.json_api.parser import JsonParser
from dashboard.json_api.problems import ProblemError, problem_of

View = Callable[..., HttpResponse]


class JsonAPI(NinjaAPI):
    def __init__(self, **options: Any) -> None:
        super().__init__(parser=JsonParser(), docs_url=None, openapi_url=None, **options)

    def set_default_exception_handlers(self) -> None:
        """Add none: `json_endpoint` turns exceptions into problems."""

    def operation_urls(self, wrap: Callable[[View], View]) -> list[URLPattern]:
        """Return the URLs of the operations, with each view wrapped."""
        patterns = [
            pattern
            for pattern in self.urls[0]
            if isinstance(pattern, URLPattern) and pattern.name != "api-root"
        ]
        for pattern in patterns:
            pattern.callback = wrap(pattern.callback)
        return patterns


def json_endpoint(
    view: View, render: Callable[[ProblemError], HttpResponse] = ProblemError.to_response
) -> View:
    """Serve a view to programs, which have no session. Every error is rendered as a problem."""

    @csrf_exempt
    @login_not_required
    @wraps(view)
    def endpoint(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        is_head = request.method == "HEAD"
        if is_head:  # Ninja has no HEAD. Treat it as a GET whose body isn't sent.
            request.method = "GET"
        try:
            _require_length(request)
            response = view(request, *args, **kwargs)
        except Exception as error:  # noqa: BLE001  # an unknown one is logged by problem_of
            response = render(problem_of(request, error))
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            response = render(_not_allowed(response))
        response.headers["Cache-Control"] = "no-store"
        if is_head:
            request.method = "HEAD"
            response.headers["Content-Length"] = str(len(response.content))
            response.content = b""
        return response

    return endpoint


def _require_length(request: HttpRequest) -> None:
    """Raise ProblemError for a body of unknown length: Django would ignore it silently."""
    if request.headers.get("Transfer-Encoding") and not request.headers.get("Content-Length"):
        detail = "Send the body with a Content-Length."
        raise ProblemError(HTTPStatus.LENGTH_REQUIRED, detail, next_step=detail)


def _not_allowed(response: HttpResponse) -> ProblemError:
    methods = {*response.headers["Allow"].split(", ")}
    methods |= {"HEAD"} if "GET" in methods else set()
    allowed = ", ".join(sorted(methods))
    detail, step = f"Allowed methods: {allowed}.", f"Send {' or '.join(sorted(methods))}."
    headers = {"Allow": allowed}
    return ProblemError(HTTPStatus.METHOD_NOT_ALLOWED, detail, next_step=step, headers=headers)
