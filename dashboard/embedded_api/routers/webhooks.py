"""Operation 9: update a webhook subscription. Also an extra operation to send a form event.

The interface has no forms, so there is no other way to test a receiver of form events.
"""

from django.db import transaction
from django.http import HttpResponse
from ninja import Router

from dashboard.contract import webhooks as contract
from dashboard.embedded_api.event_payloads import FormEvent, NewFormEvent
from dashboard.embedded_api.events import payload_of
from dashboard.embedded_api.http import ServiceRequest, error_responses
from dashboard.embedded_api.ids import new_id, uuid7_now
from dashboard.embedded_api.models import Audience, Page, Subscription, WebhookEvent
from dashboard.embedded_api.requests import SubscriptionChange
from dashboard.embedded_api.serializers import json_response, subscription_json
from dashboard.json_api.problems import not_found

router = Router(tags=["Webhook subscriptions"], by_alias=True)


@router.patch(
    "/{any_id:subscription_id}",
    response=contract.WebhookSubscription,
    operation_id="updateWebhookSubscription",
    summary="Update webhook subscription",
    openapi_extra=error_responses(400, 404, 413, 415, 422),
)
def update(
    request: ServiceRequest, subscription_id: str, change: SubscriptionChange
) -> HttpResponse:
    """Update only the fields that are sent.

    `url` is an absolute http or https URL with a host; `events` has any of the six names, without
    duplicates, and may be empty. Null and unknown fields are rejected. A body that changes
    nothing, such as `{}`, leaves `updatedAt` unchanged.
    """
    fields = change.model_dump(exclude_unset=True)
    with transaction.atomic():
        rows = Subscription.objects.select_for_update().filter(tenant_id=request.auth)
        if not (row := rows.filter(id=subscription_id).first()):
            raise not_found("Webhook subscription not found.")
        if any(getattr(row, name) != value for name, value in fields.items()):
            for name, value in fields.items():
                setattr(row, name, value)
            row.updated_at = uuid7_now()
            row.save(update_fields=[*fields, "updated_at"])
    return json_response(subscription_json(row))


form_events = Router(tags=["Events"], by_alias=True)


@form_events.post(
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
    data = {
        "tenantId": request.auth,
        "pageId": event.page_id,
        "audienceId": event.audience_id,
        "formId": event.form_id,
        "submissionId": event.submission_id or new_id("submission"),
    }
    with transaction.atomic():
        if not Page.objects.filter(tenant_id=request.auth, id=event.page_id).exists():
            raise not_found("Page not found.")
        audiences = Audience.objects.filter(page_id=event.page_id, id=event.audience_id)
        if event.audience_id is not None and not audiences.exists():
            raise not_found("Audience not found.")
        row = WebhookEvent.objects.create(
            tenant_id=request.auth,
            page_id=event.page_id,
            name=event.event,
            occurred_at=uuid7_now(),
            data=data,
        )
    return json_response(payload_of(row), status=202)
