"""A PgBouncer in transaction mode in front of a new database."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.postgres import own_database
from tests.support.processes import PATIENCE_S, free_port

CONNECTIONS = 4
"""Connections of the pooler to the database. With only one, each cursor would be found again."""


@contextmanager
def pooled_database(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield two URLs of a new database: a direct one, and one through the pooler.

    Without PgBouncer, skips the test, or fails it if REQUIRE_PGBOUNCER is set.
    """
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        if os.environ.get("REQUIRE_PGBOUNCER"):
            raise AssertionError("NO PGBOUNCER, and REQUIRE_PGBOUNCER is set")
        pytest.skip("NO PGBOUNCER: install Debian's package pgbouncer.")
    with own_database() as url:
        database, port = urlsplit(url), free_port()
        password = f" password={database.password}" if database.password else ""
        settings = folder / "pgbouncer.ini"
        settings.write_text(
            "[databases]\n"
            f"* = host={database.hostname} port={database.port or 5432}"
            f" user={database.username}{password}\n"
            "[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = any\npool_mode = transaction\ndefault_pool_size = {CONNECTIONS}\n"
            "max_client_conn = 200\n"
        )
        log_file = folder / "pgbouncer.log"
        with settings.open("rb") as lines, log_file.open("wb") as log:
            # It refuses to run as root. It reads its settings from standard input, because only
            # root can read the folder of a test.
            process = subprocess.Popen(
                [program, "-q", "/dev/stdin"],
                stdin=lines,
                stdout=log,
                stderr=log,
                user="nobody" if os.geteuid() == 0 else None,
            )
        try:
            _wait(port, log_file)
            yield url, f"postgres://{database.username}@127.0.0.1:{port}{database.path}"
        finally:
            process.kill()
            process.wait()


def _wait(port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise AssertionError(log.read_text())
