"""The API: nine operations under /v0, and their OpenAPI document."""

from typing import Any

from django.conf import settings
from ninja import NinjaAPI

from dashboard.embedded_api.keys import ServiceKey
from dashboard.embedded_api.parser import JsonParser
from dashboard.embedded_api.problems import Problem, add_exception_handlers
from dashboard.embedded_api.routers import audiences, pages, people, webhooks

DESCRIPTION = f"""\
Pages, audiences and their versions, the conversations in which audiences were written, people,
and webhook subscriptions. Where the interface specification is silent, this service chose:

- Dates are `accountlog_` and a UUIDv7 of the moment: they sort by time, and carry it.
- Refusals are `application/problem+json` (RFC 9457): 400 malformed JSON or cursor, 401 missing,
  unknown or revoked key, 404 no such thing or another tenant's, 405, 409 conflict, 411 a body
  without its length, 413 a body over 1 MiB, 415, and 422 with `errors: [{{path, message}}]`.
  Unknown fields of a body, fields given twice and NUL characters are 422, so nothing that is sent
  is lost silently. So are numbers of more than 308 digits before the point, and more than 20
  levels of nesting.
- Lists come newest first by `createdAt`, then by id; people by name, then by id. Cursors are
  opaque and name the last item seen, so what is added or removed meanwhile shifts nothing.
- A key belongs to one tenant, and may call {settings.EMBEDDED_API_CALLS_PER_MINUTE:,} times in a
  minute of the clock. A further call is 429, with the seconds to wait in `Retry-After`.
- An id in a path is percent-encoded and may hold any character but NUL.
"""

api = NinjaAPI(
    title="Page and Audience Publishing Service",
    version="v0",
    description=DESCRIPTION,
    auth=ServiceKey(),
    parser=JsonParser(),
    docs_url=None,
    openapi_url=None,
)
add_exception_handlers(api)
api.add_router("/pages", audiences.router)
api.add_router("/pages", pages.router)
api.add_router("/persons", people.router)
api.add_router("/webhook_subscriptions", webhooks.router)


def openapi_document(script_prefix: str = "/") -> dict[str, Any]:
    """Return the OpenAPI document, with `script_prefix` as the server's URL."""
    document = dict(api.get_openapi_schema(path_prefix="/v0/"))
    # Sorted by path: the routers are in the order of matching.
    document["paths"] = dict(sorted(document["paths"].items()))
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    document["components"]["schemas"] |= problem.pop("$defs") | {"Problem": problem}
    document["servers"] = [{"url": script_prefix.rstrip("/") or "/"}]
    return document
