"""Announce events and deliver them: tasks of `manage.py worker`."""

import json
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from threading import Event

from django.conf import settings
from django.utils import timezone

from dashboard.embedded_api.deliveries import (
    Result,
    delete_old,
    due_receivers,
    earliest_attempt,
    record_result,
)
from dashboard.embedded_api.events import (
    AT_ONCE,
    announce_due,
    earliest_event,
    earliest_retry,
    payload_of,
)
from dashboard.embedded_api.models import DeliveryState, Subscription, WebhookDelivery, WebhookEvent
from dashboard.embedded_api.signing import secret_of, sign
from dashboard.encryption import DecryptionError
from dashboard.outgoing_webhooks import (
    ForbiddenURLError,
    WebhookError,
    WebhookResponse,
    send_webhook,
)
from dashboard.work.claims import Claim, claim_next
from dashboard.work.sender import SENDER, Receiver
from dashboard.work.tasks import WorkerTask, attempt

UNEXPECTED = Result(
    DeliveryState.WAITING, "The service failed unexpectedly. The error was logged.", is_own=True
)

_logger = logging.getLogger("dashboard.embedded_api.events")


def deliver_events(worker_id: str, stop: Event) -> None:
    """Announce and deliver what is due until stopped; what is being sent is finished first."""
    SENDER.run(_due_receivers, partial(_send_next, worker_id), stop)


def deliver_pending(worker_id: str) -> int:
    """Announce and deliver all that is due now; return the number of attempts. For tests."""
    return SENDER.send_here(_due_receivers, partial(_send_next, worker_id))


def _due_receivers() -> Sequence[Receiver]:
    """Announce what has occurred until somebody is to be sent to."""
    while True:
        announced = announce_due(timezone.now())
        receivers = due_receivers(timezone.now())
        if receivers or announced < AT_ONCE:
            return receivers


def _send_next(worker_id: str, receiver: Receiver) -> None:
    """Send the delivery that has waited longest to a receiver, if it still does."""
    to_receiver = WebhookDelivery.objects.filter(subscription=receiver.pk)
    if claim := claim_next(to_receiver, worker_id, timezone.now()):
        began_at = timezone.now()
        attempt(
            claim,
            partial(_deliver, began_at=began_at),
            partial(record_result, result=UNEXPECTED, began_at=began_at),
        )


def _deliver(claim: Claim[WebhookDelivery], *, began_at: datetime) -> None:
    with claim.renewed():
        result = _send_once(claim.row)
    record_result(claim, result, began_at=began_at)
    if result.problem:
        _logger.info("Delivery %s of an event failed: %s", claim.row.pk, result.problem)


def _send_once(delivery: WebhookDelivery) -> Result:
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
        is_final = isinstance(error, ForbiddenURLError)
        return Result(DeliveryState.GIVEN_UP if is_final else DeliveryState.WAITING, str(error))


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


DELIVER_EVENTS = WorkerTask(deliver_events, due=(earliest_event, earliest_retry, earliest_attempt))
DELETE_OLD_EVENTS = WorkerTask(lambda *_: delete_old(timezone.now()), every_s=3_600.0)
