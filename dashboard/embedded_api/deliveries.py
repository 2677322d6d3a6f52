"""Deliveries of events: claim one, record its result, send it again, and delete old ones.

Any number of workers may run. A claim is the pair of a delivery's `worker_id` and
`next_attempt_at`, the time when it ends: what a killed worker was sending is sent again then, with
the same id.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from dashboard.compiled_query import CompiledQuery
from dashboard.embedded_api.events import RETRIED_FOR, announce_due
from dashboard.embedded_api.models import (
    DeliveryAttempt,
    DeliveryState,
    WebhookDelivery,
    WebhookEvent,
)

CLAIM = timedelta(seconds=60)
"""Longer than an attempt can take, which is 10 s."""
BACK_OFF = (
    *(timedelta(seconds=5), timedelta(seconds=30), timedelta(minutes=2)),
    *(timedelta(minutes=10), timedelta(minutes=30), timedelta(hours=1)),
)
"""After the first attempt, the second, and so on; then always the last. Source: our choice."""
MAX_RETRY_AFTER = timedelta(hours=1)
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


def claim_next(worker_id: str, now: datetime) -> WebhookDelivery | None:
    """Claim the delivery that has waited longest, or return None. One query if none is due."""
    earliest = _EARLIEST.first()
    if earliest is None or earliest.next_attempt_at > now:
        return None
    with transaction.atomic():
        # As in `releases/claims.py`.
        unlocked = WebhookDelivery.objects.select_for_update(
            skip_locked=connection.features.has_select_for_update_skip_locked
        )
        due = unlocked.filter(next_attempt_at__lte=now).order_by("next_attempt_at", "id")
        found = due.first()
        if found is None:
            return None
        found.worker_id, found.next_attempt_at = worker_id, now + CLAIM
        found.save(update_fields=["worker_id", "next_attempt_at"])
    return found


@transaction.atomic
def record_result(
    delivery: WebhookDelivery, result: Result, *, began_at: datetime, now: datetime
) -> None:
    """Record the result of a claimed delivery, and when it is tried again if it failed."""
    state, next_attempt_at = result.state, None
    if state == DeliveryState.WAITING:
        next_attempt_at = now + wait_after(delivery.attempt_count + 1, result.retry_after)
        if next_attempt_at > delivery.retry_until:
            state, next_attempt_at = DeliveryState.GIVEN_UP, None
    was_sent = state != DeliveryState.NOT_SENT
    claimed = WebhookDelivery.objects.filter(
        pk=delivery.pk, worker_id=delivery.worker_id, next_attempt_at=delivery.next_attempt_at
    )
    is_ours = claimed.update(
        state=state,
        url=delivery.url,
        attempt_count=F("attempt_count") + int(was_sent),
        status_code=result.status_code,
        problem=result.problem,
        next_attempt_at=next_attempt_at,
        worker_id="",
    )
    if is_ours and was_sent:
        DeliveryAttempt.objects.create(
            delivery=delivery,
            at=began_at,
            duration=now - began_at,
            status_code=result.status_code,
            problem=result.problem,
        )
    if is_ours and result.state == DeliveryState.WAITING:
        # Others to a receiver that fails now would only take the time of those that don't.
        others = WebhookDelivery.objects.filter(subscription=delivery.subscription_id)
        others.filter(next_attempt_at__lte=now).update(next_attempt_at=next_attempt_at or now)


def wait_after(attempts: int, retry_after: timedelta = timedelta()) -> timedelta:
    """Return how long to wait after so many failed attempts, one or more."""
    back_off = BACK_OFF[min(attempts, len(BACK_OFF)) - 1]
    return max(back_off, min(retry_after, MAX_RETRY_AFTER))


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
            next_attempt_at=now,
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
        state=DeliveryState.NOT_SENT, problem=RESTORED, next_attempt_at=None, worker_id=""
    )


def delete_old(now: datetime) -> None:
    """Delete events announced 30 days ago, with their deliveries, unless one is still waiting."""
    old = WebhookEvent.objects.filter(announced_at__lt=now - STORED_FOR)
    ended = old.exclude(deliveries__state=DeliveryState.WAITING).order_by("announced_at")
    while numbers := list(ended.values_list("pk", flat=True)[:_PRUNED_AT_ONCE]):
        WebhookEvent.objects.filter(pk__in=numbers).delete()


def earliest_attempt() -> "QuerySet[WebhookDelivery, Any]":
    """Return the time of the next attempt, or when a claim ends."""
    waiting = WebhookDelivery.objects.filter(next_attempt_at__isnull=False)
    return waiting.order_by("next_attempt_at", "id").values_list("next_attempt_at", named=True)[:1]


_EARLIEST = CompiledQuery(earliest_attempt)
