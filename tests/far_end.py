"""The service as tests want it: a transport whose answers a test decides.

The dashboard reaches it the way it reaches the embedded API, through SERVICE_TRANSPORT.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

Answer = Callable[[httpx.Request], httpx.Response]


@dataclass
class FarEnd:
    """A service under a test's control: set `answer`, look at `sent`."""

    answer: Answer = field(default=lambda request: httpx.Response(404, json={"detail": "Nothing"}))
    sent: list[httpx.Request] = field(default_factory=list)

    def answers(self, *args: Any, **kwargs: Any) -> None:
        """Answer every request alike; arguments as for `httpx.Response`."""
        self.answer = lambda request: httpx.Response(*args, **kwargs)

    def fails(self, error: type[httpx.TransportError], said: str = "failed") -> None:
        """Let every request end in a transport error."""

        def fail(request: httpx.Request) -> httpx.Response:
            raise error(said, request=request)

        self.answer = fail


far_end = FarEnd()


class FarEndTransport(httpx.BaseTransport):
    """Hands each request to the test's far end."""

    @classmethod
    def for_dashboard(cls) -> tuple[str, str, httpx.BaseTransport]:
        """Return the address, the key and the transport of the far end."""
        return "http://far.end", "far-end-key", cls()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Note the request, then let the test answer it."""
        request.read()
        far_end.sent.append(request)
        return far_end.answer(request)
