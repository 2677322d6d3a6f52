"""A real SMTP server on loopback, which can be stopped and restarted on the same port."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from threading import Event, Thread
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope, Session

from tests.support.processes import free_port


class MailServer:
    """Receives e-mails while it runs; `received` has them, earliest first."""

    def __init__(self) -> None:
        self.port = free_port()
        self.received: list[EmailMessage] = []
        self.responses: list[str] = []
        """Responses to the next messages, instead of accepting them."""
        self._controller: Controller | None = None

    @property
    def url(self) -> str:
        """Value for EMAIL_URL."""
        return f"smtp://127.0.0.1:{self.port}"

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802  # named by aiosmtpd
        """Accept a message, or give the response that the test set."""
        if self.responses:
            return self.responses.pop(0)
        content = cast("bytes", envelope.content)
        self.received.append(
            cast("EmailMessage", message_from_bytes(content, policy=policy.default))
        )
        return "250 OK"

    def start(self) -> None:
        """Listen."""
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port)
        self._controller.start()

    def stop(self) -> None:
        """Stop listening."""
        if self._controller:
            self._controller.stop()
            self._controller = None

    @property
    def subjects(self) -> list[str]:
        """Subjects of the received messages."""
        return [delivery["Subject"] for delivery in self.received]


@contextmanager
def dribbling_mail_server(*, at_most_s: float) -> Iterator[int]:
    """Run a server that sends its greeting one byte at a time; yield its port."""
    ended = Event()

    def serve(listener: socket.socket) -> None:
        with suppress(OSError), listener.accept()[0] as connection:
            for _ in range(int(at_most_s / 0.05)):
                connection.sendall(b"2")
                if ended.wait(0.05):
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        ended.set()
        thread.join()
