"""The time limit covers the whole call, regardless of what the service does."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Timer
from typing import Any

import pytest

from dashboard.client import APIError, ConnectError, Executed, ResponseLostError
from tests.support.api_clients import PAGE_REQUEST, PEOPLE, client_of, client_of_server, error_of
from tests.support.clock import Clock
from tests.support.small_server import answer, dribbles, says, serving

LIMIT_S = 1.0
"""Enough to connect and send, even on a busy machine."""
SOON_S = 15.0
"""Generous for a busy machine. Without the limit each call would never end."""
SLOW = {
    "silence": says(),
    "a byte at a time in the headers": dribbles(b"HTTP/1.1 200 OK\r\n", b"X"),
    "a header at a time": dribbles(b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n"),
    "one 102 after the other": dribbles(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "a byte at a time in the body": dribbles(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b" "
    ),
    "a chunk at a time": dribbles(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"
    ),
}


@contextmanager
def within(seconds: float, cut: Callable[[], None]) -> Iterator[None]:
    """Fail if the block takes longer. `cut` then ends what it waits for, possibly forever."""
    watch, start = Timer(seconds, cut), time.perf_counter()
    watch.start()
    try:
        yield
    finally:
        watch.cancel()
    assert time.perf_counter() - start < seconds


@dataclass(frozen=True)
class Failure:
    """How a call failed, and how many requests it made."""

    error: ResponseLostError
    requests: int


@pytest.fixture(scope="module")
def failures() -> dict[str, Failure]:
    """Call all slow services at once, as each call takes the whole limit."""

    def call(how: str) -> Failure:
        with (
            client_of_server(SLOW[how], timeout_s=LIMIT_S) as (client, server),
            within(SOON_S, server.close),
        ):
            error = error_of(ResponseLostError, client.people.list)
        return Failure(error, len(server.requests))

    with ThreadPoolExecutor(len(SLOW)) as threads:
        return dict(zip(SLOW, threads.map(call, SLOW), strict=True))


@pytest.mark.parametrize("how", SLOW)
def test_the_limit_holds_against_one_who_answers_slowly(
    how: str, failures: dict[str, Failure]
) -> None:
    assert str(failures[how].error) == "The service didn’t respond within 1 s."
    assert failures[how].requests == 1


def test_the_limit_holds_against_one_who_refuses_slowly() -> None:
    slow_body = dribbles(b"HTTP/1.1 409 Conflict\r\nContent-Length: 1000\r\n\r\n", b" ")
    with (
        client_of_server(slow_body, timeout_s=LIMIT_S) as (client, server),
        within(SOON_S, server.close),
    ):
        assert error_of(APIError, client.pages.get, "page_1").executed is Executed.NO


def test_the_limit_ends_a_late_silence(clock: Clock) -> None:
    limit_s = 10 * SOON_S

    def falls_silent_late(connection: socket.socket) -> None:
        clock.advance(limit_s - LIMIT_S)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")

    with (
        client_of_server(falls_silent_late, timeout_s=limit_s) as (client, server),
        within(SOON_S, server.close),
    ):
        error_of(ResponseLostError, client.people.list)


def test_the_limit_holds_while_a_request_is_sent() -> None:
    huge = PAGE_REQUEST.model_copy(update={"page_context": "x" * 10_000_000})
    # Nobody reads from this socket, so the system's buffers fill up and sending stops.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        # Writing so much takes a while itself.
        with client_of(url, timeout_s=2 * LIMIT_S) as client, within(2 * SOON_S, listener.close):
            error = error_of(ResponseLostError, client.pages.create, huge)
    assert error.executed is Executed.MAYBE


def test_a_hanging_look_up_ends_and_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    hangs, look_up = Event(), socket.getaddrinfo
    with (
        serving(says()) as server,
        client_of(f"http://localhost:{server.port}", timeout_s=LIMIT_S) as client,
    ):

        def look_up_slowly(host: str, *args: Any, **options: Any) -> list[Any]:
            if host == "localhost":
                hangs.wait(2 * SOON_S)
            return look_up("127.0.0.1", *args, **options)

        monkeypatch.setattr(socket, "getaddrinfo", look_up_slowly)
        with within(SOON_S, hangs.set):
            error = error_of(ConnectError, client.pages.create, PAGE_REQUEST)
        hangs.set()
    why = "Couldn’t reach the service: the address of localhost wasn’t found in time."
    assert (str(error), error.executed) == (why, Executed.NO)
    assert server.requests == []


def test_a_connection_made_too_late_sends_nothing(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = socket.create_connection

    def connect_late(*args: Any, **options: Any) -> socket.socket:
        connection = connect(*args, **options)
        clock.advance(SOON_S)
        return connection

    with client_of_server(says(), timeout_s=SOON_S) as (client, server):
        monkeypatch.setattr(socket, "create_connection", connect_late)
        error = error_of(ConnectError, client.pages.create, PAGE_REQUEST)
    assert error.executed is Executed.NO
    assert server.requests == []


def test_the_limit_holds_over_retries() -> None:
    bad_gateway = answer(b"", status="502 Bad Gateway")
    with client_of_server(says(b"", bad_gateway, pause_s=0.25), timeout_s=0.6) as (client, server):
        with within(SOON_S, server.close):
            error_of(APIError, client.people.list)
        assert len(server.requests) < 3


def test_its_end_is_the_end_of_that_connection_alone() -> None:
    # The limit leaves time for the second response, even on a busy machine.
    with client_of_server(says(), says(answer(PEOPLE)), timeout_s=3 * LIMIT_S) as (client, server):
        with within(SOON_S, server.close):
            error_of(ResponseLostError, client.people.list)
        assert client.people.list().total_count == 1


def test_a_closed_port_was_never_reached() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        # The queue holds one more than its length. The next caller gets no response.
        url = f"http://127.0.0.1:{address[1]}"
        with (
            socket.create_connection(address),
            within(SOON_S, listener.close),
            client_of(url, timeout_s=LIMIT_S) as client,
        ):
            error = error_of(ConnectError, client.people.list)
    assert "127.0.0.1 did not accept a connection within 1 s" in str(error)
