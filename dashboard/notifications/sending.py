"""Send what is in the outbox: tasks of `manage.py worker`, one for each channel."""

import logging
from functools import partial
from threading import Event as Signal

from django.utils import timezone

from dashboard.notifications.email import send_email
from dashboard.notifications.messages import message_of
from dashboard.notifications.models import Channel, Delivery
from dashboard.notifications.outbox import (
    Failure,
    bundle,
    claim_next,
    earliest_attempt,
    earliest_item,
    record_failure,
    record_sent,
)
from dashboard.notifications.webhooks import GONE, send_to, turn_off
from dashboard.worker_tasks import WorkerTask

_logger = logging.getLogger("dashboard.notifications")


def deliver_emails(worker_id: str, stop: Signal) -> None:
    """Send e-mails that are due until stopped; the one being sent is finished first."""
    _deliver(Channel.EMAIL, worker_id, stop)


def deliver_webhooks(worker_id: str, stop: Signal) -> None:
    """Send webhooks that are due until stopped; the one being sent is finished first."""
    _deliver(Channel.WEBHOOK, worker_id, stop)


def deliver_pending(worker_id: str) -> int:
    """Send all that is due now; return the number of attempts. For tests, the demo."""
    attempts = 0
    for channel in (Channel.EMAIL, Channel.WEBHOOK):
        bundle(channel, timezone.now())
        while _send_next(channel, worker_id):
            attempts += 1
    return attempts


def _deliver(channel: Channel, worker_id: str, stop: Signal) -> None:
    while not stop.is_set():
        bundle(channel, timezone.now())
        if not _send_next(channel, worker_id):
            return


def _send_next(channel: Channel, worker_id: str) -> bool:
    """Send the delivery that has waited longest; return whether there was one."""
    delivery = claim_next(channel, worker_id, timezone.now())
    if delivery is None:
        return False
    result = attempt(delivery)
    now = timezone.now()
    if isinstance(result, Failure):
        record_failure(delivery, result, now)
        _logger.info("Delivery %s failed: %s", delivery.pk, result.problem)
        if delivery.target and result.status_code == GONE:
            turn_off(delivery.target, result.problem)
    else:
        record_sent(delivery, result, now)
    return True


def attempt(delivery: Delivery) -> int | Failure | None:
    """Send a delivery once; return the status of the response, if it has one, or why it failed."""
    message = message_of(delivery)
    if not message.events:
        return Failure("Its events were deleted.", is_final=True)
    if delivery.channel == Channel.EMAIL and delivery.user:
        return send_email(delivery.user, message)
    target = delivery.target
    if target is None or not target.is_active:
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
