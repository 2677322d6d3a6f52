"""Announce events and deliver them: tasks of `manage.py worker`."""

import json
import logging
from datetime import timedelta
from http import HTTPStatus
from threading import Event

from django.conf import settings
from django.utils import timezone

from dashboard.embedded_api.deliveries import (
    Result,
    claim_next,
    delete_old,
    earliest_attempt,
    record_result,
)
from dashboard.embedded_api.events import announce_due, earliest_event, payload_of
from dashboard.embedded_api.models import DeliveryState, Subscription, WebhookDelivery, WebhookEvent
from dashboard.embedded_api.signing import secret_of, sign
from dashboard.encryption import DecryptionError
from dashboard.outgoing_webhooks import WebhookError, WebhookResponse, send_webhook
from dashboard.worker_tasks import WorkerTask

_logger = logging.getLogger("dashboard.embedded_api.events")


def deliver_events(worker_id: str, stop: Event) -> None:
    """Announce and deliver what is due until stopped; the delivery being sent is finished first."""
    while not stop.is_set():
        announced = announce_due(timezone.now())
        if not _send_next(worker_id) and not announced:
            return


def deliver_pending(worker_id: str) -> int:
    """Announce and deliver all that is due now; return the number of attempts. For tests."""
    attempts = 0
    while announce_due(timezone.now()):
        pass
    while _send_next(worker_id):
        attempts += 1
    return attempts


def _send_next(worker_id: str) -> bool:
    """Send the delivery that has waited longest; return whether there was one."""
    began_at = timezone.now()
    delivery = claim_next(worker_id, began_at)
    if delivery is None:
        return False
    result = _attempt(delivery)
    record_result(delivery, result, began_at=began_at, now=timezone.now())
    if result.problem:
        _logger.info("Delivery %s of an event failed: %s", delivery.pk, result.problem)
    return True


def _attempt(delivery: WebhookDelivery) -> Result:
    """Send a delivery once, unless its subscription no longer selects the event."""
    subscription = delivery.subscription
    if subscription is None:
        return Result(DeliveryState.NOT_SENT, "The subscription was deleted.")
    if not subscription.active:
        return Result(DeliveryState.NOT_SENT, "The subscription is turned off.")
    if delivery.event.name not in (subscription.events or ()):
        return Result(DeliveryState.NOT_SENT, "The subscription no longer selects this event.")
    delivery.url = subscription.url
    try:
        return _result_of(_send(delivery.event, subscription))
    except DecryptionError:
        problem = "The secret can’t be decrypted: rotate it, or restore the previous SECRET_KEY."
        return Result(DeliveryState.WAITING, problem)
    except WebhookError as error:
        return Result(DeliveryState.WAITING, str(error))


def _send(event: WebhookEvent, subscription: Subscription) -> WebhookResponse:
    body = json.dumps(payload_of(event), separators=(",", ":")).encode()
    signature = sign(secret_of(subscription), event.event_id, timezone.now(), body)
    return send_webhook(
        subscription.url,
        body,
        {"Content-Type": "application/json", **signature},
        allows_loopback=settings.WEBHOOKS_TO_LOOPBACK,
        allows_private=settings.EVENTS_TO_PRIVATE_ADDRESSES,
    )


def _result_of(response: WebhookResponse) -> Result:
    """Return what a response means: all outside 2xx but 410 is tried again."""
    if response.is_accepted:
        return Result(DeliveryState.DELIVERED, status_code=response.status_code)
    is_gone = response.status_code == HTTPStatus.GONE
    return Result(
        DeliveryState.GIVEN_UP if is_gone else DeliveryState.WAITING,
        f"The receiver responded {response.status_code}.",
        response.status_code,
        timedelta(seconds=min(response.retry_after_s or 0, 86_400)),
    )


DELIVER_EVENTS = WorkerTask(deliver_events, due=(earliest_event, earliest_attempt))
DELETE_OLD_EVENTS = WorkerTask(lambda *_: delete_old(timezone.now()), every_s=3_600.0)
