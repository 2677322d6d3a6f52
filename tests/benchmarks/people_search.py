"""How fast people are found: `uv run python -m tests.benchmarks.people_search --help`.

Loads a demo of a million people unless the database has it, serves it, and asks over HTTP. Prints
each figure beside its goal, and LIKE over the five columns, measured in the same run.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

import httpx
from rich.console import Console
from rich.table import Table

from config.environment import BASE_DIR, VAR_DIR
from tests.support.processes import free_port

TYPICAL_MS, TIMES_FASTER = 30, 10
SHORT_OF_LIKE = 1
LOADING_S, LOADING_MIB = 300, 1536
MOST_MATCHES = 20_000
SHORT = [
    *("a", "e", "@", "1", "q", "z", "ß", "an", "ex", ".e", "zz", "xw", "jö"),
    *("a e", "an li", "x y z", "+4 @"),
]
COMMON = [
    *("zoë", "555", "com", "lin", "example", ".example", "exampl"),
    *("example a", "555 1", "ma example"),
]
COLUMNS = ("name", "email", "domain", "slug", "phone_number")


@dataclass
class Search:
    """A query, the median time of its searches, how many it found, and LIKE's time if measured."""

    query: str
    took_ms: float
    matches: int
    like_ms: float = 0


def main() -> None:
    """Load, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", default=f"sqlite:///{VAR_DIR / 'benchmark.sqlite3'}")
    parser.add_argument("--people", type=int, default=1_000_000)
    chosen = parser.parse_args()
    os.environ |= {
        "TEST_DATABASE_URL": chosen.database,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    VAR_DIR.mkdir(exist_ok=True)
    with served(chosen.database, chosen.people) as (service, started_s):
        import django

        django.setup()
        typical = [search(service, query) for query in words_of_people()]
        typical = [each for each in typical if 0 < each.matches <= MOST_MATCHES]
        for each in typical[:: max(len(typical) // 20, 1)]:
            each.like_ms = like(each.query)
        others = [search(service, query) for query in [*SHORT, *COMMON]]
        for each in others:
            each.like_ms = like(each.query)
    report(typical, others, started_s)


@contextmanager
def served(database: str, people: int) -> Iterator[tuple[httpx.Client, float]]:
    """Run a demo on the database; yield a client with its key, and how long it took to start."""
    port, log = free_port(), VAR_DIR / "benchmark.log"
    command = [sys.executable, "manage.py", "demo", f"--port={port}", f"--people={people}"]
    environment = {**os.environ, "DATABASE_URL": database}
    environment.pop("DJANGO_SETTINGS_MODULE")
    begun = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=BASE_DIR, env=environment, stdout=output, stderr=output
        )
    try:
        key = wait_for_key(log, process)
        took_s = time.monotonic() - begun
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"x-api-key": key}, timeout=60
        ) as client:
            client.get("/v0/persons").raise_for_status()
            yield client, took_s
    finally:
        process.terminate()
        process.wait(30)


def wait_for_key(log: Path, process: "subprocess.Popen[bytes]") -> str:
    """Return the key the demo prints once it serves."""
    while process.poll() is None:
        if found := re.search(r"x-api-key: ([\w-]+)", log.read_text()):
            return found[1]
        time.sleep(0.2)
    raise SystemExit(log.read_text())


def words_of_people() -> list[str]:
    """Return what people are typically searched by, the same in each run."""
    from dashboard.embedded_api.models import Person

    dice = Random("typical")
    people = list(Person.objects.order_by("person_id")[:40_000:800])
    queries = []
    for person in people:
        words = (person.name or "nobody").split()
        piece = dice.randint(3, 10)
        at = dice.randint(0, 6)
        queries += [words[-1], " ".join(words[-2:]), str(person.domain), str(person.email)]
        queries += [str(person.email)[at : at + piece], str(person.slug)[at : at + piece]]
    return [query for query in dict.fromkeys(queries) if len(query) > 2]


def search(service: httpx.Client, query: str) -> Search:
    """Search three times for the first page."""
    took = []
    for _ in range(3):
        begun = time.perf_counter()
        response = service.get("/v0/persons/search", params={"query": query})
        took.append((time.perf_counter() - begun) * 1000)
    return Search(query, median(took), response.raise_for_status().json()["totalCount"])


def like(query: str) -> float:
    """Return how long LIKE over the five columns counts, in milliseconds: the median of three."""
    from django.db import connection

    columns = " OR ".join(f"{name} LIKE %s" for name in COLUMNS)
    words = query.split()
    condition = " AND ".join([f"({columns})"] * len(words))
    values = [f"%{word}%" for word in words for _ in COLUMNS]
    took = []
    for _ in range(3):
        with connection.cursor() as cursor:
            begun = time.perf_counter()
            cursor.execute(f"SELECT count(*) FROM embedded_api_person WHERE {condition}", values)
            cursor.fetchall()
        took.append((time.perf_counter() - begun) * 1000)
    return median(took)


def report(typical: list[Search], others: list[Search], started_s: float) -> None:
    """Print the figures."""
    from django.db import connection

    from dashboard.embedded_api.models import Person

    table = Table(title=f"People search, {Person.objects.count():,} people, {connection.vendor}")
    for heading in ("", "goal", "figure", ""):
        table.add_column(heading, justify="left" if not heading else "right")

    def row(what: str, goal: float, figure: float, unit: str, *, more: bool = False) -> None:
        is_met = figure >= goal if more else figure <= goal
        sign = ">=" if more else "<="
        table.add_row(
            what, f"{sign} {goal:,g} {unit}", f"{figure:,.2f} {unit}", "" if is_met else "MISSED"
        )

    typical_ms = median(each.took_ms for each in typical)
    like_ms = median(each.like_ms for each in typical if each.like_ms)
    short = [each.took_ms / each.like_ms for each in others if each.query in SHORT]
    peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row(f"{len(typical)} typical queries, median", TYPICAL_MS, typical_ms, "ms")
    row("LIKE, median of some of them, takes", TIMES_FASTER, like_ms / typical_ms, "x", more=True)
    row("words of one or two letters, median of LIKE", SHORT_OF_LIKE, median(short), "x")
    row("words of one or two letters, slowest of LIKE", SHORT_OF_LIKE, max(short), "x")
    row("start, loading included where it was needed", LOADING_S, started_s, "s")
    row("memory of the demo at most", LOADING_MIB, peak_mib, "MiB")
    Console().print(table)
    slowest = Table("query", "matches", "ms", "LIKE, ms", title="The slowest, and all others")
    for each in [*sorted(typical, key=lambda each: -each.took_ms)[:12], *others]:
        slowest.add_row(
            each.query, f"{each.matches:,}", f"{each.took_ms:.1f}", f"{each.like_ms:.1f}"
        )
    Console().print(slowest)


if __name__ == "__main__":
    main()
