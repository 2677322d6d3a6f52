"""How fast people are found among a million, beside LIKE over the five columns."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from random import Random
from statistics import median
from urllib.parse import urlencode

import httpx

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure
from tests.benchmarks.fresh_process import in_fresh_process
from tests.benchmarks.measuring import usage

MOST_MATCHES = 20_000
SHORT = ("a", "x", "9", "an", "co", "ju", "qu", "zz", "é")
COLUMNS = ("name", "email", "domain", "slug", "phone_number")


def figures(bench: Bench) -> Iterator[Figure]:
    """Load people and search them over HTTP."""
    people = 20_000 if bench.quick else 1_000_000
    dashboard, loading = bench.filled("people", 0, 0, people)
    beside = f"{loading.memory_mb:.0f} MB, {loading.page_faults:,} page faults"
    yield Figure(f"loading {people:,} people", loading.seconds, 300, "s", beside)
    key = in_fresh_process(dashboard.env, _issue_key).result
    server = bench.serve(dashboard).server
    with httpx.Client(base_url=server.url, headers={"x-api-key": key}, timeout=60) as service:
        matching = {query: _search(service, query) for query in _queries(service, bench.seed)}
    typical_ms = {query: ms for query, (ms, count) in matching.items() if 0 < count <= MOST_MATCHES}
    search_ms, used = median(typical_ms.values()), usage(server)
    beside = (
        f"≤ {max(typical_ms.values()):.1f} ms; {used.memory_mb:.0f} MB, {used.page_faults} faults"
    )
    yield Figure("typical search of people", search_ms, 30, "ms", beside)
    like_ms = median(in_fresh_process(dashboard.env, _like_ms, list(typical_ms)[::10]).result)
    times, beside = like_ms / search_ms, f"LIKE {like_ms:.1f} ms"
    yield Figure("times less than LIKE", times, 10, "×", beside, more_is_better=True)
    shares = in_fresh_process(dashboard.env, _shares_of_like, SHORT).result
    beside = ", ".join(f"{word} {share:.2f}" for word, share in shares.items())
    dearest = max(shares.values())
    yield Figure("the dearest word of one or two letters, of LIKE", dearest, 1, "×", beside)


def _queries(service: httpx.Client, seed: str) -> list[str]:
    dice, queries = Random(seed), list[str]()
    for person in service.get("/v0/persons", params={"limit": 50}).json()["items"]:
        words = (person.get("name") or "nobody").split()
        domain, email, slug = (str(person.get(name)) for name in ("domain", "email", "slug"))
        part = slice(dice.randint(0, 3), dice.randint(6, 13))
        queries += [words[-1], " ".join(words[-2:]), domain, email, email[part], slug[part]]
    return [query for query in dict.fromkeys(queries) if len(query) > 2]


def _search(service: httpx.Client, query: str) -> tuple[float, int]:
    url = f"/v0/persons/search?{urlencode({'query': query})}"
    count = service.get(url).raise_for_status().json()["totalCount"]
    return _median_ms(lambda: service.get(url)), count


def _median_ms(act: Callable[[], object]) -> float:
    took_ms = []
    for _ in range(3):
        begun = time.perf_counter()
        act()
        took_ms.append((time.perf_counter() - begun) * 1000)
    return median(took_ms)


def _issue_key() -> str:
    from dashboard.embedded_api.sample import Sample

    return Sample.issue_key()


def _like_ms(queries: Iterable[str]) -> list[float]:
    from django.db import connection

    with connection.cursor() as cursor:
        return [_median_ms(partial(cursor.execute, *_like(query.split()))) for query in queries]


def _shares_of_like(queries: Iterable[str]) -> dict[str, float]:
    """Return each search's share of LIKE's time. Both run in turn, without HTTP."""
    from dashboard.embedded_api.models import Tenant
    from dashboard.embedded_api.routers.people import find_people

    tenant_id, shares = Tenant.objects.get().pk, {}
    for query in queries:
        pairs = [
            (_median_ms(partial(find_people, tenant_id, query)), *_like_ms([query]))
            for _ in range(3)
        ]
        ours_ms, like_ms = map(median, zip(*pairs, strict=True))
        shares[query] = ours_ms / like_ms
    return shares


def _like(words: list[str]) -> tuple[str, list[str]]:
    either = " OR ".join(f"{name} LIKE %s" for name in COLUMNS)
    condition = " AND ".join([f"({either})"] * len(words))
    sql = f"SELECT count(*) FROM embedded_api_person WHERE {condition}"
    return sql, [f"%{word}%" for word in words for _ in COLUMNS]
