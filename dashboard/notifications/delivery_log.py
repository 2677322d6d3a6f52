"""The delivery log, for administrators."""

from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from dashboard.notifications.models import Channel, Delivery, DeliveryState
from dashboard.notifications.outbox import RETRIED_FOR


def list_deliveries(
    *, state: str = "", channel: str = "", before: int | None = None
) -> QuerySet[Delivery]:
    """Return deliveries but tests, newest first, with user and target; the caller slices them.

    `before` is the primary key of the last one on the page before. `items` has the events.
    """
    found = Delivery.objects.filter(tested_by=None).select_related("user", "target")
    if state:
        found = found.filter(state=state)
    if channel:
        found = found.filter(channel=channel)
    return found.filter(pk__lt=before) if before else found


def get_delivery(delivery_id: int) -> Delivery | None:
    """Return one delivery with user and target."""
    return list_deliveries().filter(pk=delivery_id).first()


def delivery_counts() -> dict[str, int]:
    """Return the number of deliveries of each state that has any. One query."""
    counted = Delivery.objects.filter(tested_by=None).order_by().values_list("state")
    return dict(counted.annotate(Count("pk")))


def oldest_waiting() -> dict[str, datetime | None]:
    """Return when the oldest message that is still to be delivered was made, by channel, or None.

    One query.
    """
    waiting = Delivery.objects.filter(state=DeliveryState.WAITING).order_by()
    found = dict(waiting.values_list("channel").annotate(Min("created_at")))
    return {str(channel): found.get(channel) for channel in (Channel.EMAIL, Channel.WEBHOOK)}


def send_again(delivery: Delivery) -> bool:
    """Have a worker send a delivery now, whatever became of it; its id stays the same.

    Returns False if a worker is sending it at this moment.
    """
    now = timezone.now()
    is_being_sent = ~Q(worker_id="") & Q(wake_at__gt=now)
    found = Delivery.objects.filter(~is_being_sent, pk=delivery.pk)
    changed = found.update(
        state=DeliveryState.WAITING,
        wake_at=now,
        retry_until=now + RETRIED_FOR,
        worker_id="",
        sent_at=None,
    )
    return bool(changed)
