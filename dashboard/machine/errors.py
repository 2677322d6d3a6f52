"""Problems of acts (RFC 9457), each with a next step."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from dashboard.json_api.problems import FieldError, ProblemError, invalid_fields_problem
from dashboard.machine.shapes import UntrustedText

DOCS = "/api/1/docs"
NEXT = {
    HTTPStatus.BAD_REQUEST: "Correct the request. The description has its form.",
    HTTPStatus.NOT_FOUND: "Check the ID. The token may be limited to some pages.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Correct the fields in `errors`.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Send a smaller body.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Report the request ID to an administrator.",
    HTTPStatus.BAD_GATEWAY: "Nothing was sent. Try again in a minute, with the same key.",
}
"""Default next step for each status."""


class WrongField(BaseModel):
    pointer: str
    detail: str


class MachineProblem(BaseModel):
    """The body of every error response."""

    type: str
    title: str
    status: int
    detail: str
    next: str
    errors: list[WrongField] | None = None
    changes: list[dict[str, str]] | None = None
    retry_after_s: int | None = None
    service: UntrustedText | None = None


def problem_body(problem: ProblemError) -> dict[str, Any]:
    """Return a problem with a link to its description and a next step."""
    status = problem.status
    body = MachineProblem(
        type=f"{DOCS}#{problem.kind or status.name.lower().replace('_', '-')}",
        title=status.phrase,
        status=status,
        detail=problem.detail,
        next=problem.next_step or NEXT.get(status, "Read the description of this problem."),
        errors=[_located(error) for error in problem.errors] or None,
        **problem.more,
    )
    return body.model_dump(exclude_none=True)


def _located(error: FieldError) -> WrongField:
    """Name a field by its JSON pointer."""
    path = error.path.replace("~", "~0").replace("/", "~1").replace(".", "/")
    return WrongField(pointer=f"#/{path}" if path else "#", detail=error.message)


def not_found(what: str) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, f"{what} not found, or not visible to this token.")


def invalid(fields: Mapping[str, str]) -> ProblemError:
    """Return a 422. `fields` maps the path of each field, such as `versions.0`, to its problem."""
    errors = [FieldError(path=path, message=detail) for path, detail in fields.items()]
    return invalid_fields_problem(errors)
