"""Look up the addresses of a host within a time limit."""

import socket
import threading
from queue import Empty, SimpleQueue
from typing import Any


def look_up(host: str, port: int, *, timeout_s: float) -> list[str]:
    """Return the addresses of a host, one or more. Raises OSError, also if it takes too long.

    In a thread, as the system's look-up can't be cut short.
    """
    results = SimpleQueue[list[Any] | Exception]()

    def get() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            results.put(error)

    threading.Thread(target=get, name="resolver", daemon=True).start()
    try:
        result = results.get(timeout=max(0.0, timeout_s))
    except Empty:
        raise TimeoutError(None, f"the address of {host} wasn't found in time") from None
    if isinstance(result, Exception):
        raise OSError(None, f"unknown host {host}") from result
    return list(dict.fromkeys(str(address[0]) for *_, address in result))
