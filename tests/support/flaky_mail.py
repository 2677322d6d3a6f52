"""An e-mail backend that a test can make unreachable, or kill the worker that uses it."""

from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend


class KilledError(BaseException):
    """Raised to end a worker as if its process were killed."""


class FlakyBackend(BaseEmailBackend):
    """Accepts messages. The state is on the class, as each message gets a new backend."""

    received: list[EmailMessage] = []
    is_away = False
    kills = False
    """Whether to kill the worker after accepting the next message."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Accept messages. Raises ConnectionRefusedError if the server is away."""
        if self.is_away:
            raise ConnectionRefusedError
        self.received.extend(email_messages)
        if self.kills:
            FlakyBackend.kills = False
            raise KilledError
        return len(email_messages)

    @classmethod
    def reset(cls) -> None:
        cls.received, cls.is_away, cls.kills = [], False, False
