"""Send what is in the outbox by one channel, until stopped."""

import logging
from threading import Event as Signal

from django.db import Error, close_old_connections, connections
from django.utils import timezone

from dashboard.notifications.email import send_email
from dashboard.notifications.messages import message_of
from dashboard.notifications.models import Channel, Delivery
from dashboard.notifications.outbox import (
    Failure,
    bundle,
    claim_next,
    record_failure,
    record_sent,
)
from dashboard.notifications.webhooks import GONE, reencrypt_secrets, send_to, turn_off

POLL_S = 5.0
"""Between two looks at the outbox when nothing is due."""

_logger = logging.getLogger("dashboard.notifications")


def deliver_emails(worker_id: str, stop: Signal) -> None:
    """Send e-mails until stopped; the one being sent is finished first."""
    _deliver(Channel.EMAIL, worker_id, stop)


def deliver_webhooks(worker_id: str, stop: Signal) -> None:
    """Send webhooks until stopped; the one being sent is finished first."""
    try:
        reencrypt_secrets()
    except Error:
        _logger.exception("Secrets of webhooks could not be encrypted again")
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
    try:
        while not stop.is_set():
            close_old_connections()
            if not _try_next(channel, worker_id):
                stop.wait(POLL_S)
    finally:
        connections.close_all()


def _try_next(channel: Channel, worker_id: str) -> bool:
    """Make messages of what is due, and send one; return whether another may follow at once."""
    try:
        bundle(channel, timezone.now())
        return _send_next(channel, worker_id)
    except Error:
        _logger.exception("The database failed")
    except Exception:
        # A claim ends by itself, and then the delivery is tried again.
        _logger.exception("A delivery by %s failed", channel)
    return False


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
