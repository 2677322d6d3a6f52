"""Send a form event: the interface has no forms, so receivers could not try these otherwise."""

from typing import Any

from django.db import transaction
from django.http import HttpResponse
from ninja import Router

from dashboard.embedded_api.event_payloads import FormEvent, NewFormEvent
from dashboard.embedded_api.events import payload_of
from dashboard.embedded_api.http import ServiceRequest, error_responses
from dashboard.embedded_api.ids import new_id, uuid7_now
from dashboard.embedded_api.models import Audience, Page, WebhookEvent
from dashboard.embedded_api.problems import not_found
from dashboard.embedded_api.serializers import json_response

router = Router(tags=["Events"], by_alias=True)


@router.post(
    "/form",
    response={202: FormEvent},
    operation_id="sendFormEvent",
    summary="Send a form event",
    openapi_extra=error_responses(400, 404, 413, 415, 422),
)
def send_form_event(request: ServiceRequest, event: NewFormEvent) -> HttpResponse:
    """Send a form event to the subscriptions that list it, for trying.

    It isn't part of the interface specification, which has no forms. The response is the event as
    receivers get it. Unknown fields are rejected; a page or an audience of another tenant is 404.
    """
    with transaction.atomic():
        _require_target(request.auth, event)
        row = WebhookEvent.objects.create(
            tenant_id=request.auth,
            page_id=event.page_id,
            name=event.event,
            occurred_at=uuid7_now(),
            data=_data(request.auth, event),
        )
    return json_response(payload_of(row), status=202)


def _require_target(tenant_id: str, event: NewFormEvent) -> None:
    if not Page.objects.filter(tenant_id=tenant_id, id=event.page_id).exists():
        raise not_found("Page not found.")
    audiences = Audience.objects.filter(page_id=event.page_id, id=event.audience_id)
    if event.audience_id is not None and not audiences.exists():
        raise not_found("Audience not found.")


def _data(tenant_id: str, event: NewFormEvent) -> dict[str, Any]:
    return {
        "tenantId": tenant_id,
        "pageId": event.page_id,
        "audienceId": event.audience_id,
        "formId": event.form_id,
        "submissionId": event.submission_id or new_id("submission"),
    }
