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
from tests.processes import free_port

TYPICAL_MS = {"sqlite": 15, "postgresql": 40}
FIRST_MS, AGAIN_MS, TIMES_FASTER = 150, 15, 20
LOADING_S, LOADING_MIB = 300, 1536
MOST_MATCHES = 20_000
COMMON = [
    *("a", "e", "@", "1", "q", "z", "ß", "an", "ex", ".e", "zz", "xw", "jö", "555", "com", "lin"),
    *("example", ".example", "exampl"),
    *("a e", "an li", "example a", "555 1", "ma example", "x y z", "+4 @"),
]
COLUMNS = ("name", "email", "domain", "slug", "phone_number")


@dataclass
class Asked:
    """A query, what it took when first asked and when asked again, and how many it found."""

    query: str
    first_ms: float
    again_ms: float
    matches: int


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
        typical = [asked for query in words_of_people() if (asked := ask(service, query))]
        typical = [asked for asked in typical if 0 < asked.matches <= MOST_MATCHES]
        common = [ask(service, query) for query in COMMON]
        like_ms = median(like(asked.query) for asked in typical[:: max(len(typical) // 12, 1)])
    report(typical, common, like_ms, started_s)


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
    people = list(Person.objects.order_by("id")[:40_000:800])
    queries = []
    for person in people:
        words = (person.name or "nobody").split()
        piece = dice.randint(3, 10)
        at = dice.randint(0, 6)
        queries += [words[-1], " ".join(words[-2:]), str(person.domain), str(person.email)]
        queries += [str(person.email)[at : at + piece], str(person.slug)[at : at + piece]]
    return [query for query in dict.fromkeys(queries) if len(query) > 2]


def ask(service: httpx.Client, query: str) -> Asked:
    """Ask for the first page, and three times more."""
    took = []
    for _ in range(4):
        begun = time.perf_counter()
        answer = service.get("/v0/persons/search", params={"query": query})
        took.append((time.perf_counter() - begun) * 1000)
    return Asked(query, took[0], median(took[1:]), answer.raise_for_status().json()["totalCount"])


def like(query: str) -> float:
    """Return how long LIKE over the five columns counts, in milliseconds; two words as one."""
    from django.db import connection

    condition = " OR ".join(f"{name} LIKE %s" for name in COLUMNS)
    with connection.cursor() as cursor:
        begun = time.perf_counter()
        cursor.execute(
            f"SELECT count(*) FROM embedded_api_person WHERE {condition}", [f"%{query}%"] * 5
        )
        cursor.fetchall()
    return (time.perf_counter() - begun) * 1000


def report(typical: list[Asked], common: list[Asked], like_ms: float, started_s: float) -> None:
    """Print the figures."""
    from django.db import connection

    from dashboard.embedded_api.models import Person

    table = Table(title=f"People search, {Person.objects.count():,} people, {connection.vendor}")
    for heading in ("", "goal", "figure", ""):
        table.add_column(heading, justify="left" if not heading else "right")

    def row(what: str, goal: float, figure: float, unit: str, *, more: bool = False) -> None:
        kept = figure >= goal if more else figure <= goal
        sign = ">=" if more else "<="
        table.add_row(
            what, f"{sign} {goal:,g} {unit}", f"{figure:,.1f} {unit}", "" if kept else "MISSED"
        )

    typical_ms = median(asked.first_ms for asked in typical)
    peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row(f"{len(typical)} typical queries, median", TYPICAL_MS[connection.vendor], typical_ms, "ms")
    row(
        "LIKE over the five columns takes so many times that",
        TIMES_FASTER,
        like_ms / typical_ms,
        "x",
        more=True,
    )
    asked = [*typical, *common]
    row("any query, first asked, slowest", FIRST_MS, max(one.first_ms for one in asked), "ms")
    row("any query, asked again, slowest", AGAIN_MS, max(one.again_ms for one in asked), "ms")
    row("start, loading included where it was needed", LOADING_S, started_s, "s")
    row("memory of the demo at most", LOADING_MIB, peak_mib, "MiB")
    Console().print(table)
    slowest = Table("query", "matches", "first, ms", "again, ms", title="The slowest of each kind")
    for kind in (typical, common):
        for one in sorted(kind, key=lambda one: -one.first_ms)[:12]:
            slowest.add_row(
                one.query, f"{one.matches:,}", f"{one.first_ms:.1f}", f"{one.again_ms:.1f}"
            )
    Console().print(slowest)


if __name__ == "__main__":
    main()
