"""Errors as the service answers them: `application/problem+json` (RFC 9457).

Source: our choice (DESIGN.md); the spec shows no error status, code or body.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import BaseModel

PROBLEM_TYPE = "application/problem+json"
MAX_ERRORS = 100
"""Fields that one refusal names: a body of one mebibyte may have a hundred thousand wrong ones."""
HOLDS_NUL = "must not hold a NUL character"
_IN_OUR_WORDS = {"missing": "is required", "extra_forbidden": "is no field of this request"}
logger = logging.getLogger(__name__)


class FieldError(BaseModel):
    """One field that was not accepted, by its path in the request: `actions.0.url`."""

    path: str
    message: str


class Problem(BaseModel):
    """The body of every answer that is not a success."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] | None = None


class ProblemError(Exception):
    """Ends a request with a problem. `detail` is a sentence for the person who reads it."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = list(errors)
        self.headers = headers

    def to_response(self) -> HttpResponse:
        """Return the problem as an answer; `errors` is there only where fields are named."""
        problem = Problem(
            title=self.status.phrase,
            status=self.status,
            detail=self.detail,
            errors=self.errors or None,
        )
        return HttpResponse(
            problem.model_dump_json(exclude_none=True),
            status=self.status,
            content_type=PROBLEM_TYPE,
            headers=dict(self.headers or {}),
        )


def not_found(detail: str) -> ProblemError:
    """Return a 404: not there, or another tenant's."""
    return ProblemError(HTTPStatus.NOT_FOUND, detail)


def fields_not_accepted(errors: Iterable[FieldError]) -> ProblemError:
    """Return a 422 that names the fields, the first hundred of them."""
    errors = list(islice(errors, MAX_ERRORS))
    named = ", ".join(dict.fromkeys(error.path or "the body" for error in errors))
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return ProblemError(status, f"Not accepted: {named[:500]}.", errors=errors)


def answer_with_problems(api: NinjaAPI) -> None:
    """Teach the API to answer whatever goes wrong with a problem."""
    api.add_exception_handler(ProblemError, _said)
    api.add_exception_handler(ValidationError, _validation_failed)
    api.add_exception_handler(AuthenticationError, _key_refused)
    api.add_exception_handler(HttpError, _body_not_parsed)
    api.add_exception_handler(RequestDataTooBig, _too_large_to_read)
    api.add_exception_handler(Exception, _failed)


def _said(_request: HttpRequest, problem: Any) -> HttpResponse:
    response: HttpResponse = problem.to_response()
    return response


def _validation_failed(_request: HttpRequest, failure: Any) -> HttpResponse:
    return fields_not_accepted(map(_field_error, failure.errors)).to_response()


def _field_error(error: Mapping[str, Any]) -> FieldError:
    """Return the place without what ninja puts before it: `query`, or `body` and an argument."""
    outside = 1 if error["loc"][0] == "query" else 2
    path = ".".join(str(part) for part in error["loc"][outside:])
    said = error["msg"].removeprefix("Value error, ")
    return FieldError(path=path, message=_IN_OUR_WORDS.get(error["type"], said))


def _key_refused(_request: HttpRequest, _error: object) -> HttpResponse:
    return ProblemError(
        HTTPStatus.UNAUTHORIZED,
        "The x-api-key header is missing, or its key is unknown or revoked.",
        headers={"WWW-Authenticate": "ApiKey"},
    ).to_response()


def _body_not_parsed(request: HttpRequest, error: Any) -> HttpResponse:
    """Answer with what our parser said; ninja wraps it into an error of its own."""
    if isinstance(error.__cause__, ProblemError):
        return error.__cause__.to_response()
    return _failed(request, error)


def _too_large_to_read(_request: HttpRequest, _error: object) -> HttpResponse:
    detail = "The body is too large to be read."
    return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail).to_response()


def _failed(request: HttpRequest, error: Any) -> HttpResponse:
    logger.error("%s %r failed", request.method, request.path, exc_info=error)
    detail = "The service failed; the failure is in its log."
    return ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, detail).to_response()
