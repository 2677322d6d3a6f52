"""A real server on a socket, for what no transport can fake: timing, cut connections, raw bytes."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Script = Callable[[socket.socket], object]


class SmallServer:
    """Accepts connections on 127.0.0.1 and runs a script for each request.

    All later requests get the last script. `requests` has the heads of the requests. `closed` is
    released once for each connection that has ended.
    """

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._held: list[socket.socket] = []
        self.requests: list[bytes] = []
        self.connections = 0
        self.closed = threading.Semaphore(0)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._held.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            while head := _read_head(connection):
                self.requests.append(head)
                script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
                if script(connection) is CLOSE:
                    break
        self.closed.release()

    def close(self) -> None:
        """Stop listening and cut every connection."""
        # shutdown wakes the thread in accept(); close alone would keep it listening.
        for held in (self._listener, *self._held):
            with suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)
            held.close()


TLS = b"\x16"
"""First byte of a TLS handshake."""
CLOSE = object()
"""Value that a script returns to close the connection."""


@contextmanager
def serving(*scripts: Script) -> Iterator[SmallServer]:
    """Run a small server during the block."""
    server = SmallServer(*scripts)
    try:
        yield server
    finally:
        server.close()


def says(*parts: bytes, pause_s: float = 0.0) -> Script:
    """Send these bytes with a pause after each part, and keep the connection open."""

    def script(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause_s)

    return script


def says_and_closes(*parts: bytes) -> Script:
    """Send these bytes and close the connection."""

    def script(connection: socket.socket) -> object:
        says(*parts)(connection)
        return CLOSE

    return script


def dribbles(head: bytes, drip: bytes) -> Script:
    """Send the head, then the drip every 50 ms without end."""

    def script(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            time.sleep(0.05)
            connection.sendall(drip)

    return script


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Return the bytes of a complete response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def _read_head(connection: socket.socket) -> bytes:
    """Return the head of the next request, and read its body.

    It is b"" if the client has disconnected or speaks TLS, which has no line ends.
    """
    with connection.makefile("rb") as file:
        if file.peek(1)[:1] == TLS:
            return b""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = file.readline()
            if not line:
                return b""
            head += line
        length = re.search(rb"(?i)content-length: (\d+)", head)
        file.read(int(length[1]) if length else 0)
    return head
