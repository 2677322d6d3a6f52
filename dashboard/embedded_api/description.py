"""The OpenAPI document laid out for a reader: operations and schemas as plain rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from markdown_it import MarkdownIt

_TOLD_APART = ("format", "minimum", "maximum", "minLength", "maxLength", "uniqueItems")
_markdown = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True)
class Field:
    """One field or parameter."""

    name: str
    type: str
    is_required: bool
    notes: str
    """HTML of our own."""
    where: str = ""


@dataclass(frozen=True)
class Operation:
    """One of the nine operations."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[Field]
    body: str
    answer: str
    refusals: str
    """The statuses with their names; the body of each is a Problem."""


@dataclass(frozen=True)
class Schema:
    """One object of the wire."""

    name: str
    description: str
    fields: list[Field]


def as_html(markdown: str) -> str:
    """Return our own description as HTML; what looks like HTML in it stays text."""
    return str(_markdown.render(markdown))


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """Yield the operations of an OpenAPI document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield Operation(
                id=operation["operationId"],
                method=method.upper(),
                path=path,
                summary=operation["summary"],
                description=as_html(operation["description"]),
                parameters=[_parameter(parameter) for parameter in operation["parameters"]],
                body=_content(operation.get("requestBody", {})),
                answer=", ".join(
                    f"{_status(code, answer)}: {_content(answer)}"
                    for code, answer in operation["responses"].items()
                    if int(code) < 400
                ),
                refusals=", ".join(
                    _status(code, answer)
                    for code, answer in operation["responses"].items()
                    if int(code) >= 400
                ),
            )


def schemas(document: dict[str, Any]) -> Iterator[Schema]:
    """Yield the objects that the operations take and give."""
    for name, schema in sorted(document["components"]["schemas"].items()):
        required = schema.get("required", [])
        fields = [
            Field(field, type_words(of), field in required, _notes(of))
            for field, of in schema.get("properties", {}).items()
        ]
        yield Schema(_object_name(name), as_html(schema.get("description", "")), fields)


def type_words(schema: dict[str, Any]) -> str:
    """Return a schema's type in words: `array of Action or null`."""
    if "$ref" in schema:
        return _object_name(str(schema["$ref"]).rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(type_words(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"array of {type_words(schema['items'])}"
    return str(schema.get("type", "any value"))


def _parameter(parameter: dict[str, Any]) -> Field:
    schema = parameter["schema"]
    said = _markdown.renderInline(parameter.get("description", ""))
    notes = " ".join(part for part in (said, _notes(schema)) if part)
    return Field(
        parameter["name"], type_words(schema), parameter["required"], notes, parameter["in"]
    )


def _notes(schema: dict[str, Any]) -> str:
    default = [f"default {schema['default']}"] if schema.get("default") not in (None, "") else []
    limits = [f"{name} {schema[name]}" for name in _TOLD_APART if name in schema]
    return escape(", ".join(default + limits))


def _object_name(name: str) -> str:
    """Return `ListEnvelope of Page` for `ListEnvelope_Page_`, which is how a generic is named."""
    return name.rstrip("_").replace("_", " of ")


def _status(code: int | str, answer: dict[str, Any]) -> str:
    return f"{code} {answer['description']}"


def _content(holder: dict[str, Any]) -> str:
    """Return what a body holds: `application/json: Page`."""
    contents = holder.get("content", {}).items()
    return ", ".join(f"{kind}: {type_words(content['schema'])}" for kind, content in contents)
