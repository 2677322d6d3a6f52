"""An e-mail backend that is away, or kills the worker that uses it, when a test wants it."""

from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend


class KilledError(BaseException):
    """The worker's process is gone."""


class FlakyBackend(BaseEmailBackend):
    """Takes messages; the state is shared, as each message has a backend of its own."""

    received: list[EmailMessage] = []
    is_away = False
    kills = False
    """Whether it kills the worker after it has taken the next message."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Take messages, or raise what a mail server that is away causes."""
        if self.is_away:
            raise ConnectionRefusedError
        self.received.extend(email_messages)
        if self.kills:
            FlakyBackend.kills = False
            raise KilledError
        return len(email_messages)

    @classmethod
    def reset(cls) -> None:
        """Forget everything."""
        cls.received, cls.is_away, cls.kills = [], False, False
