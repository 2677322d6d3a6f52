"""A load balancer for tests, which sends each request to the next server.

Responses close the connection, because a kept-alive one would always use the same server.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Lock, Thread


class _Balancer(ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def balanced(*ports: int) -> Iterator[str]:
    """Forward to these local ports in turn; return the URL to connect to."""
    turns, lock = cycle(ports), Lock()

    class Forward(BaseRequestHandler):
        def handle(self) -> None:
            with lock:
                port = next(turns)
            with socket.create_connection(("127.0.0.1", port)) as server:
                back = Thread(target=_pump, args=(server, self.request), daemon=True)
                back.start()
                _pump(self.request, server)
                back.join()

    with _Balancer(("127.0.0.1", 0), Forward) as balancer:
        Thread(target=balancer.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{balancer.server_address[1]}"
        balancer.shutdown()


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Forward data until the source closes, then close the target for writing."""
    with suppress(OSError):
        while chunk := source.recv(65_536):
            target.sendall(chunk.replace(b"Connection: keep-alive", b"Connection: close"))
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
