"""Faults of the network: no server, silence, cut connections, wrong lengths."""

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from tests.faults.cells import LIMIT_S
from tests.faults.kinds import Kind
from tests.faults.pages import good_answer
from tests.support.small_server import Script, answer, dribbles, says, says_and_closes, serving

CLOSED = "The service closed the connection before responding."
NO_TIME = "The service didn’t respond within 0.6 s."
OK = b"HTTP/1.1 200 OK\r\n"


@dataclass(frozen=True)
class Fault:
    """The server at the service's address, what it means, and a sentence that must be shown."""

    name: str
    fake_service: Callable[[bytes], Script] | str
    """A script made from a good body, or a URL without a server."""
    kind: Kind
    sentence: str = ""
    scheme: str = "http"

    @property
    def limit_s(self) -> float:
        """Time limit of a call: long enough on a busy machine, unless the fault is the time."""
        if self.sentence == NO_TIME:
            return LIMIT_S
        return 1.5 if self.kind is Kind.LOST else 5.0

    @contextmanager
    def listening(self, operation: str) -> Iterator[str]:
        """Run the server; yield its URL."""
        if isinstance(self.fake_service, str):
            yield self.fake_service
            return
        request = httpx.Request("PATCH", "http://fake.service", content=b'{"active": false}')
        body = json.dumps(good_answer(operation, request)).encode()
        with serving(self.fake_service(body)) as server:
            yield server.url.replace("http", self.scheme, 1)


def cut(name: str, head: bytes) -> Fault:
    return Fault(f"cut {name}", lambda body: says_and_closes(head), Kind.LOST, CLOSED)


def first(*heads: bytes) -> Callable[[bytes], Script]:
    """Send these first, then a good response."""
    return lambda body: says(*heads, answer(body))


FAULTS = [
    Fault(
        "name not known",
        "http://pressroom.invalid",
        Kind.NOT_REACHED,
        "unknown host pressroom.invalid",
    ),
    # Port 1 is unused and refuses connections.
    Fault("refused", "http://127.0.0.1:1", Kind.NOT_REACHED, "127.0.0.1 refused the connection"),
    Fault(
        "no TLS there",
        lambda body: says_and_closes(b""),
        Kind.NOT_REACHED,
        "Couldn’t reach the service",
        scheme="https",
    ),
    Fault("silence", lambda body: says(), Kind.LOST, NO_TIME),
    Fault(
        "a slow first byte",
        lambda body: says(b"", answer(body), pause_s=2 * LIMIT_S),
        Kind.LOST,
        NO_TIME,
    ),
    Fault("a byte at a time, head", lambda body: dribbles(OK, b"X"), Kind.LOST, NO_TIME),
    Fault(
        "a byte at a time, body",
        lambda body: dribbles(OK + b"Content-Length: 900\r\n\r\n", b" "),
        Kind.LOST,
        NO_TIME,
    ),
    Fault(
        "102 for ever",
        lambda body: dribbles(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
        Kind.LOST,
        NO_TIME,
    ),
    Fault(
        "100, 102 and 103 before 200",
        first(*(b"HTTP/1.1 %d Wait\r\n\r\n" % code for code in (100, 102, 103))),
        Kind.NONE,
    ),
    Fault(
        "101 without an upgrade request",
        lambda body: says_and_closes(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"),
        Kind.LOST,
    ),
    cut("before the answer", b""),
    cut("in the status line", b"HTTP/1.1 20"),
    cut("in the headers", OK + b"Content-Le"),
    cut("before the body", OK + b"Content-Length: 100\r\n\r\n"),
    cut("in the body", OK + b"Content-Length: 100\r\n\r\n{"),
    cut("in a chunk", OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{"),
    Fault(
        "a length that is too large",
        lambda body: says_and_closes(
            answer(body).replace(b"Content-Length: ", b"Content-Length: 9")
        ),
        Kind.LOST,
        CLOSED,
    ),
    Fault(
        "a length that is too small",
        lambda body: says_and_closes(OK + b"Content-Length: 9\r\n\r\n" + body),
        Kind.UNREADABLE,
        "not JSON",
    ),
    Fault(
        "two lengths",
        lambda body: says_and_closes(OK + b"Content-Length: 9\r\nContent-Length: 7\r\n\r\n" + body),
        Kind.LOST,
        "isn’t HTTP",
    ),
    Fault("no length", lambda body: says_and_closes(OK + b"\r\n" + body), Kind.NONE),
    Fault(
        "half a gzip",
        lambda body: says(answer(gzip.compress(body)[:-30], "Content-Encoding: gzip")),
        Kind.UNREADABLE,
        "not JSON",
    ),
    Fault("not HTTP", lambda body: says_and_closes(b"SSH-2.0\r\n\r\n"), Kind.LOST, "isn’t HTTP"),
    Fault(
        "headers without end",
        lambda body: says_and_closes(OK + b"X-Y: z\r\n" * 40_000),
        Kind.LOST,
        "isn’t HTTP",
    ),
]
