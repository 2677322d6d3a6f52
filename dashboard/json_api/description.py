"""The HTML page of an OpenAPI document."""

import json
from collections.abc import Callable, Iterator
from http import HTTPStatus
from shlex import quote
from typing import Any, TypeAlias

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern, get_script_prefix, path
from django.utils.html import escape
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from pydantic import BaseModel

from dashboard.json_api.problems import PROBLEM_TYPE

_LIMITS = ("format", "minimum", "maximum", "minLength", "maxLength", "uniqueItems")
AS_JSON = "-H 'Content-Type: application/json'"
_markdown = MarkdownIt("commonmark", {"html": False})

Row: TypeAlias = dict[str, Any]
"""An operation, event, object or field as the page shows it. Notes are trusted HTML."""


def render_markdown(markdown: str) -> str:
    return str(_markdown.render(markdown))


def document_urls(
    prefix: str, name: str, document: Callable[[str], Row], **context: Any
) -> list[URLPattern]:
    """Return the URLs of an OpenAPI document and of its page. `document` takes a script prefix."""

    @login_not_required
    @require_safe
    def openapi(request: HttpRequest) -> JsonResponse:
        return JsonResponse(document(get_script_prefix()))

    @login_not_required
    @require_safe
    def docs(request: HttpRequest) -> HttpResponse:
        return _render_docs(request, document(get_script_prefix()), f"{name}-openapi", context)

    return [
        path(f"{prefix}openapi.json", openapi, name=f"{name}-openapi"),
        path(f"{prefix}docs", docs, name=f"{name}-docs"),
    ]


def _render_docs(
    request: HttpRequest, document: Row, document_view: str, context: Row
) -> HttpResponse:
    """Render a document ourselves: the usual viewers load scripts from other hosts."""
    context = {
        "title": document["info"]["title"],
        "document_view": document_view,
        "description": render_markdown(document["info"]["description"]),
        "operations": list(_operations(document)),
        "events": list(_events(document)),
        "schemas": list(_schemas(document)),
    } | context
    return render(request, "service/docs.html", context)


def problem_responses(problem: type[BaseModel], *statuses: int) -> Row:
    """Return the errors of an operation, for `openapi_extra`."""
    schema = {"$ref": f"#/components/schemas/{problem.__name__}"}
    return {
        "responses": {
            status: {
                "description": HTTPStatus(status).phrase,
                "content": {PROBLEM_TYPE: {"schema": schema}},
            }
            for status in statuses
        }
    }


def complete_document(document: Row, problem: type[BaseModel], script_prefix: str) -> None:
    """Add the shape of problems, the license, and `script_prefix` as the server's URL."""
    schema = problem.model_json_schema(ref_template="#/components/schemas/{model}")
    document["components"]["schemas"] |= schema.pop("$defs") | {problem.__name__: schema}
    # There is no license, and the format has no other way to say so.
    document["info"]["license"] = {"name": "All rights reserved", "identifier": "LicenseRef-None"}
    document["servers"] = [{"url": script_prefix.rstrip("/") or "/"}]


def add_example(operation: Row, example: Row, url: str, *options: str) -> None:
    """Add the bodies of an example to an operation, and a curl command with these options."""
    for status, response in operation["responses"].items():
        if int(status) < 400:
            response["content"]["application/json"]["example"] = example["response"]
    if body := example.get("body"):
        operation["requestBody"]["content"]["application/json"]["example"] = body
        options += (AS_JSON, f"-d {quote(json.dumps(body, ensure_ascii=False))}")
    add_curl(operation, *options, f'"{url}"')


def add_curl(operation: Row, *options: str) -> None:
    source = " ".join(["curl", *options])
    operation["x-codeSamples"] = [{"lang": "Shell", "label": "curl", "source": source}]


def _operations(document: dict[str, Any]) -> Iterator[Row]:
    for url, methods in document["paths"].items():
        for method, operation in methods.items():
            responses = operation["responses"].items()
            answers = [
                f"{code} {response['description']}: {_content(response)}"
                for code, response in responses
                if int(code) < 400
            ]
            refusals = [
                f"{code} {response['description']}"
                for code, response in responses
                if int(code) >= 400
            ]
            yield {
                "id": operation["operationId"],
                "method": method.upper(),
                "path": url,
                "summary": operation["summary"],
                "description": render_markdown(operation["description"]),
                "parameters": [_parameter(parameter) for parameter in operation["parameters"]],
                "body": _content(operation.get("requestBody", {})),
                "answer": ", ".join(answers),
                "refusals": ", ".join(refusals),
                "curl": operation["x-codeSamples"][0]["source"],
                "example": _example(next(iter(operation["responses"].values()))),
            }


def _events(document: dict[str, Any]) -> Iterator[Row]:
    for name, methods in document.get("webhooks", {}).items():
        event = methods["post"]
        yield {
            "name": name,
            "summary": event["summary"],
            "body": _content(event["requestBody"]),
            "curl": event["x-codeSamples"][0]["source"],
            "example": _example(event["requestBody"]),
        }


def _schemas(document: dict[str, Any]) -> Iterator[Row]:
    for name, schema in sorted(document["components"]["schemas"].items()):
        required = schema.get("required", [])
        fields = [
            {
                "name": field,
                "type": type_words(value),
                "is_required": field in required,
                "where": "",
                "notes": _notes(value),
            }
            for field, value in schema.get("properties", {}).items()
        ]
        description = render_markdown(schema.get("description", ""))
        yield {"name": _object_name(name), "description": description, "fields": fields}


def type_words(schema: dict[str, Any]) -> str:
    """Describe a schema's type in words: `array of Action or null`."""
    if "$ref" in schema:
        return _object_name(str(schema["$ref"]).rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(type_words(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"array of {type_words(schema['items'])}"
    return str(schema.get("type", "any value"))


def _parameter(parameter: dict[str, Any]) -> Row:
    schema = parameter["schema"]
    description = _markdown.renderInline(parameter.get("description", ""))
    return {
        "name": parameter["name"],
        "type": type_words(schema),
        "is_required": parameter["required"],
        "where": parameter["in"],
        "notes": " ".join(filter(None, (description, _notes(schema)))),
    }


def _notes(schema: dict[str, Any]) -> str:
    default = [f"default {schema['default']}"] if schema.get("default") not in (None, "") else []
    limits = [f"{name} {schema[name]}" for name in _LIMITS if name in schema]
    return escape(", ".join(default + limits))


def _object_name(name: str) -> str:
    """Return `ListEnvelope of Page` for pydantic's `ListEnvelope_Page_`."""
    return name.rstrip("_").replace("_", " of ")


def _example(holder: dict[str, Any]) -> str:
    (content,) = holder["content"].values()
    return json.dumps(content["example"], indent=2, ensure_ascii=False)


def _content(holder: dict[str, Any]) -> str:
    """Describe the content of a body: `application/json: Page`."""
    contents = holder.get("content", {}).items()
    return ", ".join(f"{kind}: {type_words(content['schema'])}" for kind, content in contents)
