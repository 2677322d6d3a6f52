"""Clients that send slowly: they hold a thread for ten seconds and no longer."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

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


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A dashboard that calls no service."""
    dashboard = Dashboard(tmp_path_factory.mktemp("slow"), "http://127.0.0.1:1")
    dashboard.prepare()
    with dashboard.started() as running:
        yield running


@contextmanager
def trickling(dashboard: Running, first: bytes) -> Iterator[list[socket.socket]]:
    """Send the beginning of a request on many connections, then a byte a second on each."""
    address = ("127.0.0.1", httpx.URL(dashboard.url).port or 0)
    over = threading.Event()
    with ExitStack() as opened:
        slow = [opened.enter_context(socket.create_connection(address)) for _ in range(CONNECTIONS)]
        for each in slow:
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


@pytest.mark.parametrize("first", [HALF_A_HEAD, HALF_A_BODY])
def test_slow_clients_do_not_stop_the_server(dashboard: Running, first: bytes) -> None:
    with trickling(dashboard, first):
        start = time.monotonic()
        alive = httpx.get(f"{dashboard.url}/health/live", timeout=REQUEST_S * 4, verify=NO_TLS)
        took_s = time.monotonic() - start
    assert alive.status_code == 200
    assert took_s < REQUEST_S * 2


def test_a_form_that_arrives_too_slowly_gets_an_error(dashboard: Running) -> None:
    with trickling(dashboard, HALF_A_BODY) as slow:
        slow[0].settimeout(REQUEST_S * 4)
        response = slow[0].recv(100)
    assert response.startswith(b"HTTP/1.1 408 ")
    assert "Internal Server Error" not in dashboard.log.read_text()


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
