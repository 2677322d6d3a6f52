"""A fake service: a transport whose responses the test sets.

SERVICE_TRANSPORT selects it, as it selects the embedded API.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

Answer = Callable[[httpx.Request], httpx.Response]


@dataclass
class FakeService:
    """A service under the test's control: set `answer`, inspect `sent`."""

    answer: Answer = field(default=lambda request: httpx.Response(404, json={"detail": "Nothing"}))
    sent: list[httpx.Request] = field(default_factory=list)

    def answers(self, *args: Any, **kwargs: Any) -> None:
        """Return the same response to every request; arguments as `httpx.Response`."""
        self.answer = lambda request: httpx.Response(*args, **kwargs)

    def fails(self, error: type[httpx.TransportError], message: str = "failed") -> None:
        """Raise a transport error for every request."""

        def fail(request: httpx.Request) -> httpx.Response:
            raise error(message, request=request)

        self.answer = fail


class FakeServiceTransport(httpx.BaseTransport):
    """Pass each request to the test's fake service."""

    service = FakeService()
    """The running test's service; the fixture `fake_service` sets a new one."""

    @classmethod
    def for_dashboard(cls) -> tuple[str, str, httpx.BaseTransport]:
        """Return the URL, the key and the transport of the fake service."""
        return "http://fake.service", "fake-service-key", cls()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Record the request, then return the test's response."""
        request.read()
        self.service.sent.append(request)
        return self.service.answer(request)
