"""The payloads of events, and their part of the OpenAPI document.

Source: our choice; the spec shows the names only. The envelope follows standardwebhooks.com.
"""

from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import models_json_schema

from dashboard.contract.webhooks import EventName
from dashboard.contract.wire import Count
from dashboard.embedded_api.ids import ID_LENGTH
from dashboard.embedded_api.requests import Strict

FormEventName = Literal["form.submitted", "form.enriched", "form.enrichment_failed"]
VersionEventName = Literal[
    "page.version.created", "page.version.processed", "page.version.published"
]
ID = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]

SUMMARIES = {
    EventName.PAGE_VERSION_CREATED: "A version was created.",
    EventName.PAGE_VERSION_PROCESSED: "The processing of a version has ended.",
    EventName.PAGE_VERSION_PUBLISHED: "A version is live.",
    EventName.FORM_SUBMITTED: "A form was submitted.",
    EventName.FORM_ENRICHED: "A submission was enriched.",
    EventName.FORM_ENRICHMENT_FAILED: "A submission could not be enriched.",
}
DELIVERY = """\
Sent by POST to each active subscription that lists the event; an empty list and null select none.
The body has ids, numbers and times, no personal data. It is signed as Standard Webhooks
(standardwebhooks.com) describes, with the secret of the subscription: verify it with one of their
libraries.

Any status 2xx accepts the event. Redirects are not followed, and a response has 10 s. Other
responses are retried for a day: after 5 s, 30 s, 2 min, 10 min, 30 min, then every hour, or after
the time in `Retry-After`, an hour at most. 410 ends the retries. An event may arrive twice, with
the same `webhook-id`, and events may arrive in another order."""
_HEADERS = {
    "webhook-id": "The event's ID, the same in every attempt and for every subscription.",
    "webhook-timestamp": "The time of the attempt, in seconds since 1970.",
    "webhook-signature": "One or more signatures: for a day after a rotation the previous secret "
    "signs too.",
}


class VersionEventData(Strict):
    """The version of an event, by its ids."""

    tenant_id: str
    page_id: str
    audience_id: str
    version_id: str
    version_number: Count


class VersionEvent(Strict):
    """An event of a version."""

    type: VersionEventName
    timestamp: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    id: str
    data: VersionEventData


class FormEventData(Strict):
    """The form and the submission of an event, by their ids."""

    tenant_id: str
    page_id: str
    audience_id: str | None
    form_id: str | None
    submission_id: str


class FormEvent(Strict):
    """An event of a form."""

    type: FormEventName
    timestamp: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    id: str
    data: FormEventData


class NewFormEvent(Strict):
    """A form event to send, for trying. An absent `submissionId` is generated."""

    event: FormEventName
    page_id: ID
    audience_id: ID | None = None
    form_id: ID | None = None
    submission_id: ID | None = None


def payload_schemas() -> dict[str, Any]:
    _, definitions = models_json_schema(
        [(VersionEvent, "validation"), (FormEvent, "validation")],
        ref_template="#/components/schemas/{model}",
    )
    schemas: dict[str, Any] = definitions["$defs"]
    return schemas


def webhooks() -> dict[str, Any]:
    """Return the `webhooks` of the OpenAPI document, by event name."""
    return {name.value: {"post": _operation(name)} for name in EventName}


def _operation(name: EventName) -> dict[str, Any]:
    model = VersionEvent if name.startswith("page.") else FormEvent
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    headers = [
        {"in": "header", "name": name, "required": True, "schema": {"type": "string"}}
        | {"description": description}
        for name, description in _HEADERS.items()
    ]
    return {
        "operationId": name.value,
        "summary": SUMMARIES[name],
        "description": DELIVERY,
        "tags": ["Events"],
        # Receivers need no key. They verify the signature.
        "security": [],
        "parameters": headers,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "Accepted"}, "410": {"description": "Not sent again"}},
    }
