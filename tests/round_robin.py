"""A load balancer for tests: each request goes to the next server.

So that a browser keeps no connection, which would lead to one server for good, it is asked to close
each.
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
    """Forward to these ports of this machine in turn; return the address to connect to."""
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
    """Pass on what comes until no more does, and say so."""
    with suppress(OSError):
        while piece := source.recv(65_536):
            target.sendall(piece.replace(b"Connection: keep-alive", b"Connection: close"))
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
