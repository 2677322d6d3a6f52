"""Send what is in the outbox: tasks of `manage.py worker`, one for each channel."""

from collections.abc import Iterable
from functools import partial
from threading import Event

from django.utils import timezone

from dashboard.notifications.email import send_email
from dashboard.notifications.messages import message_of
from dashboard.notifications.models import Channel, Delivery
from dashboard.notifications.outbox import (
    UNEXPECTED,
    Failure,
    bundle,
    due_receivers,
    earliest_attempt,
    earliest_item,
    record_failure,
    record_sent,
)
from dashboard.notifications.webhooks import GONE, send_to, turn_off
from dashboard.work.claims import Claim, claim_next
from dashboard.work.sender import SENDER, Receiver
from dashboard.work.tasks import WorkerTask, attempt, work_through


def deliver_emails(worker_id: str, stop: Event | None = None) -> int:
    """Send e-mails that are due until stopped; return how many were tried."""
    return work_through(partial(_claim_email, worker_id), _deliver, _record_error, stop=stop)


def deliver_webhooks(worker_id: str, stop: Event) -> None:
    """Send webhooks that are due until stopped; those being sent are finished first."""
    SENDER.run(_due_receivers, partial(_send_next, worker_id), stop)


def deliver_pending(worker_id: str) -> int:
    """Send all that is due now; return the number of attempts. For tests, the demo."""
    return deliver_emails(worker_id) + SENDER.send_here(
        _due_receivers, partial(_send_next, worker_id)
    )


def _claim_email(worker_id: str) -> Claim[Delivery] | None:
    now = timezone.now()
    bundle(Channel.EMAIL, now)
    return claim_next(Delivery.objects.filter(channel=Channel.EMAIL), worker_id, now)


def _due_receivers() -> Iterable[Receiver]:
    now = timezone.now()
    bundle(Channel.WEBHOOK, now)
    return due_receivers(now)


def _send_next(worker_id: str, receiver: Receiver) -> None:
    """Send the message that has waited longest to a receiver, if it still does."""
    to_receiver = Delivery.objects.filter(channel=Channel.WEBHOOK, target=receiver.pk)
    if claim := claim_next(to_receiver, worker_id, timezone.now()):
        attempt(claim, _deliver, _record_error)


def _deliver(claim: Claim[Delivery]) -> None:
    """Send a delivery once, and record what became of it."""
    delivery = claim.row
    with claim.renewed():
        result = send(delivery)
    if not isinstance(result, Failure):
        record_sent(claim, result)
        return
    record_failure(claim, result)
    if delivery.target and result.status_code == GONE and not delivery.tested_by_id:
        turn_off(delivery.target, result.problem)


def _record_error(claim: Claim[Delivery]) -> None:
    record_failure(claim, Failure(UNEXPECTED))


def send(delivery: Delivery) -> int | Failure | None:
    """Send a delivery once; return the status of the response, if it has one, or why it failed."""
    message = message_of(delivery)
    if not message.events:
        return Failure("Its events were deleted.", is_final=True)
    if delivery.channel == Channel.EMAIL and delivery.user:
        return send_email(delivery.user, message)
    target = delivery.target
    if target is None or not (target.is_active or delivery.tested_by_id):
        return Failure("The webhook is turned off.", is_final=True)
    response = send_to(target, message)
    return response if isinstance(response, Failure) else response.status_code


DELIVER_EMAILS = WorkerTask(
    deliver_emails,
    due=(partial(earliest_item, Channel.EMAIL), partial(earliest_attempt, Channel.EMAIL)),
)
DELIVER_WEBHOOKS = WorkerTask(
    deliver_webhooks,
    due=(partial(earliest_item, Channel.WEBHOOK), partial(earliest_attempt, Channel.WEBHOOK)),
)
