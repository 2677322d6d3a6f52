"""A service that is in order but for one operation, whose requests go to a fault."""

from collections.abc import Callable
from dataclasses import dataclass, field

import httpx

from dashboard.client.transport import PooledTransport
from tests.faults.pages import good_answer, operation_of

KEY = "key-of-the-fault-matrix-0123456789"
Answer = Callable[[httpx.Request], httpx.Response]


@dataclass
class Broken:
    """Which operation fails, and how: by an answer made here, or by what listens at `url`."""

    operation: str = ""
    answer: Answer | None = None
    url: str = "http://fake.service"
    only_changes: bool = False
    """Whether a PATCH of nothing, which is a read, is in order."""
    sent: list[httpx.Request] = field(default_factory=list)


broken = Broken()


class FaultTransport(httpx.BaseTransport):
    """Answers what is in order by itself; hands on what is broken."""

    def __init__(self) -> None:
        self._network = PooledTransport()

    @classmethod
    def for_dashboard(cls) -> tuple[str, str, httpx.BaseTransport]:
        """Return the address, the key and the transport of the service."""
        return broken.url, KEY, cls()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        request.read()
        operation = operation_of(request)
        is_reading = broken.only_changes and request.content == b"{}"
        if operation != broken.operation or is_reading:
            return httpx.Response(200, json=good_answer(operation, request))
        broken.sent.append(request)
        return broken.answer(request) if broken.answer else self._network.handle_request(request)

    def close(self) -> None:
        """Close the connections."""
        self._network.close()
