"""The HTML page of an OpenAPI document."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from markdown_it import MarkdownIt

_LIMITS = ("format", "minimum", "maximum", "minLength", "maxLength", "uniqueItems")
_markdown = MarkdownIt("commonmark", {"html": False})

Row: TypeAlias = dict[str, Any]
"""An operation, event, object or field as the page shows it. Notes are trusted HTML."""


def render_markdown(markdown: str) -> str:
    return str(_markdown.render(markdown))


def render_docs(
    request: HttpRequest, document: Row, *, document_view: str, **context: Any
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


def _operations(document: dict[str, Any]) -> Iterator[Row]:
    for path, methods in document["paths"].items():
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
                "path": path,
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
