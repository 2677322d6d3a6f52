"""Convert the OpenAPI document to the rows of its HTML page."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from markdown_it import MarkdownIt

_LIMITS = ("format", "minimum", "maximum", "minLength", "maxLength", "uniqueItems")
_markdown = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True)
class FieldRow:
    """One field or parameter."""

    name: str
    type: str
    is_required: bool
    notes: str
    """Trusted HTML."""
    where: str = ""


@dataclass(frozen=True)
class OperationRow:
    """One operation."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[FieldRow]
    body: str
    answer: str
    refusals: str
    """The statuses with their names; the body of each is a Problem."""
    curl: str
    example: str
    """JSON of a response."""


@dataclass(frozen=True)
class EventRow:
    """One of the six events."""

    name: str
    summary: str
    body: str
    curl: str
    example: str
    """JSON of the event."""


@dataclass(frozen=True)
class SchemaRow:
    """One JSON object of the API."""

    name: str
    description: str
    fields: list[FieldRow]


def render_markdown(markdown: str) -> str:
    """Render one of our descriptions; HTML in it is escaped."""
    return str(_markdown.render(markdown))


def operations(document: dict[str, Any]) -> Iterator[OperationRow]:
    """Yield the operations of an OpenAPI document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield OperationRow(
                id=operation["operationId"],
                method=method.upper(),
                path=path,
                summary=operation["summary"],
                description=render_markdown(operation["description"]),
                parameters=[_parameter(parameter) for parameter in operation["parameters"]],
                body=_content(operation.get("requestBody", {})),
                answer=", ".join(
                    f"{code} {response['description']}: {_content(response)}"
                    for code, response in operation["responses"].items()
                    if int(code) < 400
                ),
                refusals=", ".join(
                    f"{code} {response['description']}"
                    for code, response in operation["responses"].items()
                    if int(code) >= 400
                ),
                curl=operation["x-codeSamples"][0]["source"],
                example=_example(next(iter(operation["responses"].values()))),
            )


def events(document: dict[str, Any]) -> Iterator[EventRow]:
    """Yield the events of an OpenAPI document."""
    for name, methods in document["webhooks"].items():
        event = methods["post"]
        yield EventRow(
            name,
            event["summary"],
            _content(event["requestBody"]),
            event["x-codeSamples"][0]["source"],
            _example(event["requestBody"]),
        )


def schemas(document: dict[str, Any]) -> Iterator[SchemaRow]:
    """Yield the objects of requests and responses."""
    for name, schema in sorted(document["components"]["schemas"].items()):
        required = schema.get("required", [])
        fields = [
            FieldRow(field, type_words(value), field in required, _notes(value))
            for field, value in schema.get("properties", {}).items()
        ]
        yield SchemaRow(_object_name(name), render_markdown(schema.get("description", "")), fields)


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


def _parameter(parameter: dict[str, Any]) -> FieldRow:
    name, schema = parameter["name"], parameter["schema"]
    description = _markdown.renderInline(parameter.get("description", ""))
    notes = " ".join(filter(None, (description, _notes(schema))))
    return FieldRow(name, type_words(schema), parameter["required"], notes, parameter["in"])


def _notes(schema: dict[str, Any]) -> str:
    default = [f"default {schema['default']}"] if schema.get("default") not in (None, "") else []
    limits = [f"{name} {schema[name]}" for name in _LIMITS if name in schema]
    return escape(", ".join(default + limits))


def _object_name(name: str) -> str:
    """Return `ListEnvelope of Page` for pydantic's `ListEnvelope_Page_`."""
    return name.rstrip("_").replace("_", " of ")


def _example(holder: dict[str, Any]) -> str:
    """Return the example of a body as indented JSON."""
    (content,) = holder["content"].values()
    return json.dumps(content["example"], indent=2, ensure_ascii=False)


def _content(holder: dict[str, Any]) -> str:
    """Describe the content of a body: `application/json: Page`."""
    contents = holder.get("content", {}).items()
    return ", ".join(f"{kind}: {type_words(content['schema'])}" for kind, content in contents)
