"""Clients that send slowly: they hold a thread for ten seconds and no longer."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle

import httpx
import pytest

from dashboard.server.gunicorn import LEAST_BYTES_PER_S, REQUEST_S, TimedSocket
from tests.support.dashboards import Dashboard
from tests.support.processes import NO_TLS, Running

HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
HALF_A_BODY = (
    b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nusername="
)
CONNECTIONS = 18
"""Of threads the server has eight."""


@dataclass(frozen=True)
class Outcome:
    """What came of slow clients that sent requests of two kinds at once."""

    alive: int
    """The status of the answer to somebody else meanwhile."""
    took_s: float
    """Until that, and until each of the slow ones had an end."""
    ends: list[bytes]
    """The beginnings of the answers to the slow ones, by turns to half a head and to half a body;
    empty if the connection just ended."""
    log: str


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Let many clients send slowly to a dashboard that calls no service."""
    dashboard = Dashboard(tmp_path_factory.mktemp("slow"), "http://127.0.0.1:1")
    dashboard.prepare()
    with dashboard.started() as running, trickling(running) as slow:
        start = time.monotonic()
        alive = httpx.get(f"{running.url}/health/live", timeout=REQUEST_S * 4, verify=NO_TLS)
        ends = [end_of(each) for each in slow]
        took_s = time.monotonic() - start
    return Outcome(alive.status_code, took_s, ends, running.log.read_text())


def end_of(connection: socket.socket) -> bytes:
    """Wait until the server answers or ends a connection. Raises TimeoutError if it does not."""
    connection.settimeout(REQUEST_S * 4)
    with suppress(ConnectionError):
        return connection.recv(100)
    return b""


@contextmanager
def trickling(dashboard: Running) -> Iterator[list[socket.socket]]:
    """Send half a head and half a body by turns on many connections, then a byte a second each."""
    address = ("127.0.0.1", httpx.URL(dashboard.url).port or 0)
    over = threading.Event()
    with ExitStack() as opened:
        slow = [opened.enter_context(socket.create_connection(address)) for _ in range(CONNECTIONS)]
        for each, first in zip(slow, cycle([HALF_A_HEAD, HALF_A_BODY])):
            each.sendall(first)

        def trickle() -> None:
            while not over.wait(1):
                for each in slow:
                    with suppress(OSError):
                        each.send(b"a")

        threading.Thread(target=trickle, daemon=True).start()
        try:
            yield slow
        finally:
            over.set()


def test_slow_clients_do_not_stop_the_server(outcome: Outcome) -> None:
    assert outcome.alive == 200
    assert outcome.took_s < REQUEST_S * 2


def test_a_form_that_arrives_too_slowly_gets_an_error(outcome: Outcome) -> None:
    assert {end[:13] for end in outcome.ends[1::2]} == {b"HTTP/1.1 408 "}
    assert "Internal Server Error" not in outcome.log


@contextmanager
def pair(*, seconds: float) -> Iterator[tuple[TimedSocket, socket.socket]]:
    """Return a connection with so much time for a request, and its other end."""
    ours, theirs = socket.socketpair()
    timed = TimedSocket(fileno=ours.detach())
    timed.deadline = time.monotonic() + seconds
    with timed, theirs:
        yield timed, theirs


def test_a_byte_now_and_then_gains_no_time() -> None:
    start = time.monotonic()
    with pair(seconds=0.3) as (timed, theirs):
        for _ in range(20):
            theirs.send(b"a")
        assert timed.recv(20) == b"a" * 20
        with pytest.raises(ConnectionResetError):
            timed.recv(1)
    assert 0.3 <= time.monotonic() - start < REQUEST_S / 2


def test_what_is_large_gets_the_time_it_takes() -> None:
    with pair(seconds=30) as (timed, theirs):
        before = timed.deadline
        theirs.sendall(b"a" * LEAST_BYTES_PER_S)
        received = 0
        while received < LEAST_BYTES_PER_S:
            received += len(timed.recv(8192))
        assert timed.deadline == pytest.approx(before + 1)


def test_what_arrived_while_no_thread_was_free_is_read() -> None:
    with pair(seconds=-5) as (timed, theirs):
        theirs.sendall(b"abc")
        assert timed.recv(3) == b"abc"


def test_a_timeout_that_was_set_before_stays_one() -> None:
    with pair(seconds=30) as (timed, _theirs):
        timed.settimeout(0.05)
        with pytest.raises(TimeoutError):
            timed.recv(1)
        assert timed.gettimeout() == 0.05
