"""Delete old events, and drop messages that a restored database would send again."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from dashboard import clock
from dashboard.ledger.pruning import in_batches
from dashboard.notifications.models import Channel, Delivery, DeliveryItem, DeliveryState, Event
from dashboard.notifications.outbox import new_delivery
from dashboard.notifications.recipients import notify_pending
from dashboard.work.deliveries import drop_waiting


def prunable_events(before: datetime) -> int:
    return _old_events(before).count()


def prune_events(before: datetime) -> int:
    """Delete events from before a time, with their notifications; return how many.

    Ended deliveries from before that time are deleted, too. Waiting messages stay, with their
    events.
    """
    ended = Delivery.objects.exclude(state=DeliveryState.WAITING)
    in_batches(ended.filter(created_at__lt=before).order_by(), lambda rows: rows.delete())
    return in_batches(_old_events(before), lambda rows: rows.delete())


def _old_events(before: datetime) -> QuerySet[Event]:
    unbundled = DeliveryItem.objects.filter(delivery=None).values("event")
    waiting = DeliveryItem.objects.filter(delivery__state=DeliveryState.WAITING).values("event")
    old = Event.objects.filter(at__lt=before, wake_at=None)
    return old.exclude(pk__in=unbundled).exclude(pk__in=waiting).order_by()


@transaction.atomic
def drop_restored() -> int:
    """Drop messages that were waiting when the backup was made; return how many.

    They stay in the delivery log and can be sent from there.
    """
    # This includes sittings of comments that hadn't ended.
    Event.objects.filter(wake_at__gt=clock.now()).update(wake_at=clock.now())
    notify_pending("after a restore")
    items, now = DeliveryItem.objects.filter(delivery=None), clock.now()
    recipients = items.order_by().values_list("channel", "user_id", "target_id").distinct()
    for channel, user_id, target_id in list(recipients):
        delivery = new_delivery(Channel(channel), user_id=user_id, target_id=target_id, now=now)
        delivery.save()
        of_recipient = items.filter(channel=channel, user=user_id, target=target_id)
        of_recipient.update(delivery=delivery)
    return drop_waiting(Delivery.objects.all(), state=DeliveryState.DROPPED)
