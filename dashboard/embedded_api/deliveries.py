"""Deliveries of events: whom one is due to, its result, sending it again, and deleting old ones.

Any number of workers may run. What a killed worker was sending is sent again when its claim has
ended, with the same id.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Min, QuerySet
from django.utils import timezone

from dashboard.embedded_api.events import RETRIED_FOR, announce_due
from dashboard.embedded_api.models import (
    DeliveryAttempt,
    DeliveryState,
    WebhookDelivery,
    WebhookEvent,
)
from dashboard.work.claims import Claim, back_off
from dashboard.work.sender import Kind, Receiver

STORED_FOR = timedelta(days=30)
RESTORED = (
    "The database was restored from a backup. It may have been sent after the backup: send it "
    "again if it wasn’t."
)
_PRUNED_AT_ONCE = 500


@dataclass(frozen=True)
class Result:
    """The result of an attempt, or why there was none."""

    state: DeliveryState
    """Waiting: it failed, and is tried again."""
    problem: str = ""
    """Why it failed, in a sentence."""
    status_code: int | None = None
    retry_after: timedelta = timedelta()
    is_own: bool = False
    """Whether it says nothing about other deliveries to the same receiver."""


def due_receivers(now: datetime) -> list[Receiver]:
    """Return the subscriptions to which an event is due. One query."""
    due = WebhookDelivery.objects.filter(wake_at__lte=now).order_by()
    rows = due.values_list("subscription", "subscription__url").annotate(Min("wake_at"))
    return [
        Receiver(pk, url or "", owner=f"subscription {pk}", due_at=due_at, kind=Kind.SUBSCRIPTION)
        for pk, url, due_at in rows
    ]


@transaction.atomic
def record_result(claim: Claim[WebhookDelivery], result: Result, *, began_at: datetime) -> None:
    """Record the result of a claimed delivery, and when it is tried again if it failed."""
    delivery, now = claim.row, timezone.now()
    state, next_attempt_at = result.state, None
    if state == DeliveryState.WAITING:
        next_attempt_at = now + back_off(delivery.attempt_count + 1, result.retry_after)
        if next_attempt_at > delivery.retry_until:
            state, next_attempt_at = DeliveryState.GIVEN_UP, None
    was_sent = state != DeliveryState.NOT_SENT
    is_ours = claim.let_go(
        next_attempt_at,
        state=state,
        url=delivery.url,
        attempt_count=F("attempt_count") + int(was_sent),
        status_code=result.status_code,
        problem=result.problem,
    )
    if is_ours and was_sent:
        DeliveryAttempt.objects.create(
            delivery=delivery,
            at=began_at,
            duration=now - began_at,
            status_code=result.status_code,
            problem=result.problem,
        )
    if is_ours and result.state == DeliveryState.WAITING and not result.is_own:
        # Others to a receiver that fails now would only take the time of those that don't.
        others = WebhookDelivery.objects.filter(subscription=delivery.subscription_id)
        others.filter(wake_at__lte=now).update(wake_at=next_attempt_at or now)


def send_again(deliveries: QuerySet[WebhookDelivery], now: datetime) -> int:
    """Have deliveries attempted at once, and for another day; return how many.

    Not those to a deleted subscription, nor those that a worker is sending.
    """
    return (
        deliveries.exclude(subscription=None)
        .filter(worker_id="")
        .update(
            state=DeliveryState.WAITING,
            problem="",
            wake_at=now,
            retry_until=now + RETRIED_FOR,
        )
    )


@transaction.atomic
def drop_restored() -> int:
    """Leave unsent what a restored database would send a second time; return how many deliveries.

    That is all that was still to be sent when the backup was made, and what has occurred since by
    its dates. It is in the log, and can be sent from there.
    """
    now = timezone.now()
    while announce_due(now):
        pass
    return WebhookDelivery.objects.filter(state=DeliveryState.WAITING).update(
        state=DeliveryState.NOT_SENT, problem=RESTORED, wake_at=None, worker_id=""
    )


def delete_old(now: datetime) -> None:
    """Delete events announced 30 days ago, with their deliveries, unless one is still waiting."""
    old = WebhookEvent.objects.filter(announced_at__lt=now - STORED_FOR)
    ended = old.exclude(deliveries__state=DeliveryState.WAITING).order_by("announced_at")
    while numbers := list(ended.values_list("pk", flat=True)[:_PRUNED_AT_ONCE]):
        WebhookEvent.objects.filter(pk__in=numbers).delete()


def earliest_attempt() -> "QuerySet[WebhookDelivery, Any]":
    """Return the time of the next attempt, or when a claim ends."""
    waiting = WebhookDelivery.objects.filter(wake_at__isnull=False)
    return waiting.order_by("wake_at", "id").values_list("wake_at", named=True)[:1]
