"""Open tabs: what their polls cost, how a page fares beside them, and when they reconnect."""

import heapq
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import unescape
from statistics import median
from threading import Event

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure
from tests.benchmarks.measuring import Side, Site

TABS, PEOPLE, HOUR_S = 100, 5, 3_600
CHANGES = 30
"""Changes in that hour, each on all screens: one every two minutes."""
WAIT_S, IDLE_WAIT_S = 10, 30
"""Wait of a tab in use, and of one without input for five minutes: web/live/views.py."""
MAX_SHARE = 2.0
OPEN_TABS, MAX_OPEN_MS = 40, 300
RESTARTED_TABS, MAX_POLLS_A_SECOND = 200, 50
JITTER, AFTER_FAILURE_S = (0.8, 1.2), 10.0
"""Range of factors of a wait, and the extra wait after a failed poll: static/js/live.js."""
LIST = "/audiences/"
POLL = {"HX-Request": "true", "HX-Target": "live-poll", "X-Background": "1"}


def figures(bench: Bench) -> Iterator[Figure]:
    """Measure polls and the list that is loaded after them, on an otherwise idle server."""
    site = bench.ours
    poll = Side("poll", site, _poll_url(site), POLL)
    news = Side("with news", site, f"{_poll_url(site)}&counts=", POLL)
    rows = Side("rows", site, LIST, _refresh_of_one_row(site))
    bench.take_turns(poll, news, rows)
    beside = f"{poll}; {news}; {rows}; {CHANGES} changes"
    for name, in_use in (("one tab each in use, all in front", PEOPLE), ("all in use", TABS)):
        polls = HOUR_S * (in_use / WAIT_S + (TABS - in_use) / IDLE_WAIT_S)
        used_ms = polls * poll.cost_ms + CHANGES * TABS * (news.cost_ms + rows.cost_ms)
        share = used_ms / HOUR_S / 10
        goal = MAX_SHARE if in_use == PEOPLE else None
        what = f"{TABS} tabs of {PEOPLE} people for an hour, {name}: share of a core"
        yield Figure(what, share, goal, "%", beside)
    alone_ms = _opened(site)
    with _tabs(site):
        crowded_ms = _opened(site)
    what = f"a page with {OPEN_TABS} open tabs: median wait"
    yield Figure(what, crowded_ms, MAX_OPEN_MS, "ms", f"with none {alone_ms:.0f} ms")
    most = most_polls_after_restart(random.Random(bench.seed))
    what = f"{RESTARTED_TABS} tabs, a server away for 20 s, simulated: most polls in a second"
    yield Figure(what, most, MAX_POLLS_A_SECOND)


def most_polls_after_restart(chance: random.Random, *, away_s: float = 20.0) -> int:
    """Return how many polls arrive in the busiest second once the server is back."""
    polls: Counter[int] = Counter()
    due = [(chance.uniform(0, WAIT_S), tab) for tab in range(RESTARTED_TABS)]
    heapq.heapify(due)
    while due[0][0] < away_s + 120:
        now, tab = heapq.heappop(due)
        polls[int(now)] += 1
        extra_s = chance.uniform(0, AFTER_FAILURE_S) if now < away_s else 0.0
        heapq.heappush(due, (now + WAIT_S * chance.uniform(*JITTER) + extra_s, tab))
    return max(count for second, count in polls.items() if second >= away_s)


def _refresh_of_one_row(site: Site) -> dict[str, str]:
    """Return the headers with which an open list fetches itself when its first row has changed."""
    html = site.client.get(LIST).text
    rows = re.findall(r'<tr role="row" id="(audience-\d+)"', html)
    match = re.search(r'href="/pages/([^/"]+)/audiences/([^/"]+)/"', html)
    assert match
    topics = f"audience:{match[1]}:{match[2]}"
    return POLL | {"HX-Target": "results", "X-Rows": " ".join(rows), "X-Topics": topics}


def _poll_url(site: Site) -> str:
    match = re.search(r'id="live-poll"[^>]*data-url="([^"]*)"', site.client.get(LIST).text)
    assert match
    return f"{unescape(match[1])}&unread=0"


def _opened(site: Site) -> float:
    return median(Side("page", site, LIST).get() for _ in range(15))


@contextmanager
def _tabs(site: Site) -> Iterator[None]:
    """Let tabs poll as often as the server says."""
    closed, chance, url = Event(), random.Random(1), _poll_url(site)

    def poll() -> None:
        closed.wait(chance.uniform(0, WAIT_S))
        while not closed.is_set():
            response = site.client.get(url, headers=POLL)
            closed.wait(float(response.headers["X-Poll-Interval"]) * chance.uniform(*JITTER))

    with ThreadPoolExecutor(OPEN_TABS) as tabs:
        for _ in range(OPEN_TABS):
            tabs.submit(poll)
        time.sleep(WAIT_S / 2)
        try:
            yield
        finally:
            closed.set()
