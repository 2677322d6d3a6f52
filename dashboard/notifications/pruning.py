"""Delete old events, and drop what a restored database would send a second time."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.ledger.pruning import in_batches
from dashboard.notifications.models import (
    Channel,
    Delivery,
    DeliveryItem,
    DeliveryState,
    Event,
)
from dashboard.notifications.outbox import new_delivery

RESTORED = (
    "The database was restored from a backup. It may have been sent after the backup: send it "
    "again if it wasn’t."
)


def prunable_events(before: datetime) -> int:
    """Count the events that `prune_events` would delete."""
    return _old_events(before).count()


def prune_events(before: datetime) -> int:
    """Delete events from before a time, with their notifications; return how many.

    And deliveries of that time. What is still to be delivered stays, with its events.
    """
    ended = Delivery.objects.exclude(state=DeliveryState.WAITING)
    in_batches(ended.filter(created_at__lt=before).order_by(), lambda rows: rows.delete())
    return in_batches(_old_events(before), lambda rows: rows.delete())


def _old_events(before: datetime) -> QuerySet[Event]:
    unbundled = DeliveryItem.objects.filter(delivery=None).values("event")
    waiting = DeliveryItem.objects.filter(delivery__state=DeliveryState.WAITING).values("event")
    old = Event.objects.filter(at__lt=before)
    return old.exclude(pk__in=unbundled).exclude(pk__in=waiting).order_by()


@transaction.atomic
def drop_restored() -> int:
    """Drop what was to be delivered when a backup was made; return how many messages.

    It is in the log, and can be sent from there.
    """
    dropped: dict[str, Any] = {
        "state": DeliveryState.DROPPED,
        "problem": RESTORED,
        "wake_at": None,
        "worker_id": "",
    }
    for items, delivery in _unbundled():
        delivery.save()
        items.update(delivery=delivery)
    return Delivery.objects.filter(state=DeliveryState.WAITING).update(**dropped)


def _unbundled() -> Iterator[tuple[QuerySet[DeliveryItem], Delivery]]:
    """Return what is in no message yet, of each recipient, with a message for it."""
    items, now = DeliveryItem.objects.filter(delivery=None), timezone.now()
    recipients = items.order_by().values_list("channel", "user_id", "target_id").distinct()
    for channel, user_id, target_id in list(recipients):
        of_recipient = items.filter(channel=channel, user=user_id, target=target_id)
        yield (
            of_recipient,
            new_delivery(Channel(channel), user_id=user_id, target_id=target_id, now=now),
        )
