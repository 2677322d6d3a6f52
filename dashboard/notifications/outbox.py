"""The outbox: make messages of what is due, and claim them for an attempt.

Any number of workers may run. A recipient's row is locked while a message is made of its items, and
a claim is the pair of a delivery's `worker_id` and `next_attempt_at`, the time when it ends: what a
killed worker was sending is sent again then, with the same id.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q, QuerySet

from dashboard.compiled_query import CompiledQuery
from dashboard.notifications.models import (
    Channel,
    Delivery,
    DeliveryAttempt,
    DeliveryItem,
    DeliveryState,
    WebhookTarget,
)
from dashboard.notifications.quiet_hours import is_ready

CLAIM = timedelta(minutes=2)
"""Longer than an attempt can take: each of the ten steps with a mail server at most 10 s."""
BACK_OFF = (
    *(timedelta(seconds=10), timedelta(seconds=30), timedelta(minutes=2)),
    *(timedelta(minutes=10), timedelta(minutes=30), timedelta(hours=1)),
)
"""After the first attempt, the second, and so on; then always the last. Source: our choice."""
MAX_RETRY_AFTER = timedelta(hours=1)
RETRIED_FOR = timedelta(days=3)
BLOCKED_FOR = timedelta(minutes=5)
"""What comes while an earlier message can't be delivered waits so long, then is looked at again."""


@dataclass(frozen=True)
class Failure:
    """Why an attempt failed."""

    problem: str
    """In a sentence."""
    status_code: int | None = None
    retry_after: timedelta = timedelta()
    is_final: bool = False
    """Whether no other attempt can succeed."""
    is_shared: bool = False
    """Whether other messages to this target, or by e-mail, would fail now too."""


def bundle(channel: Channel, now: datetime) -> int:
    """Make messages of what is due by a channel; return how many. One query if nothing is."""
    earliest = _EARLIEST_ITEM.first(channel.value)
    if earliest is None or earliest.due_at > now:
        return 0
    due = _unsent_items(channel).filter(due_at__lte=now).order_by()
    recipients = due.values_list("user_id", "target_id").distinct()
    return sum(_bundle_of(channel, *recipient, now=now) for recipient in list(recipients))


def _unsent_items(channel: Channel) -> QuerySet[DeliveryItem]:
    return DeliveryItem.objects.filter(channel=channel, delivery=None)


@transaction.atomic
def _bundle_of(
    channel: Channel, user_id: int | None, target_id: int | None, *, now: datetime
) -> bool:
    """Make one message of what is due to a recipient; return whether there is one now."""
    if not _lock_recipient(user_id, target_id):
        return False
    window, longest = (timedelta(seconds=each) for each in settings.NOTIFICATION_WINDOW_S)
    to_recipient = Q(target=target_id) if target_id else Q(target=None, user=user_id)
    items = _unsent_items(channel).filter(to_recipient, due_at__lte=now + window)
    due = dict(items.values_list("pk", "due_at"))
    if not is_ready(due.values(), now, window=window, longest=longest):
        return False
    if blocked_until := _blocked_until(channel, user_id, target_id):
        items.filter(pk__in=due).update(due_at=min(blocked_until, now + BLOCKED_FOR))
        return False
    delivery = new_delivery(channel, user_id=user_id, target_id=target_id, now=now)
    delivery.save()
    items.filter(pk__in=due).update(delivery=delivery)
    return True


def new_delivery(
    channel: Channel, *, now: datetime, user_id: int | None = None, target_id: int | None = None
) -> Delivery:
    """Return a message, not saved, that is to be sent at once."""
    return Delivery(
        channel=channel,
        user_id=user_id if target_id is None else None,
        target_id=target_id,
        message_id=f"msg_{uuid4().hex}",
        created_at=now,
        next_attempt_at=now,
        retry_until=now + RETRIED_FOR,
    )


def _lock_recipient(user_id: int | None, target_id: int | None) -> bool:
    """Lock the row of a recipient, unless it is gone or another worker has locked it."""
    rows: QuerySet[Any] = User.objects.filter(pk=user_id or 0)
    if target_id:
        rows = WebhookTarget.objects.filter(pk=target_id)
    can_skip = connection.features.has_select_for_update_skip_locked
    # Not its key: events that refer to it are recorded meanwhile.
    locked = rows.select_for_update(skip_locked=can_skip, no_key=True)
    return locked.order_by("pk").values_list("pk", flat=True).first() is not None


def _blocked_until(channel: Channel, user_id: int | None, target_id: int | None) -> datetime | None:
    """Return when an earlier message is tried again, so that all since then is one message."""
    recipient = Q(target=target_id) if target_id else Q(user=user_id)
    failing = Delivery.objects.filter(
        recipient, channel=channel, state=DeliveryState.WAITING, attempts__gt=0, digest_on=None
    )
    return failing.values_list("next_attempt_at", flat=True).first()


def claim_next(channel: Channel, worker_id: str, now: datetime) -> Delivery | None:
    """Claim the delivery that has waited longest, or return None. One query if none is due."""
    earliest = _EARLIEST_DELIVERY.first(channel.value)
    if earliest is None or earliest.next_attempt_at > now:
        return None
    with transaction.atomic():
        # As in `releases/claims.py`.
        unlocked = Delivery.objects.select_for_update(
            skip_locked=connection.features.has_select_for_update_skip_locked
        )
        due = unlocked.filter(channel=channel, next_attempt_at__lte=now)
        found = due.order_by("next_attempt_at").first()
        if found is None:
            return None
        found.worker_id, found.next_attempt_at = worker_id, now + CLAIM
        found.save(update_fields=["worker_id", "next_attempt_at"])
    return found


@transaction.atomic
def record_sent(delivery: Delivery, status_code: int | None, now: datetime) -> None:
    """Record that a claimed delivery arrived."""
    _record_attempt(
        delivery,
        DeliveryAttempt(delivery=delivery, at=now, status_code=status_code),
        state=DeliveryState.SENT,
        sent_at=now,
        next_attempt_at=None,
    )


@transaction.atomic
def record_failure(delivery: Delivery, failure: Failure, now: datetime) -> None:
    """Record that an attempt failed, and when the next one is, or that there is none."""
    wait = max(
        BACK_OFF[min(delivery.attempts, len(BACK_OFF) - 1)],
        min(failure.retry_after, MAX_RETRY_AFTER),
    )
    next_attempt_at = now + wait
    is_over = failure.is_final or next_attempt_at > delivery.retry_until
    code, problem = failure.status_code, failure.problem
    _record_attempt(
        delivery,
        DeliveryAttempt(delivery=delivery, at=now, status_code=code, problem=problem),
        state=DeliveryState.GIVEN_UP if is_over else DeliveryState.WAITING,
        next_attempt_at=None if is_over else next_attempt_at,
    )
    if failure.is_shared:
        others = Delivery.objects.filter(channel=delivery.channel, next_attempt_at__lte=now)
        if delivery.target_id:
            others = others.filter(target=delivery.target_id)
        others.update(next_attempt_at=next_attempt_at)


def _record_attempt(delivery: Delivery, made: DeliveryAttempt, **changes: Any) -> None:
    """Record an attempt and what it changed, as long as this worker's claim holds."""
    is_claimed = _claimed(delivery).update(
        attempts=delivery.attempts + 1,
        attempted_at=made.at,
        status_code=made.status_code,
        problem=made.problem,
        worker_id="",
        **changes,
    )
    if is_claimed:
        made.save()


def _claimed(delivery: Delivery) -> QuerySet[Delivery]:
    """Return the row of a delivery, as long as this worker's claim holds."""
    return Delivery.objects.filter(
        pk=delivery.pk,
        worker_id=delivery.worker_id,
        next_attempt_at=delivery.next_attempt_at,
    )


def earliest_item(channel: str) -> "QuerySet[DeliveryItem, Any]":
    """Return the time when something is first to be made into a message of a channel."""
    unsent = DeliveryItem.objects.filter(channel=channel, delivery=None).order_by("due_at")
    return unsent.values_list("due_at", named=True)[:1]


def earliest_attempt(channel: str) -> "QuerySet[Delivery, Any]":
    """Return the time of a channel's next attempt, or when a claim ends."""
    waiting = Delivery.objects.filter(channel=channel, next_attempt_at__isnull=False)
    return waiting.order_by("next_attempt_at").values_list("next_attempt_at", named=True)[:1]


_EARLIEST_ITEM = CompiledQuery(earliest_item)
_EARLIEST_DELIVERY = CompiledQuery(earliest_attempt)
