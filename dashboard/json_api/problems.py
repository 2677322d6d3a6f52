"""Error responses of the service: `application/problem+json` (RFC 9457).

Source: our choice; the spec shows no error status, code or body.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from ninja.errors import AuthenticationError, ValidationError
from pydantic import BaseModel

PROBLEM_TYPE = "application/problem+json"
MAX_ERRORS = 100
"""Fields named in one response: a body of 1 MiB may have a hundred thousand wrong ones."""
HOLDS_NUL = "must not contain a NUL character"
_MESSAGES = {
    "missing": "is required",
    "extra_forbidden": "is not a field of this request",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
logger = logging.getLogger(__name__)


class FieldError(BaseModel):
    """One invalid field, by its path in the request: `actions.0.url`."""

    path: str
    message: str


class Problem(BaseModel):
    """The body of every error response."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] | None = None


class ProblemError(Exception):
    """A refused request.

    Access for machines also returns its `kind`, such as `changed`, its next step, and `more`.
    """

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        kind: str = "",
        next_step: str = "",
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors = status, detail, list(errors)
        self.kind, self.next_step, self.more = kind, next_step, more or {}
        self.headers = headers or {}

    def to_response(self) -> HttpResponse:
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
            headers=dict(self.headers),
        )


def not_found(detail: str) -> ProblemError:
    """Return a 404: no such object, or another tenant's."""
    return ProblemError(HTTPStatus.NOT_FOUND, detail)


def invalid_fields_problem(errors: Iterable[FieldError]) -> ProblemError:
    """Return a 422 that names the first hundred invalid fields."""
    errors = list(islice(errors, MAX_ERRORS))
    named = ", ".join(dict.fromkeys(error.path or "the body" for error in errors))
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return ProblemError(status, f"Invalid: {named[:500]}.", errors=errors)


def problem_of(request: HttpRequest, error: Any) -> ProblemError:
    if isinstance(error.__cause__, ProblemError):
        # Ninja wraps what our parser raises.
        error = error.__cause__
    match error:
        case ProblemError():
            return error
        case ValidationError():
            # Ninja's path begins with `query`, or with `body` and the argument's name.
            return invalid_fields_problem(
                field_error(error, 1 if error["loc"][0] == "query" else 2) for error in error.errors
            )
        case AuthenticationError():
            detail = "The x-api-key header is missing, or its key is unknown or revoked."
            headers = {"WWW-Authenticate": "ApiKey"}
            return ProblemError(HTTPStatus.UNAUTHORIZED, detail, headers=headers)
        case RequestDataTooBig():
            detail = "The body is too large."
            return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
        case UnreadablePostError():
            detail = "The body arrived too slowly, or the connection was lost."
            return ProblemError(HTTPStatus.REQUEST_TIMEOUT, detail)
    logger.error("%s %r failed", request.method, request.path, exc_info=error)
    detail = "Internal error. It was logged."
    return ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, detail)


def field_error(error: Mapping[str, Any], prefix_length: int = 0) -> FieldError:
    """Convert a pydantic error, without the first `prefix_length` parts of its path."""
    path = ".".join(str(part) for part in error["loc"][prefix_length:])
    message = error["msg"].removeprefix("Value error, ")
    return FieldError(path=path, message=_MESSAGES.get(error["type"], message))
