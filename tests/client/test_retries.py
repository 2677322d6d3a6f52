"""Reads are retried where that may help, writes never, and nothing beyond the time limit."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.client import (
    APIError,
    CallReport,
    ConnectError,
    InvalidResponseError,
    RateLimitedError,
    ResponseLostError,
    ServerError,
    StatusError,
)
from dashboard.client.retries import read_retry_after_s, wait_before_retry_s
from tests.support import wire
from tests.support.api_clients import READS, WRITES, client_answering

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def fault(status_code: int, retry_after_s: float | None = None) -> StatusError:
    """Return the error of a response outside 2xx."""
    return StatusError(status_code=status_code, message="no", body="", retry_after_s=retry_after_s)


def wait_s(error: APIError, **differs: Any) -> float | None:
    """Return the wait after the first attempt of a read, with 30 s left and no jitter."""
    usual: dict[str, Any] = {"method": "GET", "attempt": 1, "remaining_s": 30.0, "jitter": 0.0}
    return wait_before_retry_s(error, **usual | differs)


@pytest.mark.parametrize(
    ("error", "is_tried_again"),
    [
        (ConnectError("refused", is_transient=True), True),
        (ConnectError("5 s"), False),
        (ResponseLostError("closed", is_transient=True), True),
        (ResponseLostError("30 s"), False),
        (InvalidResponseError("not JSON", path="", status_code=200), False),
        (fault(429, 1), True),
        (fault(429), False),
        (fault(503, 0), True),
        (fault(503), False),
        (fault(502), True),
        (fault(504), True),
        (fault(500), False),
        (fault(500, 1), False),
        (fault(404), False),
        (fault(409), False),
    ],
)
def test_what_is_worth_a_retry(*, error: APIError, is_tried_again: bool) -> None:
    assert (wait_s(error) is not None) == is_tried_again


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE"])
def test_no_write_is_ever_worth_one(method: str) -> None:
    errors = [fault(429, 0), fault(502), fault(503, 0), ConnectError("no", is_transient=True)]
    assert [wait_s(error, method=method) for error in errors] == [None] * 4


def test_the_wait_doubles_and_ends_with_the_third_attempt() -> None:
    waits = [wait_s(fault(502), attempt=attempt) for attempt in (1, 2, 3)]
    assert waits == [0.2, 0.4, None]


@given(st.floats(0, 1), st.sampled_from([1, 2]))
def test_jitter_takes_up_to_half_of_the_wait_away(jitter: float, attempt: int) -> None:
    whole = wait_s(fault(502), attempt=attempt)
    some = wait_s(fault(502), attempt=attempt, jitter=jitter)
    assert whole is not None
    assert some is not None
    assert whole / 2 <= some <= whole


@given(st.floats(0, 60), st.floats(0, 60), st.floats(0, 1))
def test_a_requested_wait_is_full_or_none(retry_after: float, left: float, jitter: float) -> None:
    wait = wait_s(fault(503, retry_after), remaining_s=left, jitter=jitter)
    assert wait is None or retry_after <= wait < left


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 1.5 ", 1.5),
        ("Sat, 21 Nov 2026 12:01:30 GMT", 90),
        ("Sat, 21 Nov 2026 12:01:30 -0000", 90),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0),
        ("-5", None),
        ("nan", None),
        ("1e3", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert read_retry_after_s(value, now=NOW) == seconds


@given(st.text() | st.text().map("Sat, 21 Nov 2026 12:01:30 {}".format))
def test_no_retry_after_can_raise(value: str) -> None:
    seconds = read_retry_after_s(value, now=NOW)
    assert seconds is None or seconds >= 0


class Service:
    """A service that gives these responses in turn, and repeats the last one."""

    def __init__(self, *answers: Callable[[], httpx.Response]) -> None:
        self.answers = list(answers)
        self.count = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.count += 1
        return (self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])()


def says(status_code: int, **kwargs: Any) -> Callable[[], httpx.Response]:
    """Respond with that status."""
    return lambda: httpx.Response(status_code, **kwargs)


def fails(error: type[httpx.TransportError]) -> Callable[[], httpx.Response]:
    """Fail before any response."""

    def fail() -> httpx.Response:
        raise error("failed")

    return fail


AT_ONCE = {"retry-after": "0"}
PASSING = [
    says(502),
    says(504),
    says(503, headers=AT_ONCE),
    says(429, headers=AT_ONCE),
    fails(httpx.ConnectError),
    fails(httpx.ReadError),
    fails(httpx.RemoteProtocolError),
]


@pytest.mark.parametrize("trouble", PASSING)
def test_a_read_gets_over_a_passing_trouble(trouble: Callable[[], httpx.Response]) -> None:
    service = Service(trouble, says(200, json=wire.envelope()))
    reports: list[CallReport] = []
    client_answering(service, on_call=reports.append).people.list()
    assert (service.count, reports[0].attempts, reports[0].error) == (2, 2, None)


@pytest.mark.parametrize("trouble", PASSING)
@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_sent_exactly_once(name: str, trouble: Callable[[], httpx.Response]) -> None:
    service = Service(trouble)
    with pytest.raises(APIError):
        WRITES[name](client_answering(service))
    assert service.count == 1


@pytest.mark.parametrize("name", READS)
def test_every_read_is_tried_three_times_at_most(name: str) -> None:
    service = Service(says(502))
    with pytest.raises(ServerError):
        READS[name](client_answering(service))
    assert service.count == 3


def test_a_timed_out_read_is_not_retried() -> None:
    service = Service(fails(httpx.ReadTimeout))
    with pytest.raises(ResponseLostError):
        client_answering(service).people.list()
    assert service.count == 1


def test_a_long_wait_is_left_to_the_user() -> None:
    service = Service(says(429, headers={"retry-after": "31"}))
    start = time.monotonic()
    with pytest.raises(RateLimitedError) as caught:
        client_answering(service, timeout_s=30.0).people.list()
    assert (service.count, caught.value.retry_after_s) == (1, 31)
    assert time.monotonic() - start < 15, "it waited"


def test_the_time_limit_ends_the_retries() -> None:
    service = Service(says(502))
    with pytest.raises(ServerError):
        client_answering(service, timeout_s=0.05).people.list()
    assert service.count == 1
