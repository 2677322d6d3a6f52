"""A service that works except for one operation, whose requests meet a fault."""

from collections.abc import Callable
from dataclasses import dataclass, field

import httpx

from dashboard.client.transport import PooledTransport
from tests.faults.pages import good_answer, operation_of

KEY = "key-of-the-fault-matrix-0123456789"
Answer = Callable[[httpx.Request], httpx.Response]


@dataclass
class Broken:
    """Which operation fails, and how: `answer` responds, or else the server at `url`."""

    operation: str = ""
    answer: Answer | None = None
    url: str = "http://fake.service"
    only_changes: bool = False
    """Whether an empty PATCH, which is a read, still works."""
    sent: list[httpx.Request] = field(default_factory=list)


broken = Broken()


class FaultTransport(httpx.BaseTransport):
    """Responds to working operations itself, and forwards the broken one."""

    def __init__(self) -> None:
        self._network = PooledTransport()

    @classmethod
    def for_dashboard(cls) -> tuple[str, str, httpx.BaseTransport]:
        """Return the address, the key and the transport of the service."""
        return broken.url, KEY, cls()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        operation = operation_of(request)
        is_reading = broken.only_changes and request.content == b"{}"
        if operation != broken.operation or is_reading:
            return httpx.Response(200, json=good_answer(operation, request))
        broken.sent.append(request)
        return broken.answer(request) if broken.answer else self._network.handle_request(request)

    def close(self) -> None:
        self._network.close()
