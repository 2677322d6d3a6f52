"""Pages that wait: for three answers of a slow service, and for a conversation of 5 MB."""

import time
from collections.abc import Iterator
from statistics import median

import httpx

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure, Row
from tests.benchmarks.sides import Served, Side, take_turns
from tests.benchmarks.world import LISTED, LONG_TALK, MESSAGES, RESULTS_MB

DELAY_S = 0.1
OF_SLOWEST, OF_ONE_ANSWER = 1.35, 1.5
FIRST_BYTE_MS, TALK_KB = 400, 300
AUDIENCE = "/pages/rows-1/audiences/aud_0/"
THREE, ONE = f"{AUDIENCE}versions/ver_2/publish/", f"{AUDIENCE}versions/"
TALK = f"/pages/{LISTED}/audiences/{LONG_TALK}/conversation/"


def three_answers(bench: Bench) -> Iterator[Row]:
    """Measure the page of a publish, which asks three things, beside one that asks one."""
    served, service = bench.outside, bench.service
    three, one = Side("three answers", served, THREE), Side("one", served, ONE)
    service.delay_s = DELAY_S
    asked = {side.name: _answers(bench, side) for side in (three, one)}
    assert asked == {"three answers": 3, "one": 1}, asked
    answers_ms: list[float] = []
    with httpx.Client(base_url=bench.service_url) as client:
        for _ in range(bench.rounds):
            # The system tells processor time in hundredths of a second: of few requests too coarse.
            take_turns([three, one], rounds=1, requests=bench.requests)
            answers_ms += [_answer_ms(client) for _ in range(bench.requests // 2)]
    service.delay_s = 0.0
    what, slowest = f"page of three answers, {DELAY_S * 1000:.0f} ms each", DELAY_S * 1000
    # Of what the service takes, not of what a busy machine makes of it: that is told beside.
    beside = f"{three.said}; {one.said}; a bare call {median(answers_ms):.0f} ms"
    ratio = three.wait_ms / slowest
    yield Figure(f"{what}: median of the slowest answer", ratio, OF_SLOWEST, "×", beside)
    ratio, beside = three.cost_ms / one.cost_ms, f"{three.said}; {one.said}"
    yield Figure(f"{what}: processor time of one answer's", ratio, OF_ONE_ANSWER, "×", beside)


def conversation(bench: Bench) -> Iterator[Row]:
    """Measure a long conversation: how soon it begins, and how much comes."""
    whole = Side("the whole page", bench.ours, TALK)
    take_turns([whole], rounds=3, requests=5)
    taken = [_first_byte(bench.ours, TALK) for _ in range(bench.rounds * 2)]
    waits_ms, sizes, encodings = zip(*taken, strict=True)
    what = f"conversation, {MESSAGES} messages, {RESULTS_MB} MB of results"
    encoding = encodings[-1] or "not compressed"
    yield Figure(f"{what}: first byte", median(waits_ms), FIRST_BYTE_MS, "ms", whole.said)
    yield Figure(f"{what}: sent", sizes[-1] / 1000, TALK_KB, "KB", encoding)


def _answers(bench: Bench, side: Side) -> int:
    bench.service.asked.clear()
    side.ask()
    return len(bench.service.asked)


def _answer_ms(client: httpx.Client) -> float:
    """Return how long an answer of the service takes, in milliseconds."""
    begun = time.perf_counter()
    client.get("/v0/pages/rows-1/audiences").raise_for_status()
    return (time.perf_counter() - begun) * 1000


def _first_byte(served: Served, address: str) -> tuple[float, int, str]:
    begun = time.perf_counter()
    with served.browser.stream("GET", address) as answer:
        assert answer.status_code == 200, answer.status_code
        waited_ms = (time.perf_counter() - begun) * 1000
        sent = sum(len(piece) for piece in answer.iter_raw())
    return waited_ms, sent, answer.headers.get("content-encoding", "")
