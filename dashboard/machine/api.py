"""The JSON API under /api/1/: the acts as resources, and their OpenAPI document."""

import json
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from shlex import quote
from typing import Any

from django.http import HttpResponse, JsonResponse
from ninja import NinjaAPI, Query
from ninja.errors import ValidationError
from pydantic import BaseModel

from dashboard.json_api.parser import JsonParser
from dashboard.json_api.problems import (
    PROBLEM_TYPE,
    FieldError,
    invalid_fields_problem,
    problem_of,
)
from dashboard.machine import shapes
from dashboard.machine.acts import ACTS, Act, perform
from dashboard.machine.errors import ActError, act_error
from dashboard.machine.http import MachineRequest, problem_response

DESCRIPTION = Path(__file__).with_name("api.md").read_text(encoding="utf-8")
EXAMPLES = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
STATUSES = (400, 401, 403, 404, 409, 413, 415, 422, 429, 502)


class Error(BaseModel):
    pointer: str
    detail: str


class MachineProblem(BaseModel):
    """The body of every error response."""

    type: str
    title: str
    status: int
    detail: str
    next: str
    errors: list[Error] | None = None
    changes: list[dict[str, str]] | None = None


api = NinjaAPI(
    title="Pressroom",
    version="1",
    description=DESCRIPTION,
    urls_namespace="machine",
    parser=JsonParser(),
    docs_url=None,
    openapi_url=None,
)


def _on_error(request: Any, error: Any) -> HttpResponse:
    if not isinstance(error, ActError):
        problem = problem_of(request, error)
        if isinstance(error, ValidationError):
            problem = invalid_fields_problem([*problem.errors, *_unknown(request)])
        error = act_error(problem)
    return problem_response(error)


for _kind in (ActError, *api._exception_handlers):
    api.add_exception_handler(_kind, _on_error)


def _route(name: str, path: str) -> Callable[[Any], Any]:
    """Declare the resource of an act."""
    act = ACTS[name]
    problem = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/MachineProblem"}}}
    extra: dict[str, Any] = {
        "responses": {
            status: {"description": HTTPStatus(status).phrase, "content": problem}
            for status in STATUSES
        }
    }
    if act.is_write:
        schema = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": r"^[!-~]+$"}
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


def _respond(request: MachineRequest, *shapes: BaseModel, **more: Any) -> HttpResponse:
    act, key = _act(request), request.headers.get("Idempotency-Key", "")
    if act.is_write and not key:
        step = "Send an Idempotency-Key of your own, such as a UUID; the same one to try again."
        detail = "The header Idempotency-Key is missing."
        raise ActError(HTTPStatus.BAD_REQUEST, detail, next_step=step)
    if unknown := _unknown(request):
        raise invalid_fields_problem(unknown)
    arguments = {field: value for shape in shapes for field, value in shape.model_dump().items()}
    status, body = perform(act, request.caller, arguments | more, key=key)
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
def activity(request: MachineRequest, arguments: Query[shapes.Activity]) -> HttpResponse:
    return _respond(request, arguments)


def openapi_document(script_prefix: str = "/") -> dict[str, Any]:
    """Return the OpenAPI document, with `script_prefix` as the server's URL."""
    document = dict(api.get_openapi_schema(path_prefix="/api/1/"))
    problem = MachineProblem.model_json_schema(ref_template="#/components/schemas/{model}")
    document["components"]["schemas"] |= problem.pop("$defs") | {"MachineProblem": problem}
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            _add_example(operation, method, path)
    # No license is granted. OpenAPI has no other way to say so.
    document["info"]["license"] = {"name": "All rights reserved", "identifier": "LicenseRef-None"}
    document["servers"] = [{"url": script_prefix.rstrip("/") or "/"}]
    return document


def _add_example(operation: dict[str, Any], method: str, path: str) -> None:
    name = operation["operationId"]
    example = EXAMPLES[name]
    operation["description"] = f"{ACTS[name].summary} {example['description']}"
    operation["responses"][200]["content"]["application/json"]["example"] = example["response"]
    options = ['-H "Authorization: Bearer $PRESSROOM_TOKEN"']
    if method == "post":
        options = ["-X POST", *options, '-H "Idempotency-Key: $(uuidgen)"']
    if body := example.get("body"):
        operation["requestBody"]["content"]["application/json"]["example"] = body
        options += ["-H 'Content-Type: application/json'", f"-d {quote(json.dumps(body))}"]
    url = path.replace("{plan}", "7") + example.get("query", "")
    source = " ".join(["curl", *options, f'"$PRESSROOM_URL{url}"'])
    operation["x-codeSamples"] = [{"lang": "Shell", "label": "curl", "source": source}]
