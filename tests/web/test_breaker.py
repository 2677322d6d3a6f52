"""A service that hangs does not take the dashboard down: a read is refused after a few silences."""

import re
import time
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from django.core.cache import cache
from django.test import Client

from dashboard.client import Call, NotReachedError
from dashboard.web.breaker import PAUSES_S, SILENCES, Line, is_hanging, silent_s
from dashboard.web.breakers import guarded
from tests import wire
from tests.far_end import FarEnd
from tests.web.html import text
from tests.web.publishing_service import PublishingService, fails
from tests.web.remembering import know_pages

READ = Call(operation="List people", method="GET", path="/v0/persons")


def test_a_line_breaks_at_the_third_silence_in_a_row() -> None:
    two = Line().after_silence(0).after_silence(0)
    assert (two.is_broken, two.rest_s(0)) == (False, 0)
    assert (two.after_silence(100).is_broken, two.after_silence(100).rest_s(100)) == (True, 5)


def test_the_pauses_grow_and_then_stay() -> None:
    line, pauses = Line(), []
    for _ in range(SILENCES + len(PAUSES_S)):
        line = line.after_silence(0)
        pauses.append(line.rest_s(0))
    assert pauses == [0, 0, 5, 10, 20, 40, 40]


def test_a_line_may_be_asked_when_its_pause_is_over() -> None:
    line = Line(silences=3, asked_again_at=100)
    assert (line.rest_s(98.5), line.rest_s(100), line.rest_s(900)) == (1.5, 0, 0)


@pytest.mark.parametrize(
    ("silent_s", "limit_s", "hangs"),
    [([6, 6, 6], 30, True), ([6, 6, 4], 30, False), ([2, 2, 2], 3, True), ([], 30, False)],
)
def test_calls_that_wait_long_are_silence_enough(
    silent_s: list[float], limit_s: float, hangs: bool
) -> None:
    assert is_hanging(silent_s, time_limit_s=limit_s) is hangs


def test_an_answer_to_any_call_ends_the_silence_for_all() -> None:
    assert silent_s([1, 2, 9], answered=7, now=10) == [3, 3, 1]


def test_the_fourth_read_of_a_silent_service_fails_at_once(
    as_viewer: Client, far_end: FarEnd
) -> None:
    far_end.fails(httpx.ReadTimeout)
    for _ in range(SILENCES):
        as_viewer.get("/people/")
    answer = as_viewer.get("/people/")
    assert len(far_end.sent) == SILENCES
    assert answer.status_code == 504
    said = text(answer.text)
    assert "The service was not asked: it gave no answer 3 times in a row." in said
    assert re.search(r"It is asked again in [1-5] s", said)


def test_what_is_remembered_is_shown_at_once(as_viewer: Client, far_end: FarEnd) -> None:
    know_pages(wire.page())
    far_end.fails(httpx.ReadTimeout)
    for _ in range(SILENCES + 1):
        answer = as_viewer.get("/pages/")
    assert len(far_end.sent) == SILENCES
    assert "You are looking at what was last known. The service was not asked" in text(answer.text)


def test_one_operation_that_hangs_leaves_the_others_alone(
    as_viewer: Client, far_end: FarEnd
) -> None:
    far_end.fails(httpx.ReadTimeout)
    for _ in range(SILENCES):
        as_viewer.get("/people/")
    far_end.answers(200, json=wire.envelope(wire.page()))
    assert "Fleet telematics" in as_viewer.get("/pages/").text


def test_pages_that_need_no_service_ask_nothing(as_viewer: Client, far_end: FarEnd) -> None:
    far_end.fails(httpx.ReadTimeout)
    for address in ("/", "/activity/", "/webhooks/", "/find/?q=a", "/accounts/password/"):
        assert as_viewer.get(address).status_code == 200, address
    assert far_end.sent == []


def test_the_overview_names_what_is_left_alone(as_viewer: Client, far_end: FarEnd) -> None:
    far_end.fails(httpx.ReadTimeout)
    for _ in range(SILENCES):
        as_viewer.get("/people/")
    shown = text(as_viewer.get("/").text)
    assert "Left alone for now, as nobody answered: List people. Asked again by itself." in shown


def test_an_answer_after_the_pause_ends_it(as_viewer: Client, far_end: FarEnd) -> None:
    cache.set("service:line:List-people", Line(silences=4, asked_again_at=time.time() - 1))
    far_end.answers(200, json=wire.envelope(wire.person()))
    assert "Ada Lovelace" in as_viewer.get("/people/").text
    assert "Left alone for now" not in as_viewer.get("/").text


def test_silence_after_the_pause_begins_a_longer_one(as_viewer: Client, far_end: FarEnd) -> None:
    cache.set("service:line:List-people", Line(silences=3, asked_again_at=time.time() - 1))
    far_end.fails(httpx.ReadTimeout)
    as_viewer.get("/people/")
    said = text(as_viewer.get("/people/").text)
    assert re.search(r"It is asked again in ([6-9]|10) s", said)
    assert len(far_end.sent) == 1


def test_one_call_looks_while_the_others_are_refused(settings: Any) -> None:
    cache.set("service:line:List-people", Line(silences=3, asked_again_at=time.time() - 1))
    with (
        guarded(READ),
        pytest.raises(NotReachedError, match="asked again in a moment"),
        guarded(READ),
    ):
        pytest.fail("let through")
    with guarded(READ):
        pass


def test_calls_that_hang_hold_back_those_that_come_after(settings: Any) -> None:
    settings.SERVICE_TIMEOUT_S = 0.000_002
    with ExitStack() as waiting:
        for _ in range(SILENCES):
            waiting.enter_context(guarded(READ))
        with pytest.raises(NotReachedError, match="others have been waiting"), guarded(READ):
            pytest.fail("let through")
    with guarded(READ):
        pass


def test_calls_that_wait_beside_others_that_are_answered_hold_back_nobody(settings: Any) -> None:
    settings.SERVICE_TIMEOUT_S = 2
    with ExitStack() as waiting:
        for _ in range(SILENCES):
            waiting.enter_context(guarded(READ))
        with guarded(READ):
            time.sleep(1.1)
        with guarded(READ):
            pass


@pytest.mark.parametrize("status", [404, 429, 500])
def test_a_service_that_answers_badly_is_asked_again(
    as_viewer: Client, far_end: FarEnd, status: int
) -> None:
    far_end.answers(status)
    for _ in range(SILENCES + 2):
        as_viewer.get("/people/")
    assert len(far_end.sent) == SILENCES + 2


def test_a_write_is_never_held_back(as_publisher: Client, far_end: FarEnd) -> None:
    service = far_end.answer = PublishingService(way=fails(httpx.ReadTimeout, carried_out=False))
    for number in range(SILENCES + 2):
        service.latest = wire.version(versionId=f"draft_{number}")
        address = f"/pages/page_{number}/audiences/aud_1/versions/draft_{number}/publish/"
        page = as_publisher.get(address).text
        key = page.split('name="operation_key" value="')[1].split('"')[0]
        as_publisher.post(address, {"operation_key": key})
    assert sum(request.method == "POST" for request in far_end.sent) == SILENCES + 2
