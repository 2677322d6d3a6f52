"""A real HTTP receiver of webhooks on loopback, which can be stopped and restarted."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

from tests.support.processes import free_port


class Received(NamedTuple):
    """One request."""

    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


class HookReceiver:
    """Receives webhooks while it runs; `received` has them, earliest first."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self.received: list[Received] = []
        self.responses: list[tuple[int, dict[str, str]]] = []
        """Status and headers for the next requests, instead of 204."""
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        """Listen."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.received.append(Received(headers, body))
                status, more = receiver.responses.pop(0) if receiver.responses else (204, {})
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


@contextmanager
def running_receiver() -> Iterator[HookReceiver]:
    """Run a receiver of webhooks."""
    receiver = HookReceiver()
    receiver.start()
    yield receiver
    receiver.stop()
