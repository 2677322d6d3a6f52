"""The API: nine operations under /v0, one extra operation for tests, and its documentation."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings

from dashboard.embedded_api import event_payloads, examples
from dashboard.embedded_api.keys import ServiceKey
from dashboard.embedded_api.requests import NO_NUL, PATTERNS
from dashboard.embedded_api.routers import audiences, pages, people, webhooks
from dashboard.json_api.description import complete_document
from dashboard.json_api.endpoint import JsonAPI
from dashboard.json_api.problems import Problem

DESCRIPTION = f"""\
Pages, audiences and their versions, the conversations in which audiences were written, people,
and webhook subscriptions. What the interface specification leaves open, this service decides:

- Dates are `accountlog_` and a UUIDv7 of the time: they sort by time and contain it.
- Errors are `application/problem+json` (RFC 9457): 400 for malformed JSON or cursors, 401 for a
  missing, unknown or revoked key, 404 for an object that does not exist or belongs to another
  tenant, 405, 409 for a conflict, 411 for a body without its length, 413 for a body over 1 MiB,
  415, and 422 with `errors: [{{path, message}}]`. Unknown or repeated fields of a body and NUL
  characters return 422, so no input is lost silently. So do numbers of more than 308 digits before
  the point, and more than 20 levels of nesting.
- Lists are sorted newest first by `createdAt`, then by ID; people by name, then by ID. Cursors are
  opaque and identify the last item, so items added or removed meanwhile shift nothing.
- A key belongs to one tenant and allows {settings.EMBEDDED_API_CALLS_PER_MINUTE:,} calls per
  calendar minute. Further calls return 429, with the seconds to wait in `Retry-After`.
- Webhook events: `page.version.created`, `.processed` and `.published` are sent once each, when
  they have become true. The interface has no forms, so the `form.*` events are only sent by
  `POST /service/events/form`. A subscription whose `events` are null gets none.
- An ID in a path is percent-encoded and may contain any character except NUL.
{examples.NOTE}"""


def _new_api(namespace: str) -> JsonAPI:
    return JsonAPI(
        title="Page and Audience Publishing Service",
        version="v0",
        description=DESCRIPTION,
        urls_namespace=namespace,
        auth=ServiceKey(),
    )


api = _new_api("v0")
api.add_router("/pages", audiences.router)
api.add_router("/pages", pages.router)
api.add_router("/persons", people.router)
api.add_router("/webhook_subscriptions", webhooks.router)

extras = _new_api("extras")
"""The API outside /v0. The interface specification defines /v0."""
extras.add_router("/events", webhooks.form_events)


def openapi_document(script_prefix: str = "/") -> dict[str, Any]:
    """Return the OpenAPI document with `script_prefix` as the server's URL."""
    document = dict(api.get_openapi_schema(path_prefix="/v0/"))
    beside = extras.get_openapi_schema(path_prefix="/service/")
    # Sort by path, as the routers are in the order of matching.
    document["paths"] = dict(sorted(document["paths"].items())) | beside["paths"]
    document["webhooks"] = event_payloads.webhooks()
    document["components"]["schemas"] |= beside["components"]["schemas"]
    document["components"]["schemas"] |= event_payloads.payload_schemas()
    complete_document(document, Problem, script_prefix)
    _add_patterns(document)
    examples.add_examples(document)
    return document


def _add_patterns(document: dict[str, Any]) -> None:
    """Add the patterns for texts in requests. No text may contain NUL."""
    operations = [
        operation for methods in document["paths"].values() for operation in methods.values()
    ]
    parameters = [parameter for operation in operations for parameter in operation["parameters"]]
    for parameter in parameters:
        if pattern := PATTERNS.get(parameter["name"]):
            parameter["schema"]["pattern"] = pattern
    waiting = [*parameters, *(operation.get("requestBody") for operation in operations)]
    names: set[str] = set()
    while waiting:
        for schema in _objects_in(waiting.pop()):
            if schema.get("type") == "string" and not schema.keys() & {"pattern", "enum", "format"}:
                schema["pattern"] = NO_NUL
            name = str(schema.get("$ref", "")).rpartition("/")[2]
            if name and name not in names:
                names.add(name)
                waiting.append(document["components"]["schemas"][name])


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value or ():
        if isinstance(inner, dict | list):
            yield from _objects_in(inner)
