"""How fast people are found among a million, beside LIKE over the five columns in the same run."""

import time
from collections.abc import Iterator
from random import Random
from statistics import median

import httpx

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure
from tests.benchmarks.fresh_process import in_fresh_process
from tests.benchmarks.measuring import usage

LOADING_S, TYPICAL_MS, TIMES_FASTER = 300, 30, 10
MOST_MATCHES = 20_000
COLUMNS = ("name", "email", "domain", "slug", "phone_number")


def figures(bench: Bench) -> Iterator[Figure]:
    """Load people, and search them over HTTP."""
    people = 20_000 if bench.quick else 1_000_000
    dashboard, loading = bench.filled("people", 0, 0, people)
    beside = f"{loading.memory_mb:.0f} MB, {loading.page_faults:,} page faults"
    yield Figure(f"loading {people:,} people", loading.seconds, LOADING_S, "s", beside)
    key = in_fresh_process(dashboard.env, _issue_key).result
    server = bench.serve(dashboard).server
    with httpx.Client(base_url=server.url, headers={"x-api-key": key}, timeout=60) as service:
        found = {query: _search(service, query) for query in _queries(service, bench.seed)}
    typical_ms = {query: ms for query, (ms, count) in found.items() if 0 < count <= MOST_MATCHES}
    search_ms, used = median(typical_ms.values()), usage(server)
    beside = f"{len(typical_ms)} queries, slowest {max(typical_ms.values()):.1f} ms;"
    beside += f" {used.memory_mb:.0f} MB, {used.page_faults:,} page faults of the server"
    yield Figure("typical search of people", search_ms, TYPICAL_MS, "ms", beside)
    like_ms = in_fresh_process(dashboard.env, _like_ms, list(typical_ms)[::10]).result
    times, beside = like_ms / search_ms, f"LIKE {like_ms:.1f} ms"
    yield Figure("times less than LIKE", times, TIMES_FASTER, "×", beside, more_is_better=True)


def _queries(service: httpx.Client, seed: str) -> list[str]:
    """Return what people are typically searched by."""
    dice, queries = Random(seed), list[str]()
    for person in service.get("/v0/persons", params={"limit": 50}).json()["items"]:
        words = (person.get("name") or "nobody").split()
        domain, email, slug = (str(person.get(name)) for name in ("domain", "email", "slug"))
        part = slice(dice.randint(0, 3), dice.randint(6, 13))
        queries += [words[-1], " ".join(words[-2:]), domain, email, email[part], slug[part]]
    return [query for query in dict.fromkeys(queries) if len(query) > 2]


def _search(service: httpx.Client, query: str) -> tuple[float, int]:
    """Return the median time of three searches for the first page, and how many match."""
    took_ms = []
    for _ in range(3):
        begun = time.perf_counter()
        response = service.get("/v0/persons/search", params={"query": query})
        took_ms.append((time.perf_counter() - begun) * 1000)
    return median(took_ms), response.raise_for_status().json()["totalCount"]


def _issue_key() -> str:
    from dashboard.embedded_api.sample import Sample

    return Sample.issue_key()


def _like_ms(queries: list[str]) -> float:
    """Return how long LIKE over the five columns counts: the median of three of each."""
    from django.db import connection

    took_ms, columns = [], " OR ".join(f"{name} LIKE %s" for name in COLUMNS)
    for words in [query.split() for query in queries] * 3:
        condition = " AND ".join([f"({columns})"] * len(words))
        values = [f"%{word}%" for word in words for _ in COLUMNS]
        with connection.cursor() as cursor:
            begun = time.perf_counter()
            cursor.execute(f"SELECT count(*) FROM embedded_api_person WHERE {condition}", values)
            took_ms.append((time.perf_counter() - begun) * 1000)
    return median(took_ms)
