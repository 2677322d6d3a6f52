"""A worker: how soon it answers, and the memory it holds after many requests and large pages."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from config.environment import BASE_DIR
from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure, Row
from tests.benchmarks.load import processor_s
from tests.benchmarks.sides import Served
from tests.benchmarks.world import LISTED, LONG_TALK

START_S, MEMORY_MB, GROWTH = 1.5, 160, 1.02
STARTS, AT_ONCE = 5, 4
HEAVY_PAGES, HEAVY_KB, WALK_MB = 120, 900, 350
LOOKS = (0.1, 0.5, 1.0)
"""Parts of all requests after which memory is looked at."""
AUDIENCE = f"/pages/{LISTED}/audiences/{LONG_TALK}/"
MIXED = (
    *(
        "/",
        "/pages/",
        "/pages/?q=fleet&sort=name",
        f"/pages/{LISTED}/",
        "/people/",
        "/people/?q=an",
    ),
    *(AUDIENCE, f"{AUDIENCE}versions/", "/find/?q=fleet", "/webhooks/", "/activity/"),
)


def start(bench: Bench) -> Iterator[Row]:
    """Measure from the command to the first answer, and what of it is imports."""
    assert bench.database
    taken_s, cost_s = zip(*(_started(bench) for _ in range(STARTS)), strict=True)
    slowest = ", ".join(f"{name} {ms:.0f} ms" for name, ms in import_times(bench)[:4])
    what = "start of a server with one worker, to its first answer"
    yield Figure(what, median(taken_s), START_S, "s", f"slowest imports: {slowest}")
    beside = "the master's checks of settings and migrations, and its worker"
    yield Figure("processor time of that start", median(cost_s), START_S, "s", beside)


def memory(bench: Bench) -> Iterator[Row]:
    """Let one worker answer 10,000 requests, and look at what it holds on the way."""
    assert bench.database
    served = bench.serve(bench.embedded, processes=1)
    requests = 1_000 if bench.quick else 10_000
    held, done = [], 0
    for part in LOOKS:
        _ask(served, int(requests * part) - done)
        done = int(requests * part)
        held.append(worker_mb(served.server.process.pid))
    looks = zip(LOOKS, held, strict=True)
    beside = ", ".join(f"{mb:.1f} MB after {requests * part:,.0f}" for part, mb in looks)
    yield Figure(
        f"memory of a worker after {requests:,} requests", held[-1], MEMORY_MB, "MB", beside
    )
    yield Figure("the same, of what it was after half of them", held[-1] / held[-2], GROWTH, "×")


def walk(bench: Bench) -> Iterator[Row]:
    """Look once at each of many large pages, and at what the worker holds on the way."""
    dashboard = bench.new_dashboard("walk", bench.service_url)
    dashboard.prepare()
    served = bench.serve(dashboard, processes=1)
    held = []
    for number in range(1, HEAVY_PAGES + 1):
        answer = served.browser.get(f"/pages/heavy-{HEAVY_KB}-{number}/")
        assert answer.status_code == 200, answer.status_code
        if number % (HEAVY_PAGES // 4) == 0:
            held.append(worker_mb(served.server.process.pid))
    beside = ", ".join(f"{mb:.0f}" for mb in held) + " MB after each quarter"
    what = f"memory of a worker after a look at each of {HEAVY_PAGES} pages of {HEAVY_KB} KB"
    yield Figure(what, max(held), WALK_MB, "MB", beside)


def worker_mb(arbiter: int) -> float:
    """Return the resident memory of a server's largest worker, in MB."""
    children = Path(f"/proc/{arbiter}/task/{arbiter}/children").read_text().split()
    held = [Path(f"/proc/{child}/status").read_text() for child in children]
    return max(int(re.findall(r"VmRSS:\s+(\d+)", each)[0]) for each in held) * 1024 / 1_000_000


def import_times(bench: Bench) -> list[tuple[str, float]]:
    """Return the packages by the time their own modules took to import, in milliseconds."""
    command = [sys.executable, "-X", "importtime", "-c", "import config.wsgi, gunicorn.app.base"]
    environment = bench.embedded.env | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=True
    )
    packages: dict[str, float] = {}
    for own, name in re.findall(r"import time:\s+(\d+) \|\s+\d+ \| +(\S+)", done.stderr):
        package = name.partition(".")[0]
        packages[package] = packages.get(package, 0) + int(own) / 1000
    return sorted(packages.items(), key=lambda each: -each[1])


def _started(bench: Bench) -> tuple[float, float]:
    begun = time.perf_counter()
    with bench.embedded.started(processes=1) as server:
        return time.perf_counter() - begun, processor_s(server)


def _ask(served: Served, requests: int) -> None:
    def ask(address: str) -> int:
        return served.browser.get(address).status_code

    with ThreadPoolExecutor(AT_ONCE) as people:
        answers = people.map(ask, islice(cycle(MIXED), requests))
        assert set(answers) == {200}
