"""The server on a socket of systemd: a restart loses no request."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from config.environment import BASE_DIR
from tests.support.dashboards import Dashboard
from tests.support.processes import NO_TLS

AS_SYSTEMD_DOES = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


@contextmanager
def served_on(
    port: socket.socket, dashboard: Dashboard, folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server on an open socket during the block, which starts once the server is ready."""
    log = folder / "log"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, log.open("ab") as output:
        notify.bind(str(folder / f"notify-{dashboard.starts}"))
        notify.settimeout(120)
        dashboard.starts += 1
        serve = ["manage.py", "serve", "--processes=1", "--no-worker"]
        server = subprocess.Popen(
            [sys.executable, "-c", AS_SYSTEMD_DOES, str(port.fileno()), *serve],
            cwd=BASE_DIR,
            env={"PATH": os.environ["PATH"], "NOTIFY_SOCKET": notify.getsockname()} | dashboard.env,
            pass_fds=[port.fileno()],
            stdout=output,
            stderr=output,
        )
        try:
            assert notify.recv(1_000).startswith(b"READY=1")
            yield server
        finally:
            server.terminate()
            assert server.wait(60) == 0


def test_a_request_waits_while_the_server_restarts(tmp_path: Path) -> None:
    dashboard = Dashboard(tmp_path, "http://127.0.0.1:9")
    dashboard.prepare()
    with socket.create_server(("127.0.0.1", 0)) as port, ThreadPoolExecutor(1) as aside:
        url = f"http://127.0.0.1:{port.getsockname()[1]}/health/live"

        def get() -> int:
            return httpx.get(url, timeout=120, verify=NO_TLS).status_code

        with served_on(port, dashboard, tmp_path):
            assert get() == 200
        between = aside.submit(get)
        with served_on(port, dashboard, tmp_path):
            assert between.result() == 200
