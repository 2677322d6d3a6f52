"""Send the messages of the outbox: tasks of `manage.py worker`, one for each channel.

Webhook messages are written and signed here, e-mails in `email.py`.
"""

import json
from collections.abc import Iterable
from functools import partial
from threading import Event

from django.db import transaction

from dashboard import clock
from dashboard.encryption import DecryptionError, decrypt
from dashboard.notifications import email
from dashboard.notifications.email_change import confirmation_of
from dashboard.notifications.messages import (
    OutgoingMessage,
    fields_of,
    link_to,
    link_to_page,
    message_of,
    words_of,
)
from dashboard.notifications.models import Channel, Delivery, WebhookFormat, WebhookTarget
from dashboard.notifications.outbox import bundle, due_receivers, earliest_item, record_result
from dashboard.notifications.recipients import notify_pending
from dashboard.notifications.targets import add_to_feed
from dashboard.outgoing_webhooks import signed_headers
from dashboard.work.claims import Claim, claim_next, earliest
from dashboard.work.deliveries import DeliveryResult, post_webhook
from dashboard.work.sender import SENDER, DueReceiver
from dashboard.work.tasks import WorkerTask, attempt, work_through

UNEXPECTED = DeliveryResult("Pressroom failed unexpectedly. The error was logged.")
_ESCAPED_BY_SLACK = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def deliver_emails(worker_id: str, stop: Event | None = None) -> int:
    """Send due e-mails until stopped; return the number of attempts."""
    return work_through(partial(_claim_email, worker_id), _deliver, _record_error, stop=stop)


def deliver_webhooks(worker_id: str, stop: Event) -> None:
    """Send due webhooks until stopped. Those being sent are finished first."""
    SENDER.run(_due_receivers, partial(_send_next, worker_id), stop)


def deliver_pending(worker_id: str) -> int:
    """Notify and send all that is due; return the number of attempts. For tests and the demo."""
    notify_pending(worker_id)
    return deliver_emails(worker_id) + SENDER.send_here(
        _due_receivers, partial(_send_next, worker_id)
    )


def _claim_email(worker_id: str) -> Claim[Delivery] | None:
    now = clock.now()
    bundle(Channel.EMAIL, now)
    return claim_next(Delivery.objects.filter(channel=Channel.EMAIL), worker_id, now)


def _due_receivers() -> Iterable[DueReceiver]:
    now = clock.now()
    bundle(Channel.WEBHOOK, now)
    return due_receivers(now)


def _send_next(worker_id: str, receiver: DueReceiver) -> None:
    to_receiver = Delivery.objects.filter(channel=Channel.WEBHOOK, target=receiver.pk)
    if claim := claim_next(to_receiver, worker_id, clock.now()):
        attempt(claim, _deliver, _record_error)


def _deliver(claim: Claim[Delivery]) -> None:
    delivery = claim.row
    with claim.renewed():
        result = send(delivery)
    record_result(claim, result)
    if delivery.target and result.is_gone and not delivery.tested_by_id:
        turn_off(delivery.target, result.problem)


def _record_error(claim: Claim[Delivery]) -> None:
    record_result(claim, UNEXPECTED)


def send(delivery: Delivery) -> DeliveryResult:
    if delivery.new_address and delivery.user:
        return email.send(confirmation_of(delivery.user, delivery.new_address))
    message = message_of(delivery)
    if not message.events:
        return DeliveryResult("Its events were deleted.", is_final=True)
    if delivery.channel == Channel.EMAIL and delivery.user:
        return email.send_email(delivery.user, message)
    target = delivery.target
    if target is None or not (target.is_active or delivery.tested_by_id):
        return DeliveryResult("The webhook is turned off.", is_final=True)
    if target.user and not target.user.is_active:
        return DeliveryResult("The user is turned off.", is_final=True)
    return send_to(target, message)


def send_to(target: WebhookTarget, message: OutgoingMessage) -> DeliveryResult:
    body = body_of(message, target.format)
    headers: dict[str, str] = {}
    if target.format == WebhookFormat.STANDARD:
        try:
            secret = decrypt(target.secret)
        except DecryptionError:
            return DeliveryResult(
                "The secret can’t be decrypted. Delete the webhook and add it again."
            )
        headers = signed_headers(secret, message.message_id, clock.now(), body)
    return post_webhook(target.url, body, headers)


def turn_off(target: WebhookTarget, reason: str) -> None:
    """Turn a target off and record why, unless its URL has changed since."""
    targets = WebhookTarget.objects.filter(pk=target.pk, url=target.url)
    with transaction.atomic():
        if targets.update(is_active=False, off_reason=reason):
            add_to_feed(target)


def body_of(message: OutgoingMessage, format: str) -> bytes:  # noqa: A002  # as the column
    """Return the body, which is the same in every attempt."""
    if format == WebhookFormat.SLACK:
        lines = [
            f"{words_of(event).translate(_ESCAPED_BY_SLACK)} <{link_to(event.path)}|Open>"
            for event in message.events
        ]
        if message.more:
            lines.append(f"And {message.more} more. <{link_to_page(email.HISTORY_PAGE)}|Show all>")
        return json.dumps({"text": "\n".join(lines)}).encode()
    payload = {
        "type": "pressroom.notifications",
        "timestamp": (message.events[-1].at if message.events else clock.now()).isoformat(),
        "data": {"total": message.total, "events": [fields_of(event) for event in message.events]},
    }
    return json.dumps(payload).encode()


DELIVER_EMAILS, DELIVER_WEBHOOKS = (
    WorkerTask(
        deliver,
        due=(
            partial(earliest_item, channel),
            partial(earliest, partial(Delivery.objects.filter, channel=channel)),
        ),
    )
    for deliver, channel in ((deliver_emails, Channel.EMAIL), (deliver_webhooks, Channel.WEBHOOK))
)
