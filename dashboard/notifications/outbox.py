"""The outbox: make messages of due items, record the results of attempts, and list messages.

Any number of workers may run. A recipient's row is locked while a message is made of its items. If
a worker is killed while it sends a message, the message is sent again after the claim has ended,
with the same id.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Count, Min, Q, QuerySet

from dashboard import clock
from dashboard.notifications.models import (
    Channel,
    Delivery,
    DeliveryAttempt,
    DeliveryItem,
    DeliveryState,
    WebhookTarget,
)
from dashboard.notifications.quiet_hours import is_ready
from dashboard.work.claims import Claim
from dashboard.work.deliveries import DeliveryResult, record_attempt, send_all_again
from dashboard.work.sender import DueReceiver, OwnerKind
from dashboard.work.tasks import attempt_each

RETRIED_FOR = timedelta(days=3)
BLOCKED_FOR = timedelta(minutes=5)
"""How long items wait before the next check, while an earlier message can't be delivered."""


def bundle(channel: Channel, now: datetime) -> int:
    """Make messages of a channel's due items; return how many. One query if nothing is due."""
    due = _unsent_items(channel).filter(due_at__lte=now).order_by()
    recipients = list(due.values_list("user_id", "target_id").distinct())
    bundles = attempt_each(
        recipients,
        lambda recipient: _bundle_of(channel, *recipient, now=now),
        lambda recipient: _put_off(due.filter(_to(*recipient)), now),
    )
    return sum(bundles)


def _put_off(items: QuerySet[DeliveryItem], now: datetime) -> None:
    """Postpone items that no message could be made of. Drop those older than RETRIED_FOR."""
    items.filter(event__at__lt=now - RETRIED_FOR).delete()
    items.update(due_at=now + BLOCKED_FOR)


def _to(user_id: int | None, target_id: int | None) -> Q:
    return Q(target=target_id) if target_id else Q(target=None, user=user_id)


def _unsent_items(channel: Channel) -> QuerySet[DeliveryItem]:
    return DeliveryItem.objects.filter(channel=channel, delivery=None)


@transaction.atomic
def _bundle_of(
    channel: Channel, user_id: int | None, target_id: int | None, *, now: datetime
) -> bool:
    """Make one message of a recipient's due items; return whether one was made."""
    rows: QuerySet[Any] = User.objects.filter(pk=user_id or 0)
    if target_id:
        rows = WebhookTarget.objects.filter(pk=target_id)
    can_skip = connection.features.has_select_for_update_skip_locked
    # Don't lock its key: rows that refer to it are recorded meanwhile.
    locked = rows.select_for_update(skip_locked=can_skip, no_key=True)
    if not locked.order_by("pk").values_list("pk", flat=True):
        return False
    window, longest = (timedelta(seconds=seconds) for seconds in settings.NOTIFICATION_WINDOW_S)
    items = _unsent_items(channel).filter(_to(user_id, target_id), due_at__lte=now + window)
    due = dict(items.values_list("pk", "due_at"))
    if not is_ready(due.values(), now, window=window, longest=longest):
        return False
    failing = Delivery.objects.filter(
        _to(user_id, target_id),
        channel=channel,
        state=DeliveryState.WAITING,
        attempts__gt=0,
        digest_on=None,
        new_address="",
    )
    # Wait until an earlier message is tried again, so that all items since then form one message.
    if blocked_until := failing.values_list("wake_at", flat=True).first():
        items.filter(pk__in=due).update(due_at=min(blocked_until, now + BLOCKED_FOR))
        return False
    delivery = new_delivery(channel, user_id=user_id, target_id=target_id, now=now)
    delivery.save()
    items.filter(pk__in=due).update(delivery=delivery)
    return True


def new_delivery(
    channel: Channel, *, now: datetime, user_id: int | None = None, target_id: int | None = None
) -> Delivery:
    """Return an unsaved message that is due at once."""
    return Delivery(
        channel=channel,
        user_id=user_id if target_id is None else None,
        target_id=target_id,
        message_id=f"msg_{uuid4().hex}",
        created_at=now,
        wake_at=now,
        retry_until=now + RETRIED_FOR,
    )


def due_receivers(now: datetime) -> list[DueReceiver]:
    """Return the webhook targets that have a due message. One query."""
    due = Delivery.objects.filter(channel=Channel.WEBHOOK, wake_at__lte=now).order_by()
    rows = due.values_list("target", "target__url", "target__user").annotate(Min("wake_at"))
    return [
        DueReceiver(
            pk,
            url or "",
            owner=f"user {user_id}" if user_id else f"target {pk}",
            due_at=due_at,
            kind=OwnerKind.PERSON if user_id else OwnerKind.TEAM,
        )
        for pk, url, user_id, due_at in rows
    ]


def record_result(claim: Claim[Delivery], result: DeliveryResult) -> None:
    delivery, now = claim.row, clock.now()
    others = Delivery.objects.filter(channel=delivery.channel, tested_by=None)
    if delivery.target_id:
        others = others.filter(target=delivery.target_id)
    record_attempt(
        claim,
        result,
        DeliveryAttempt(
            delivery=delivery, at=now, status_code=result.status_code, problem=result.problem
        ),
        number=delivery.attempts + 1,
        arrived=DeliveryState.SENT,
        # A test delays no other message.
        others=others.none() if delivery.tested_by_id else others,
        attempts=delivery.attempts + 1,
        attempted_at=now,
        sent_at=None if result.problem else now,
    )


def earliest_item(channel: str) -> "QuerySet[DeliveryItem, Any]":
    """Return a query of the time when a channel's first item is due to go into a message."""
    unsent = DeliveryItem.objects.filter(channel=channel, delivery=None).order_by("due_at")
    return unsent.values_list("due_at", named=True)[:1]


def list_deliveries() -> QuerySet[Delivery]:
    """Return deliveries of events, newest first, with user and target; `items` has the events.

    Test messages and confirmation links are left out.
    """
    of_events = Delivery.objects.filter(tested_by=None, new_address="")
    return of_events.select_related("user", "target")


def delivery_counts() -> dict[str, int]:
    """Return the number of deliveries of events in each state that has any. One query."""
    states = list_deliveries().order_by().values_list("state")
    return dict(states.annotate(Count("pk")))


def send_again(delivery: Delivery) -> bool:
    """Have a worker send a delivery now; return False if a worker is sending it already."""
    deliveries = Delivery.objects.filter(pk=delivery.pk)
    return bool(send_all_again(deliveries, retried_for=RETRIED_FOR, sent_at=None))


def oldest_waiting() -> dict[str, datetime | None]:
    """Return when the oldest waiting message of each channel was made, or None. One query."""
    waiting = Delivery.objects.filter(state=DeliveryState.WAITING).order_by()
    oldest = dict(waiting.values_list("channel").annotate(Min("created_at")))
    return {str(channel): oldest.get(channel) for channel in (Channel.EMAIL, Channel.WEBHOOK)}
