"""Operation 9: update a webhook subscription."""

from django.db import transaction
from django.http import HttpResponse
from ninja import Router

from dashboard.contract import webhooks as contract
from dashboard.embedded_api.http import ServiceRequest, error_responses
from dashboard.embedded_api.ids import uuid7_now
from dashboard.embedded_api.models import Subscription
from dashboard.embedded_api.problems import not_found
from dashboard.embedded_api.requests import SubscriptionChange
from dashboard.embedded_api.serializers import json_response, subscription_json

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
            row.save()
    return json_response(subscription_json(row))
