"""Messages to others: the result of an attempt, its log and the next attempt.

Each package has its own table of messages, log of attempts and choices of states.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q, QuerySet

from dashboard import clock
from dashboard.outgoing_webhooks import ForbiddenURLError, WebhookError, send_webhook
from dashboard.work.claims import MAX_RETRY_AFTER, Claim, ClaimedRow, back_off

WAITING, GIVEN_UP = "waiting", "given_up"
"""States that every package's choices have."""
RESTORED = (
    "The database was restored from a backup. It may have been sent after the backup: send it "
    "again if it wasn’t."
)

_logger = logging.getLogger("dashboard.worker")


class DeliveryRow(ClaimedRow):
    """A message on its way to one receiver, claimed for each attempt."""

    retry_until = models.DateTimeField()
    """When it is given up."""
    problem = models.TextField(blank=True)
    """Why the last attempt failed, in a sentence; empty once it has arrived."""

    class Meta:
        abstract = True


DeliveryT = TypeVar("DeliveryT", bound=DeliveryRow)


@dataclass(frozen=True)
class DeliveryResult:
    problem: str = ""
    """Why it failed, in a sentence; empty if the message has arrived."""
    status_code: int | None = None
    """Status code of the HTTP or SMTP response; None if there was none, or it isn't known."""
    retry_after: timedelta = timedelta()
    is_final: bool = False
    """Whether no further attempt can succeed."""
    is_shared: bool = False
    """Whether other messages to this receiver, or by e-mail, would fail now too."""

    @property
    def is_gone(self) -> bool:
        return self.status_code == HTTPStatus.GONE


def post_webhook(
    url: str, body: bytes, headers: dict[str, str], *, allows_private: bool = False
) -> DeliveryResult:
    """Send JSON once and return the result. Responses other than 2xx and 410 are retried."""
    try:
        response = send_webhook(
            url,
            body,
            {"Content-Type": "application/json", **headers},
            allows_loopback=settings.WEBHOOKS_TO_LOOPBACK,
            allows_private=allows_private,
        )
    except ForbiddenURLError as error:
        return DeliveryResult(str(error), is_final=True)
    except WebhookError as error:
        return DeliveryResult(str(error), is_shared=True)
    code = response.status_code
    if response.is_accepted:
        return DeliveryResult(status_code=code)
    if code == HTTPStatus.GONE:
        problem = f"The receiver responded {code}: it no longer exists."
        return DeliveryResult(problem, code, is_final=True)
    wait_s = min(response.retry_after_s or 0, MAX_RETRY_AFTER.total_seconds())
    return DeliveryResult(
        f"The receiver responded {code}.", code, timedelta(seconds=wait_s), is_shared=True
    )


@transaction.atomic
def record_attempt(
    claim: Claim[DeliveryT],
    result: DeliveryResult,
    attempt: models.Model,
    *,
    number: int,
    arrived: str,
    others: QuerySet[DeliveryT],
    **columns: Any,
) -> None:
    """Record the result of a claimed delivery, and the time of the next attempt, if there is one.

    Nothing is recorded if the claim was lost. `attempt` is the row of the log, `number` is its
    number from 1, and `arrived` is the state on success. `others` are deliveries that would fail
    for the same reason. They wait as long, so that they don't delay messages that would arrive.
    """
    now = clock.now()
    retry_at = now + back_off(number, result.retry_after)
    state: str = arrived
    wake_at = None
    if result.problem:
        _logger.info("%r failed: %s", claim, result.problem)
        is_over = result.is_final or retry_at > claim.row.retry_until
        state, wake_at = (GIVEN_UP, None) if is_over else (WAITING, retry_at)
    columns |= {"status_code": result.status_code, "problem": result.problem}
    if claim.release(wake_at, state=state, **columns):
        attempt.save()
        if result.is_shared:
            others.filter(wake_at__lte=now).update(wake_at=retry_at)


def send_all_again(
    deliveries: QuerySet[DeliveryT], *, retried_for: timedelta, **columns: Any
) -> int:
    """Have a worker send deliveries now, regardless of their state; return how many.

    Their ids stay the same. Deliveries that a worker is sending at this moment are left out.
    """
    now = clock.now()
    is_being_sent = ~Q(worker_id="") & Q(wake_at__gt=now)
    columns |= {"state": WAITING, "wake_at": now, "retry_until": now + retried_for, "worker_id": ""}
    return deliveries.filter(~is_being_sent).update(**columns)


def drop_waiting(deliveries: QuerySet[DeliveryT], *, state: str) -> int:
    """Drop waiting deliveries, which a restored database would send again; return how many."""
    return deliveries.filter(state=WAITING).update(
        state=state, problem=RESTORED, wake_at=None, worker_id=""
    )
