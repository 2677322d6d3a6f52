"""The JSON API under /api/1/: the acts as resources, and their OpenAPI document."""

import json
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.http import HttpResponse, JsonResponse
from ninja import Query
from ninja.errors import ValidationError
from pydantic import BaseModel

from dashboard.json_api.description import add_example, complete_document, problem_responses
from dashboard.json_api.endpoint import JsonAPI
from dashboard.json_api.problems import (
    PROBLEM_TYPE,
    FieldError,
    ProblemError,
    invalid_fields_problem,
    problem_of,
)
from dashboard.machine import shapes
from dashboard.machine.acts import ACTS, Act, perform
from dashboard.machine.errors import MachineProblem
from dashboard.machine.http import MachineRequest
from dashboard.machine.models import MAX_KEY

DESCRIPTION = Path(__file__).with_name("api.md").read_text(encoding="utf-8")
EXAMPLES = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
STATUSES = (400, 401, 403, 404, 405, 409, 411, 413, 415, 422, 429, 502)

api = JsonAPI(title="Pressroom", version="1", description=DESCRIPTION, urls_namespace="machine")


@api.exception_handler(ValidationError)
def on_invalid(request: Any, error: ValidationError) -> HttpResponse:
    """Name unknown parameters beside the wrong ones. Ninja drops them silently."""
    raise invalid_fields_problem([*problem_of(request, error).errors, *_unknown(request)])


def _route(name: str, path: str) -> Callable[[Any], Any]:
    """Declare the resource of an act."""
    act = ACTS[name]
    extra = problem_responses(MachineProblem, *STATUSES)
    if act.is_write:
        schema = {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": r"^[!-~]+$"}
        header = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": schema}
        extra["parameters"] = [header]
    return (api.post if act.is_write else api.get)(
        path,
        response=act.output,
        operation_id=name,
        url_name=name,
        summary=name.replace("_", " ").capitalize(),
        openapi_extra=extra,
    )


def _unknown(request: MachineRequest) -> list[FieldError]:
    """Return the query parameters that the act doesn't take. A write takes none."""
    act, message = _act(request), "is not a parameter of this request"
    names = set() if act.is_write else {*act.input.model_fields} - {*request.resolver_match.kwargs}
    return [FieldError(path=name, message=message) for name in sorted({*request.GET} - names)]


def _act(request: MachineRequest) -> Act:
    return ACTS[str(request.resolver_match.url_name)]


def _respond(
    request: MachineRequest, arguments: BaseModel | None = None, **plan: int
) -> HttpResponse:
    act, key = _act(request), request.headers.get("Idempotency-Key", "")
    if act.is_write and not key:
        step = "Send an Idempotency-Key of your own, such as a UUID; the same one to try again."
        detail = "The header Idempotency-Key is missing."
        raise ProblemError(HTTPStatus.BAD_REQUEST, detail, next_step=step)
    if unknown := _unknown(request):
        raise invalid_fields_problem(unknown)
    fields = arguments.model_dump() if arguments else {}
    status, body = perform(act, request.caller, fields | plan, key=key)
    kind = "application/json" if status < HTTPStatus.BAD_REQUEST else PROBLEM_TYPE
    return JsonResponse(body, status=status, content_type=kind)


@_route("find", "/audiences")
def find(request: MachineRequest, arguments: Query[shapes.Find]) -> HttpResponse:
    return _respond(request, arguments)


@_route("read_audience", "/audience")
def read_audience(request: MachineRequest, arguments: Query[shapes.ReadAudience]) -> HttpResponse:
    return _respond(request, arguments)


@_route("diff", "/diff")
def diff(request: MachineRequest, arguments: Query[shapes.Diff]) -> HttpResponse:
    return _respond(request, arguments)


@_route("plan", "/plans")
def plan(request: MachineRequest, arguments: shapes.MakePlan) -> HttpResponse:
    return _respond(request, arguments)


@_route("status", "/plans/{int:plan}")
def status(request: MachineRequest, plan: int, arguments: Query[shapes.Rest]) -> HttpResponse:
    return _respond(request, arguments, plan=plan)


@_route("request", "/plans/{int:plan}/request")
@_route("publish", "/plans/{int:plan}/publish")
def decide(request: MachineRequest, plan: int, arguments: shapes.Decision) -> HttpResponse:
    return _respond(request, arguments, plan=plan)


@_route("cancel", "/plans/{int:plan}/cancel")
def cancel(
    request: MachineRequest, plan: int, arguments: shapes.Input | None = None
) -> HttpResponse:
    return _respond(request, plan=plan)


@_route("comment", "/comments")
def comment(request: MachineRequest, arguments: shapes.WriteComment) -> HttpResponse:
    return _respond(request, arguments)


@_route("activity", "/activity")
def activity(request: MachineRequest, arguments: Query[shapes.ListOptions]) -> HttpResponse:
    return _respond(request, arguments)


def openapi_document(script_prefix: str = "/") -> dict[str, Any]:
    """Return the OpenAPI document, with `script_prefix` as the server's URL."""
    document = dict(api.get_openapi_schema(path_prefix="/api/1/"))
    complete_document(document, MachineProblem, script_prefix)
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            example = EXAMPLES[operation["operationId"]]
            summary = ACTS[operation["operationId"]].summary
            operation["description"] = f"{summary} {example['description']}"
            url = f"$PRESSROOM_URL{path.replace('{plan}', '7')}{example.get('query', '')}"
            options = ['-H "Authorization: Bearer $PRESSROOM_TOKEN"']
            if method == "post":
                options += ["-X POST", '-H "Idempotency-Key: $(uuidgen)"']
            add_example(operation, example, url, *options)
    return document
