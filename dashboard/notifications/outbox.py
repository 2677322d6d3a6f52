"""The outbox: make messages of what is due, claim them for an attempt, and record its result.

Any number of workers may run. A recipient's row is locked while a message is made of its items.
What a killed worker was sending is sent again when its claim has ended, with the same id.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

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
from dashboard.work.claims import Claim, back_off
from dashboard.work.sender import Kind, Receiver
from dashboard.work.tasks import attempt_each

RETRIED_FOR = timedelta(days=3)
BLOCKED_FOR = timedelta(minutes=5)
"""What comes while an earlier message can't be delivered waits so long, then is looked at again."""
UNEXPECTED = "Pressroom failed unexpectedly. The error was logged."

_logger = logging.getLogger("dashboard.notifications")


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
    recipients = list(due.values_list("user_id", "target_id").distinct())
    made: list[bool] = []
    attempt_each(
        recipients,
        lambda recipient: made.append(_bundle_of(channel, *recipient, now=now)),
        lambda recipient: _put_off(due.filter(_to(*recipient)), now),
    )
    return sum(made)


def _put_off(items: QuerySet[DeliveryItem], now: datetime) -> None:
    """Let items wait that no message could be made of; after some days they are dropped."""
    items.filter(event__at__lt=now - RETRIED_FOR).delete()
    items.update(due_at=now + BLOCKED_FOR)


def _to(user_id: int | None, target_id: int | None) -> Q:
    """Match what is for a recipient."""
    return Q(target=target_id) if target_id else Q(target=None, user=user_id)


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
    items = _unsent_items(channel).filter(_to(user_id, target_id), due_at__lte=now + window)
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
        wake_at=now,
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
    failing = Delivery.objects.filter(
        _to(user_id, target_id),
        channel=channel,
        state=DeliveryState.WAITING,
        attempts__gt=0,
        digest_on=None,
    )
    return failing.values_list("wake_at", flat=True).first()


def due_receivers(now: datetime) -> list[Receiver]:
    """Return the targets to which a message is due. One query."""
    due = Delivery.objects.filter(channel=Channel.WEBHOOK, wake_at__lte=now).order_by()
    rows = due.values_list("target", "target__url", "target__user").annotate(Min("wake_at"))
    return [
        Receiver(
            pk,
            url or "",
            owner=f"user {user_id}" if user_id else f"target {pk}",
            due_at=due_at,
            kind=Kind.PERSON if user_id else Kind.TEAM,
        )
        for pk, url, user_id, due_at in rows
    ]


@transaction.atomic
def record_sent(claim: Claim[Delivery], status_code: int | None) -> None:
    """Record that a claimed delivery arrived."""
    now = timezone.now()
    columns = {"state": DeliveryState.SENT, "sent_at": now}
    _record_attempt(claim, DeliveryAttempt(at=now, status_code=status_code), None, **columns)


@transaction.atomic
def record_failure(claim: Claim[Delivery], failure: Failure) -> None:
    """Record that an attempt failed, and when the next one is, or that there is none."""
    delivery, now = claim.row, timezone.now()
    next_attempt_at = now + back_off(delivery.attempts + 1, failure.retry_after)
    is_over = failure.is_final or next_attempt_at > delivery.retry_until
    _record_attempt(
        claim,
        DeliveryAttempt(at=now, status_code=failure.status_code, problem=failure.problem),
        None if is_over else next_attempt_at,
        state=DeliveryState.GIVEN_UP if is_over else DeliveryState.WAITING,
    )
    _logger.info("Delivery %s failed: %s", delivery.pk, failure.problem)
    if failure.is_shared and delivery.tested_by_id is None:
        others = Delivery.objects.filter(channel=delivery.channel, wake_at__lte=now, tested_by=None)
        if delivery.target_id:
            others = others.filter(target=delivery.target_id)
        others.update(wake_at=next_attempt_at)


def _record_attempt(
    claim: Claim[Delivery], made: DeliveryAttempt, wake_at: datetime | None, **columns: Any
) -> None:
    """Record an attempt and what it changed, as long as this worker's claim holds."""
    made.delivery = claim.row
    is_claimed = claim.let_go(
        wake_at,
        attempts=claim.row.attempts + 1,
        attempted_at=made.at,
        status_code=made.status_code,
        problem=made.problem,
        **columns,
    )
    if is_claimed:
        made.save()


def earliest_item(channel: str) -> "QuerySet[DeliveryItem, Any]":
    """Return the time when something is first to be made into a message of a channel."""
    unsent = DeliveryItem.objects.filter(channel=channel, delivery=None).order_by("due_at")
    return unsent.values_list("due_at", named=True)[:1]


def earliest_attempt(channel: str) -> "QuerySet[Delivery, Any]":
    """Return the time of a channel's next attempt, or when a claim ends."""
    waiting = Delivery.objects.filter(channel=channel, wake_at__isnull=False)
    return waiting.order_by("wake_at").values_list("wake_at", named=True)[:1]


_EARLIEST_ITEM = CompiledQuery(earliest_item)
