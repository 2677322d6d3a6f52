"""A hanging service doesn't block the dashboard: after a few failures, reads fail at once."""

import re
import time
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from django.core.cache import cache
from django.test import Client

from dashboard.client import Call, ConnectError
from dashboard.service.circuit_breaker import (
    FAILURE_THRESHOLD,
    RETRY_DELAYS_S,
    CircuitState,
    guard_call,
    is_hanging,
)
from dashboard.service.health import health_now
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.html import response_text
from tests.support.publishing_service import PublishingService, fails
from tests.support.seeding import seed_pages

READ = Call(operation="List people", method="GET", path="/v0/persons")


def read_people(client: Client, *, times: int = FAILURE_THRESHOLD) -> None:
    for _ in range(times):
        client.get("/people/")


@pytest.fixture
def silent_service(fake_service: FakeService) -> FakeService:
    fake_service.fails(httpx.ReadTimeout)
    return fake_service


def test_the_third_silence_in_a_row_opens_the_circuit() -> None:
    two = CircuitState().after_failure(0).after_failure(0)
    assert (two.is_open, two.remaining_s(0)) == (False, 0)
    assert (two.after_failure(100).is_open, two.after_failure(100).remaining_s(100)) == (True, 5)


def test_the_pauses_grow_and_then_stay() -> None:
    line, pauses = CircuitState(), []
    for _ in range(FAILURE_THRESHOLD + len(RETRY_DELAYS_S)):
        line = line.after_failure(0)
        pauses.append(line.remaining_s(0))
    assert pauses == [0, 0, 5, 10, 20, 40, 40]


def test_a_circuit_is_probed_after_its_pause() -> None:
    line = CircuitState(failures=3, retry_at=100)
    assert (line.remaining_s(98.5), line.remaining_s(100), line.remaining_s(900)) == (1.5, 0, 0)


@pytest.mark.parametrize(
    ("waiting_s", "limit_s", "hangs"),
    [([6, 6, 6], 30, True), ([6, 6, 4], 30, False), ([2, 2, 2], 3, True), ([], 30, False)],
)
def test_calls_that_wait_long_are_silence_enough(
    waiting_s: list[float], limit_s: float, hangs: bool
) -> None:
    began = [-seconds for seconds in waiting_s]
    hanging = is_hanging(began, last_response_at=-100, now=0, time_limit_s=limit_s)
    assert hanging is hangs


@pytest.mark.parametrize(("last_response_at", "hangs"), [(3, True), (7, False)])
def test_any_response_ends_the_silence(last_response_at: float, hangs: bool) -> None:
    calls = {"last_response_at": last_response_at, "now": 10, "time_limit_s": 30}
    assert is_hanging([1, 2, 4], **calls) is hangs


def test_the_fourth_read_of_a_silent_service_fails_fast(
    as_viewer: Client, silent_service: FakeService
) -> None:
    read_people(as_viewer)
    answer = as_viewer.get("/people/")
    assert len(silent_service.sent) == FAILURE_THRESHOLD
    assert answer.status_code == 504
    page_text = response_text(answer)
    assert "Request not sent: the service didn’t respond 3 times in a row." in page_text
    assert re.search(r"Next attempt in [1-5] s", page_text)


def test_the_last_known_state_is_shown_at_once(
    as_viewer: Client, silent_service: FakeService
) -> None:
    seed_pages(wire.page())
    for _ in range(FAILURE_THRESHOLD + 1):
        answer = as_viewer.get("/pages/")
    assert len(silent_service.sent) == FAILURE_THRESHOLD
    assert (
        "Showing the last known state. The service didn’t respond within 30 s. Request not sent"
        in response_text(answer)
    )


def test_one_operation_that_hangs_leaves_the_others_alone(
    as_viewer: Client, silent_service: FakeService
) -> None:
    read_people(as_viewer)
    silent_service.answers(200, json=wire.envelope(wire.page()))
    assert "Fleet telematics" in as_viewer.get("/pages/").text


def test_pages_that_need_no_service_ask_nothing(
    as_viewer: Client, silent_service: FakeService
) -> None:
    for address in ("/", "/activity/", "/webhooks/", "/find/?q=a", "/accounts/password/"):
        assert as_viewer.get(address).status_code == 200, address
    assert silent_service.sent == []


def test_the_overview_names_what_is_left_alone(
    as_viewer: Client, silent_service: FakeService
) -> None:
    read_people(as_viewer)
    page = response_text(as_viewer.get("/"))
    assert "Paused until the service responds: List people. Retrying automatically." in page


def test_an_answer_after_the_pause_ends_it(as_viewer: Client, fake_service: FakeService) -> None:
    cache.set("service:line:2:List-people", (4, time.time() - 1))
    fake_service.answers(200, json=wire.envelope(wire.person()))
    assert "Ada Lovelace" in as_viewer.get("/people/").text
    assert "Paused until" not in as_viewer.get("/").text


def test_silence_after_the_pause_begins_a_longer_one(
    as_viewer: Client, fake_service: FakeService
) -> None:
    cache.set("service:line:2:List-people", (3, time.time() - 1))
    fake_service.fails(httpx.ReadTimeout)
    as_viewer.get("/people/")
    page_text = response_text(as_viewer.get("/people/"))
    assert re.search(r"Next attempt in ([6-9]|10) s", page_text)
    assert len(fake_service.sent) == 1


def test_one_call_probes_while_the_others_are_rejected(settings: Any) -> None:
    cache.set("service:line:2:List-people", (3, time.time() - 1))
    with (
        guard_call(READ),
        pytest.raises(ConnectError, match="Next attempt in a moment"),
        guard_call(READ),
    ):
        pytest.fail("let through")
    with guard_call(READ):
        pass


def test_hanging_calls_reject_later_ones(settings: Any) -> None:
    settings.SERVICE_TIMEOUT_S = 0.000_002
    with ExitStack() as waiting:
        for _ in range(FAILURE_THRESHOLD):
            waiting.enter_context(guard_call(READ))
        with pytest.raises(ConnectError, match="others are still waiting"), guard_call(READ):
            pytest.fail("let through")
    with guard_call(READ):
        pass


def test_slow_calls_do_not_open_the_circuit(settings: Any, clock: Clock) -> None:
    settings.SERVICE_TIMEOUT_S = 2
    with ExitStack() as waiting:
        for _ in range(FAILURE_THRESHOLD):
            waiting.enter_context(guard_call(READ))
        with guard_call(READ):
            clock.advance(1.1)
        with guard_call(READ):
            pass


@pytest.mark.parametrize("status", [404, 429, 500])
def test_a_service_that_answers_badly_is_asked_again(
    as_viewer: Client, fake_service: FakeService, status: int
) -> None:
    fake_service.answers(status)
    read_people(as_viewer, times=FAILURE_THRESHOLD + 2)
    assert len(fake_service.sent) == FAILURE_THRESHOLD + 2


def test_a_write_is_never_held_back(as_publisher: Client, fake_service: FakeService) -> None:
    service = fake_service.answer = PublishingService(
        way=fails(httpx.ReadTimeout, carried_out=False)
    )
    for number in range(FAILURE_THRESHOLD + 2):
        service.latest = wire.version(versionId=f"draft_{number}")
        address = f"/pages/page_{number}/audiences/aud_1/versions/draft_{number}/publish/"
        page = as_publisher.get(address).text
        key = page.split('name="operation_key" value="')[1].split('"')[0]
        as_publisher.post(address, {"operation_key": key})
    assert sum(request.method == "POST" for request in fake_service.sent) == FAILURE_THRESHOLD + 2


def test_an_invalid_address_is_no_silence_of_the_service(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.fails(httpx.UnsupportedProtocol)
    read_people(as_viewer, times=FAILURE_THRESHOLD + 1)
    assert len(fake_service.sent) == FAILURE_THRESHOLD + 1
    assert health_now().is_responding is None
