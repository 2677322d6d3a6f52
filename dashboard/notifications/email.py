"""E-mails: whether they are on, how they are made and how they are sent."""

import smtplib
import time
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.core.mail.backends import smtp

from dashboard.accounts.preferences import email_address_of
from dashboard.notifications.messages import OutgoingMessage, link_to, link_to_page, words_of
from dashboard.work.deliveries import DeliveryResult

MAX_SUBJECT = 150
"""Maximum length of a subject, in characters."""
STEPS = 3
"""A whole conversation with the mail server takes at most this many times EMAIL_TIMEOUT."""
SETTINGS_PAGE, HISTORY_PAGE = "notification-settings", "notification-list"
"""URL names."""


class _Replies:
    """Reads the lines that a mail server sends, until a deadline."""

    def __init__(self, connection: Any, deadline: float) -> None:
        self._connection, self._deadline = connection, deadline
        self._read = b""

    def readline(self, limit: int) -> bytes:
        """Return a line, or the rest if the connection ends. Raises TimeoutError."""
        while b"\n" not in self._read and len(self._read) < limit:
            remaining = self._deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError
            self._connection.settimeout(min(remaining, settings.EMAIL_TIMEOUT))
            data = self._connection.recv(4096)
            if not data:
                break
            self._read += data
        end = min(self._read.find(b"\n") + 1 or limit, limit)
        line, self._read = self._read[:end], self._read[end:]
        return line

    def close(self) -> None:
        """Leave the connection to its owner."""


class _InTimeMixin(smtplib.SMTP):
    """Ends a conversation at a deadline, even if the server sends a byte at a time."""

    def connect(self, *args: Any, **options: Any) -> tuple[int, bytes]:
        self._deadline = time.monotonic() + STEPS * settings.EMAIL_TIMEOUT
        return super().connect(*args, **options)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock:
            self.file = _Replies(self.sock, self._deadline)
        return super().getreply()


class _SecureSMTP(_InTimeMixin, smtplib.SMTP_SSL):
    pass


class SMTPBackend(smtp.EmailBackend):
    """Django's backend, with a time limit for the whole conversation."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _SecureSMTP if self.use_ssl else _InTimeMixin


def is_email_on() -> bool:
    """Return whether EMAIL_URL and EMAIL_FROM are set. Without them there are no e-mails."""
    return bool(settings.EMAIL_IS_ON)


def send_email(user: User, message: OutgoingMessage) -> DeliveryResult:
    if not is_email_on():
        return DeliveryResult("E-mails are off: EMAIL_URL isn’t set.", is_shared=True)
    if not user.is_active or not email_address_of(user):
        return DeliveryResult("The user has no e-mail address, or is turned off.", is_final=True)
    return send(email_of(user, message))


def send(email: EmailMessage) -> DeliveryResult:
    try:
        email.send()
    except smtplib.SMTPRecipientsRefused as error:
        code = next(iter(error.recipients.values()), (0, b""))[0]
        return DeliveryResult("The mail server rejected the recipient.", code or None)
    except smtplib.SMTPDataError as error:
        return DeliveryResult("The mail server rejected the message.", error.smtp_code)
    except smtplib.SMTPResponseException as error:
        sentence = "The mail server rejected the sender or the sign-in."
        return DeliveryResult(sentence, error.smtp_code, is_shared=True)
    except (smtplib.SMTPException, OSError):
        return DeliveryResult("The mail server can’t be reached.", is_shared=True)
    except ValueError:
        return DeliveryResult("The e-mail address isn’t valid.", is_final=True)
    return DeliveryResult()


def email_of(user: User, message: OutgoingMessage) -> EmailMessage:
    host = urlsplit(settings.PUBLIC_URL).hostname or "pressroom.invalid"
    return EmailMessage(
        subject=subject_of(message),
        body=text_of(message),
        to=[email_address_of(user)],
        headers={
            "Message-ID": f"<{message.message_id}@{host}>",
            "List-Unsubscribe": f"<{link_to_page(SETTINGS_PAGE)}>",
            "Auto-Submitted": "auto-generated",
        },
    )


def subject_of(message: OutgoingMessage) -> str:
    if message.is_digest:
        unit = "notification" if message.total == 1 else "notifications"
        return f"Your morning summary: {message.total} {unit}"
    first = words_of(message.events[0]).removesuffix(".") if message.events else "Nothing new"
    if len(first) > MAX_SUBJECT:
        first = f"{first[: MAX_SUBJECT - 1]}…"
    return f"{first}, and {message.total - 1} more" if message.total > 1 else first


def text_of(message: OutgoingMessage) -> str:
    parts = [f"{words_of(event)}\n{link_to(event.path)}" for event in message.events]
    if message.more:
        parts.append(f"And {message.more} more:\n{link_to_page(HISTORY_PAGE)}")
    parts.append(
        f"-- \nPressroom, {settings.ENVIRONMENT_NAME}\n"
        f"Change what you are notified of: {link_to_page(SETTINGS_PAGE)}"
    )
    return "\n\n".join(parts) + "\n"
