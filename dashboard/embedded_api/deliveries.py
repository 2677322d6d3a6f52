"""Tasks of `manage.py worker` that announce, deliver and delete events, and sending again.

Any number of workers may run. If a worker is killed while it sends a delivery, the delivery is
sent again with the same id when the claim ends.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from threading import Event

from django.conf import settings
from django.db import transaction
from django.db.models import Min, QuerySet

from dashboard import clock
from dashboard.embedded_api.events import (
    AT_ONCE,
    RETRIED_FOR,
    announce_due,
    earliest_event,
    earliest_retry,
    payload_of,
)
from dashboard.embedded_api.models import (
    EventDeliveryState,
    Subscription,
    WebhookDelivery,
    WebhookDeliveryAttempt,
    WebhookEvent,
)
from dashboard.embedded_api.signing import secret_of, sign
from dashboard.encryption import DecryptionError
from dashboard.work.claims import Claim, claim_next, earliest
from dashboard.work.deliveries import (
    DeliveryResult,
    drop_waiting,
    post_webhook,
    record_attempt,
    send_all_again,
)
from dashboard.work.sender import SENDER, DueReceiver, OwnerKind
from dashboard.work.tasks import WorkerTask, attempt

STORED_FOR = timedelta(days=30)
UNEXPECTED = DeliveryResult("The service failed unexpectedly. The error was logged.")
_PRUNED_AT_ONCE = 500


def deliver_events(worker_id: str, stop: Event) -> None:
    """Announce and deliver due events until stopped. Deliveries being sent are finished."""
    SENDER.run(_due_receivers, partial(_send_next, worker_id), stop)


def deliver_pending(worker_id: str) -> int:
    """Announce and deliver everything due now; return the number of attempts. For tests."""
    return SENDER.send_here(_due_receivers, partial(_send_next, worker_id))


def _due_receivers() -> Sequence[DueReceiver]:
    """Announce events until a delivery is due; return the receivers of due deliveries.

    Makes one query for the receivers.
    """
    while True:
        announced, now = announce_due(clock.now()), clock.now()
        due = WebhookDelivery.objects.filter(wake_at__lte=now).order_by()
        rows = due.values_list("subscription", "subscription__url").annotate(Min("wake_at"))
        receivers = [
            DueReceiver(pk, url or "", f"subscription {pk}", due_at, OwnerKind.SUBSCRIPTION)
            for pk, url, due_at in rows
        ]
        if receivers or announced < AT_ONCE:
            return receivers


def _send_next(worker_id: str, receiver: DueReceiver) -> None:
    to_receiver = WebhookDelivery.objects.filter(subscription=receiver.pk)
    if claim := claim_next(to_receiver, worker_id, clock.now()):
        attempt(claim, _deliver, partial(_record_result, result=UNEXPECTED))


def _deliver(claim: Claim[WebhookDelivery]) -> None:
    """Send a delivery once, if its subscription is active and selects the event."""
    subscription, event = claim.row.subscription, claim.row.event
    if subscription is None:
        problem = "The subscription was deleted."
    elif not subscription.active:
        problem = "The subscription is turned off."
    elif event.name not in (subscription.events or ()):
        problem = "The subscription no longer selects this event."
    else:
        claim.row.url = subscription.url
        with claim.renewed():
            result = _send(event, subscription)
        _record_result(claim, result)
        return
    claim.release(None, state=EventDeliveryState.NOT_SENT, problem=problem, status_code=None)


def _send(event: WebhookEvent, subscription: Subscription) -> DeliveryResult:
    body = json.dumps(payload_of(event), separators=(",", ":")).encode()
    try:
        signature = sign(secret_of(subscription), event.event_id, clock.now(), body)
    except DecryptionError:
        problem = "The secret can’t be decrypted: rotate it, or restore the previous SECRET_KEY."
        return DeliveryResult(problem, is_shared=True)
    return post_webhook(
        subscription.url, body, signature, allows_private=settings.EVENTS_TO_PRIVATE_ADDRESSES
    )


def _record_result(claim: Claim[WebhookDelivery], result: DeliveryResult) -> None:
    delivery = claim.row
    record_attempt(
        claim,
        result,
        WebhookDeliveryAttempt(
            delivery=delivery,
            at=claim.claimed_at,
            duration=clock.now() - claim.claimed_at,
            status_code=result.status_code,
            problem=result.problem,
        ),
        number=delivery.attempt_count + 1,
        arrived=EventDeliveryState.DELIVERED,
        others=WebhookDelivery.objects.filter(subscription=delivery.subscription_id),
        attempt_count=delivery.attempt_count + 1,
        url=delivery.url,
    )


def send_again(deliveries: QuerySet[WebhookDelivery]) -> int:
    """Schedule deliveries at once, with retries for another day; return how many.

    Leaves out deliveries to a deleted subscription, and those that a worker is sending.
    """
    to_some = deliveries.exclude(subscription=None)
    return send_all_again(to_some, retried_for=RETRIED_FOR, problem="")


@transaction.atomic
def drop_restored() -> int:
    """Cancel deliveries that a restored database would send twice; return how many.

    These were waiting when the backup was made, or belong to events that are due since by their
    dates. They stay in the log and can be sent again from there.
    """
    now = clock.now()
    while announce_due(now):
        pass
    return drop_waiting(WebhookDelivery.objects.all(), state=EventDeliveryState.NOT_SENT)


def delete_old(now: datetime) -> None:
    """Delete events announced over 30 days ago and their deliveries, unless one is waiting."""
    old = WebhookEvent.objects.filter(announced_at__lt=now - STORED_FOR)
    ended = old.exclude(deliveries__state=EventDeliveryState.WAITING).order_by("announced_at")
    while numbers := list(ended.values_list("pk", flat=True)[:_PRUNED_AT_ONCE]):
        WebhookEvent.objects.filter(pk__in=numbers).delete()


DELIVER_EVENTS = WorkerTask(
    deliver_events,
    due=(earliest_event, earliest_retry, partial(earliest, WebhookDelivery.objects.all)),
)
DELETE_OLD_EVENTS = WorkerTask(lambda *_: delete_old(clock.now()), every_s=3_600.0)
