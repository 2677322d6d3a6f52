"""Refusals of acts as problem details (RFC 9457) with a next step."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from dashboard.json_api.problems import FieldError, ProblemError, invalid_fields_problem

DOCS = "/api/1/docs"
NEXT = {
    HTTPStatus.BAD_REQUEST: "Correct the request. The description has its form.",
    HTTPStatus.NOT_FOUND: "Find the ID with the act find. The token may be limited to some pages.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Correct the fields that errors names.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Send a smaller body.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Report the request ID to an administrator.",
    HTTPStatus.BAD_GATEWAY: "Nothing was sent. Try again in a minute, with the same key.",
}
"""Default next step for each status."""


class ActError(Exception):
    """A refused act. `kind` is the problem's anchor in the documentation, such as `changed`."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        kind: str = "",
        next_step: str = "",
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.headers = status, dict(headers or {})
        self.body: dict[str, Any] = {
            "type": f"{DOCS}#{kind or status.name.lower().replace('_', '-')}",
            "title": status.phrase,
            "status": int(status),
            "detail": detail,
            "next": next_step or NEXT.get(status, "Read the description of this problem."),
            **({"errors": [*errors]} if errors else {}),
            **(more or {}),
        }


def act_error(problem: ProblemError, **more: Any) -> ActError:
    """Convert a problem of the shared parser: add a next step and JSON pointers to its fields."""
    errors = []
    for field in problem.errors:
        escaped = field.path.replace("~", "~0").replace("/", "~1").replace(".", "/")
        pointer = f"#/{escaped}" if field.path else "#"
        errors.append({"pointer": pointer, "detail": field.message})
    headers = problem.headers
    return ActError(problem.status, problem.detail, errors=errors, headers=headers, **more)


def not_found(what: str) -> ActError:
    return ActError(HTTPStatus.NOT_FOUND, f"{what} not found, or not visible to this token.")


def invalid(fields: Mapping[str, str]) -> ActError:
    """Return a 422. `fields` maps the path of each field, such as `versions.0`, to its problem."""
    errors = [FieldError(path=path, message=detail) for path, detail in fields.items()]
    return act_error(invalid_fields_problem(errors))
