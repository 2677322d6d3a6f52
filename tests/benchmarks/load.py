"""256 people at once before a service that takes a second: `python -m tests.benchmarks.load`.

Prints, for one person and for all of them, how long pages took and what they cost the processor;
and how long pages that need no service took meanwhile, asked for by a process of its own: in this
one a request would wait for its 256 neighbours. Ends by 1 where a request was lost.
"""

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path

import httpx

from tests.support import wire
from tests.support.dashboards import Dashboard, logged_in, over_http
from tests.support.processes import Running, running

PEOPLE = 256
ROUNDS = 2
SERVICE_S = 1.0
OURS = ("/", "/activity/", "/webhooks/")


def slow_service(request: httpx.Request) -> httpx.Response:
    time.sleep(SERVICE_S)
    return httpx.Response(200, json=wire.envelope(wire.person()))


def processor_s(server: Running) -> float:
    """Return the processor time of the server and its workers so far, in seconds.

    As the scheduler counts it, to the nanosecond: of a process the kernel tells in 10 ms alone.
    """
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # One that has ended meanwhile.
            group = stat.read_text().rpartition(")")[2].split()[2]
            if int(group) == server.process.pid:
                threads = stat.parent.glob("task/*/schedstat")
                total += sum(int(thread.read_text().split()[0]) for thread in threads)
    return total / 1e9


def asked(browser: httpx.Client, address: str, lost: list[str]) -> float:
    """Return how long a page took, in seconds."""
    start = time.monotonic()
    try:
        answer = browser.get(address)
        if answer.status_code != 200:
            lost.append(f"{address}: {answer.status_code}")
    except httpx.HTTPError as error:
        lost.append(f"{address}: {error!r}")
    return time.monotonic() - start


def together(ask: Callable[[int], float], people: int, rounds: int) -> list[float]:
    with ThreadPoolExecutor(people) as pool:
        return list(pool.map(ask, range(people * rounds)))


def look_meanwhile(
    url: str, cookies: dict[str, str], done: threading.Event
) -> tuple[list[float], list[str]]:
    """Ask for pages of our own in turn until done; return how long each took, and what was lost."""
    took: list[float] = []
    lost: list[str] = []
    with httpx.Client(base_url=url, cookies=cookies, timeout=120) as browser:
        addresses = cycle(OURS)
        while not done.wait(0.05):
            took.append(asked(browser, next(addresses), lost))
    return took, lost


def measure(server: Running) -> list[str]:
    lost: list[str] = []
    with logged_in(server) as person:
        cookies = dict(person.cookies)
    # None expires: httpcore may close one at the very moment another thread takes it.
    limits = httpx.Limits(max_connections=PEOPLE, keepalive_expiry=None)
    with httpx.Client(base_url=server.url, cookies=cookies, timeout=120, limits=limits) as browser:
        browser.get("/people/")
        before = processor_s(server)
        alone = [asked(browser, "/people/", lost) for _ in range(8)]
        each_alone = (processor_s(server) - before) / 8
        spawn = get_context("spawn")  # A fork would take the threads' locks along.
        with ProcessPoolExecutor(1, spawn) as elsewhere, spawn.Manager() as shared:
            done = shared.Event()
            elsewhere.submit(time.sleep, 0).result()  # It is there.
            before = processor_s(server)
            looking = elsewhere.submit(look_meanwhile, server.url, cookies, done)
            start = time.monotonic()
            took = together(lambda _: asked(browser, "/people/", lost), PEOPLE, ROUNDS)
            whole_s = time.monotonic() - start
            done.set()
            ours, lost_of_ours = looking.result()
        lost += lost_of_ours
        each = (processor_s(server) - before) / (len(took) + len(ours))
    say = sys.stdout.write
    say(f"one person:  median {statistics.median(alone):.2f} s, {each_alone * 1000:.0f} ms cpu\n")
    say(f"{PEOPLE} at once: median {statistics.median(took):.2f} s, ")
    say(f"{each * 1000:.0f} ms cpu a page, ")
    say(f"{len(took)} pages in {whole_s:.1f} s, {len(lost)} lost\n")
    say(f"pages of ours meanwhile: median {statistics.median(ours) * 1000:.0f} ms of {len(ours)}\n")
    return lost


def main(threads: int) -> int:
    with tempfile.TemporaryDirectory() as folder, over_http(slow_service) as url:
        dashboard = Dashboard(Path(folder), url)
        dashboard.prepare()
        port = 8197
        command = ["manage.py", "serve", f"--port={port}", "--processes=2", f"--threads={threads}"]
        with running(
            command, port=port, ready="/health/live", log=Path(folder) / "log", env=dashboard.env
        ) as server:
            lost = measure(server)
    sys.stdout.writelines(f"{each}\n" for each in lost[:10])
    return bool(lost)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if sys.argv[1:] else 192))
