"""Pressroom doesn't wait for a PostgreSQL that goes silent without closing its connections."""

import os
import socket
import subprocess
import sys
from contextlib import closing, suppress
from threading import Event, Thread
from urllib.parse import urlsplit

import pytest

from config.environment import BASE_DIR
from tests.support.postgres import own_database

PROGRAM = """
import django, time
from django.conf import settings
from threading import Thread
django.setup()
from django.db import Error, close_old_connections, connection, transaction
settings.DATABASE_TIMEOUT_S = 1

def run(name, statement):
    began = time.monotonic()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
        how = "done"
    except Error as error:
        how = type(error).__name__
    print(name, how, time.monotonic() - began < 10, flush=True)

run("an open connection", "SELECT 1")
run("a long statement", "SELECT pg_sleep(60)")
input()
other = Thread(target=run, args=("a new connection", "SELECT 2"))
other.start()
other.join()
run("an open connection", "SELECT 3")
input()
close_old_connections()
run("the next connection", "SELECT 4")
"""
"""A script that takes a step for each line of its input."""

pytestmark = pytest.mark.same_on_any_database


class Proxy:
    """Forwards to a database until it goes silent; it keeps the connections open."""

    def __init__(self, host: str, port: int) -> None:
        self.silent, self.closed = Event(), Event()
        self._there = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._there)
                for pair in ((client, server), (server, client)):
                    Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65_536):
                if self.silent.is_set():
                    self.closed.wait()
                    return
                target.sendall(data)

    def close(self) -> None:
        self.closed.set()
        self._listener.close()


def test_neither_a_statement_nor_a_connection_waits_for_ever() -> None:
    with own_database() as url:
        parts = urlsplit(url)
        proxy = Proxy(parts.hostname or "127.0.0.1", parts.port or 5432)
        user = parts.netloc.rpartition("@")[0]
        through = parts._replace(netloc=f"{user}@127.0.0.1:{proxy.port}", query="connect_timeout=2")
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": through.geturl(),
            "SECRET_KEY": "only-for-tests-0123456789-abcdefghij-klmnopqrst-uvwxyz",
            "ALLOWED_HOSTS": "localhost",
        }
        with (
            closing(proxy),
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
                cwd=BASE_DIR,
            ) as process,
        ):
            assert process.stdin
            assert process.stdout
            lines = [process.stdout.readline() for _ in range(2)]
            proxy.silent.set()
            process.stdin.write("\n")
            process.stdin.flush()
            lines += [process.stdout.readline() for _ in range(2)]
            proxy.silent.clear()
            lines += process.communicate("\n", timeout=60)[0].splitlines(keepends=True)
    assert "".join(lines).splitlines() == [
        "an open connection done True",
        "a long statement OperationalError True",
        "a new connection OperationalError True",
        "an open connection OperationalError True",
        "the next connection done True",
    ]
