"""One session with the service: sends a call, reads the answer, tries again where that is safe."""

import json
import random
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime
from typing import cast
from urllib.parse import urlencode

import httpx

from dashboard.client.bodies import head_of_body, whole_body
from dashboard.client.calls import Call
from dashboard.client.errors import APIError, StatusError
from dashboard.client.failures import CONNECT_LIMIT_S, no_answer
from dashboard.client.network import time_limit
from dashboard.client.reading import ReplyT, read_reply, read_text, storable
from dashboard.client.refusals import read_refusal
from dashboard.client.reports import CallReport, Reporter, Trip
from dashboard.client.retries import read_retry_after_s, wait_before_retry_s
from dashboard.client.transport import PooledTransport
from dashboard.contract.wire import WireModel
from dashboard.kept import Kept

ANSWERS_KEPT = 16
LONGEST_KEPT = 200_000
"""Bytes of an answer that is kept: about a megabyte with all that was read of it."""
MIN_KEY_TO_MASK = 8
"""A shorter key is a word that may well stand in an answer by chance."""


def unguarded(call: Call) -> AbstractContextManager[None]:
    """Let every call through."""
    return nullcontext()


class Session:
    """Holds the connections and the API key. Threads may share it; processes may not."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        timeout_s: float,
        transport: httpx.BaseTransport | None,
        on_call: Callable[[CallReport], None] | None,
        more_headers: Callable[[], dict[str, str]],
        guard: Callable[[Call], AbstractContextManager[None]],
    ) -> None:
        if not api_key.isascii() or not api_key.isprintable() or api_key != api_key.strip():
            raise ValueError("The API key can't be sent in a header: not printable ASCII.")
        self._timeout_s = timeout_s
        self._reporter = Reporter(on_call)
        self._more_headers = more_headers
        self._guard = guard
        # As it is, and as JSON may write it: PHP's escapes every slash.
        spellings = {api_key, json.dumps(api_key)[1:-1], api_key.replace("/", r"\/")}
        is_masked = len(api_key) >= MIN_KEY_TO_MASK
        self._masked = [spelling.encode() for spelling in spellings] if is_masked else []
        service = httpx.URL(base_url)
        self.address = str(service.copy_with(userinfo=b"", fragment=None))
        self._host = service.host
        self._headers = {
            "x-api-key": api_key,
            "Accept": "application/json",
            # What Brotli unpacks to has no bound that could be kept while reading.
            "Accept-Encoding": "gzip, deflate",
            "Connection": "keep-alive",
            "User-Agent": "Pressroom",
        } | _authorization(service)
        # Without httpx's own client: nothing is wanted of what it adds, a fifth of a call's cost.
        # A cookie would be shared by all who use this session, a redirect take the key elsewhere.
        self._transport = transport or PooledTransport()
        self._kept = Kept[tuple[object, ...], bytes, WireModel](ANSWERS_KEPT)
        self._is_closed = False

    def close(self) -> None:
        """Close all connections."""
        self._is_closed = True
        self._transport.close()

    def answer(self, call: Call, *, reply: type[ReplyT], is_kept: bool = False) -> ReplyT:
        """Return what the service answers; raises an APIError where it gives no usable answer.

        What was read of an answer that `is_kept` is given again while the service says the same.
        """
        with self._guard(call), self._reporter.reported(call) as trip:
            status_code, body = self._settled(call, trip)
            trip.status_code = status_code

            def read(body: bytes) -> WireModel:
                return read_reply(read_text(body), status_code=status_code, reply=reply)

            if is_kept and len(body) <= LONGEST_KEPT:
                trip.answer = self._kept.made_of((call.path, *call.params.items()), body, read)
            else:
                trip.answer = read(body)
            return cast("ReplyT", trip.answer)

    def _settled(self, call: Call, trip: Trip) -> tuple[int, bytes]:
        """Send until there is an answer in 2xx or no sense in trying again."""
        until = time.monotonic() + self._timeout_s
        while True:
            trip.attempts += 1
            try:
                return self._sent(call, until)
            except APIError as error:
                wait_s = wait_before_retry_s(
                    error,
                    method=call.method,
                    attempt=trip.attempts,
                    remaining_s=until - time.monotonic(),
                    jitter=random.random(),  # noqa: S311  # spreads retries, guards nothing
                )
                if wait_s is None:
                    raise
            time.sleep(wait_s)

    def _sent(self, call: Call, until: float) -> tuple[int, bytes]:
        """Send once; return the status and body of an answer in 2xx."""
        try:
            with time_limit(until), closing(self._open(call, until)) as response:
                if response.is_success:
                    return response.status_code, self._masked_in(whole_body(response))
                error: APIError = self._refusal(response)
        except (httpx.TransportError, httpx.InvalidURL) as failure:
            error = no_answer(failure, host=self._host, limit_s=self._timeout_s)
        # Raised outside the handler: httpx's exception holds the request, and that the API key.
        raise error

    def _open(self, call: Call, until: float) -> httpx.Response:
        if self._is_closed:
            raise RuntimeError("This session has been closed.")
        left_s = max(0.001, until - time.monotonic())
        limits = {"connect": min(CONNECT_LIMIT_S, left_s), "read": left_s, "write": left_s}
        request = httpx.Request(
            call.method,
            self._address_of(call),
            headers=self._headers | self._more_headers(),
            json=call.body,
            extensions={"timeout": limits},
        )
        return self._transport.handle_request(request)

    def _address_of(self, call: Call) -> str:
        sent = {name: _sendable(value) for name, value in call.params.items() if value is not None}
        query = f"?{urlencode(sent)}" if sent else ""
        return f"{self.address.rstrip('/')}{call.path}{query}"

    def _refusal(self, response: httpx.Response) -> StatusError:
        told = read_retry_after_s(response.headers.get("retry-after"), now=datetime.now(UTC))
        return read_refusal(
            read_text(self._masked_in(head_of_body(response))),
            status_code=response.status_code,
            retry_after_s=told,
        )

    def _masked_in(self, body: bytes) -> bytes:
        """Return the body without our key: some services repeat the one they refuse."""
        for spelling in self._masked:
            body = body.replace(spelling, b"[API key]")
        return body


def _sendable(value: str | int) -> str | int:
    return storable(value) if isinstance(value, str) else value


def _authorization(service: httpx.URL) -> dict[str, str]:
    """Return how a name and a password that stand in the service's address are sent."""
    if not service.userinfo:
        return {}
    credentials = b64encode(f"{service.username}:{service.password}".encode()).decode()
    return {"Authorization": f"Basic {credentials}"}
