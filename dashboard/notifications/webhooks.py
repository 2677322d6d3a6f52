"""Webhooks: how a message is written, signed and sent to a target."""

import json
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from dashboard.encryption import DecryptionError, decrypt
from dashboard.notifications.messages import Message, fields_of, link_to, link_to_page, words_of
from dashboard.notifications.models import WebhookFormat, WebhookTarget
from dashboard.notifications.outbox import Failure
from dashboard.outgoing_webhooks import (
    ForbiddenURLError,
    WebhookError,
    WebhookResponse,
    send_webhook,
    signed_headers,
)

GONE = 410
HISTORY_PAGE = "notification-list"
WENT = "The receiver responded 410: it no longer exists."
_ESCAPED_BY_SLACK = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def send_to(target: WebhookTarget, message: Message) -> WebhookResponse | Failure:
    """Send a message to a target; return the response that accepts it, or why that failed."""
    body = body_of(message, target.format)
    headers = {"Content-Type": "application/json"}
    try:
        if target.format == WebhookFormat.STANDARD:
            secret = decrypt(target.secret)
            headers |= signed_headers(secret, message.message_id, timezone.now(), body)
        response = send_webhook(
            target.url, body, headers, allows_loopback=settings.WEBHOOKS_TO_LOOPBACK
        )
    except DecryptionError:
        return Failure("The secret can’t be decrypted. Delete the webhook and add it again.")
    except ForbiddenURLError as error:
        return Failure(str(error), is_final=True)
    except WebhookError as error:
        return Failure(str(error), is_shared=True)
    return response if response.is_accepted else _failure(response)


def _failure(response: WebhookResponse) -> Failure:
    """Return what a response outside 2xx means: everything but 410 is tried again."""
    if response.status_code == GONE:
        return Failure(WENT, GONE, is_final=True)
    return Failure(
        f"The receiver responded {response.status_code}.",
        response.status_code,
        retry_after=timedelta(seconds=min(response.retry_after_s or 0, 86_400)),
        is_shared=True,
    )


def turn_off(target: WebhookTarget, reason: str) -> None:
    """Turn a target off, and record why."""
    WebhookTarget.objects.filter(pk=target.pk).update(is_active=False, off_reason=reason)


def body_of(message: Message, format: str) -> bytes:  # noqa: A002  # as the column
    """Return the body, the same in every attempt."""
    if format == WebhookFormat.SLACK:
        return json.dumps({"text": _slack_text(message)}).encode()
    payload = {
        "type": "pressroom.notifications",
        "timestamp": (message.events[-1].at if message.events else timezone.now()).isoformat(),
        "data": {
            "total": message.total,
            "events": [fields_of(event) for event in message.events],
        },
    }
    return json.dumps(payload).encode()


def _slack_text(message: Message) -> str:
    lines = [
        f"{words_of(each).translate(_ESCAPED_BY_SLACK)} <{link_to(each.path)}|Open>"
        for each in message.events
    ]
    if message.more:
        lines.append(f"And {message.more} more. <{link_to_page(HISTORY_PAGE)}|Show all>")
    return "\n".join(lines)
