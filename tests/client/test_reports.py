"""What is reported about a call; the API key never is."""

import logging
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from dashboard.client import (
    APIError,
    AuthenticationError,
    CallReport,
    ConnectError,
    NotFoundError,
    PublishingClient,
    ResponseLostError,
)
from tests.support import wire
from tests.support.api_clients import (
    KEY,
    PAGE_REQUEST,
    READS,
    WRITES,
    client_answering,
    client_of,
    client_saying,
)

OPERATIONS = READS | WRITES


@pytest.fixture(autouse=True)
def _all_calls_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "dashboard.client")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_call_is_reported_under_the_spec_s_name(operation: str) -> None:
    reports: list[CallReport] = []
    client = client_answering(lambda request: httpx.Response(404), on_call=reports.append)
    with pytest.raises(NotFoundError) as caught:
        OPERATIONS[operation](client)
    (report,) = reports
    assert (report.operation, report.status_code, report.error) == (operation, 404, caught.value)


def test_a_report_has_the_outcome() -> None:
    reports: list[CallReport] = []
    before = datetime.now(UTC)
    client = client_answering(
        lambda request: httpx.Response(200, json=wire.page()), on_call=reports.append
    )
    client.pages.get("a/b")
    (report,) = reports
    assert (report.method, report.path, report.attempts) == ("GET", "/v0/pages/a%2Fb", 1)
    assert before <= report.started_at <= datetime.now(UTC)
    assert 0 < report.duration_ms <= (datetime.now(UTC) - before) / timedelta(milliseconds=1)


def test_no_search_is_in_a_report_or_log(caplog: pytest.LogCaptureFixture) -> None:
    reports: list[CallReport] = []
    client = client_answering(
        lambda request: httpx.Response(200, json=wire.envelope()), on_call=reports.append
    )
    client.people.search(query="lovelace")
    messages = [
        record.getMessage() for record in caplog.records if record.name == "dashboard.client"
    ]
    assert "lovelace" not in f"{reports} {messages}"


def test_a_listener_that_fails_costs_the_call_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(report: CallReport) -> None:
        raise LookupError("the listener's own trouble")

    client = client_answering(lambda request: httpx.Response(200, json=wire.page()), on_call=fail)
    assert client.pages.get("page_1").page_id == "page_1"
    assert "the listener's own trouble" in caplog.text


def test_a_listener_that_fails_does_not_hide_the_error() -> None:
    def fail(report: CallReport) -> None:
        raise LookupError

    client = client_answering(lambda request: httpx.Response(404), on_call=fail)
    with pytest.raises(NotFoundError):
        client.pages.get("page_1")


def test_a_fault_of_ours_is_no_failed_call() -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise LookupError("a bug in the transport")

    reports: list[CallReport] = []
    with pytest.raises(LookupError):
        client_answering(fail, on_call=reports.append).pages.get("page_1")
    assert reports == []


def test_a_call_is_logged_on_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(NotFoundError):
        client_saying(404).pages.get("a\r\nGET /forged\x1b[31m\u2028")
    (record,) = [record for record in caplog.records if record.name == "dashboard.client"]
    line = record.getMessage()
    assert line.startswith("GET /v0/pages/a%0D%0AGET%20%2Fforged%1B%5B31m%E2%80%A8 404 ")
    assert line.isprintable()


def logged(caplog: pytest.LogCaptureFixture) -> tuple[str, str, object, object]:
    """Return the level, message, status and error of the only log line about a call."""
    (record,) = [record for record in caplog.records if record.name == "dashboard.client"]
    facts = vars(record)["facts"]
    return record.levelname, record.getMessage(), facts["status"], facts.get("error")


def test_the_reason_for_a_missing_response_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with client_of("http://pressroom.invalid") as client, pytest.raises(ConnectError):
        client.pages.create(PAGE_REQUEST)
    level, words, status, error = logged(caplog)
    why = "Couldn’t reach the service: unknown host pressroom.invalid."
    assert (level, status, error) == ("WARNING", None, why)
    assert words.startswith("POST /v0/pages no response ")
    assert words.endswith(why)


def test_service_responses_are_logged_as_numbers(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(NotFoundError):
        client_saying(404).pages.get("page_1")
    level, _, status, error = logged(caplog)
    assert (level, status, error) == ("INFO", 404, None)


def fails(error: type[httpx.TransportError]) -> Callable[[httpx.Request], httpx.Response]:
    """Fail as httpx does: the exception has the request, and so the key, also in its text."""

    def answer(request: httpx.Request) -> httpx.Response:
        raise error(f"Illegal header value {request.headers['x-api-key']!r}", request=request)

    return answer


TROUBLES = [
    lambda request: httpx.Response(401, json={"detail": f"bad key {request.headers['x-api-key']}"}),
    lambda request: httpx.Response(500, text=f"{request.headers}{request.headers['x-api-key']}"),
    lambda request: httpx.Response(200, text=f"echo {request.headers['x-api-key']}"),
    lambda request: httpx.Response(200, json={"totalCount": request.headers["x-api-key"]}),
    fails(httpx.ConnectError),
    fails(httpx.ReadTimeout),
    fails(httpx.LocalProtocolError),
    fails(httpx.RemoteProtocolError),
]


def everything_about(error: BaseException) -> str:
    """Return an error's traceback as the most verbose error page would show it."""
    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    return f"{error!r} {error.args} {vars(error)} {''.join(report.format(chain=True))}"


@pytest.mark.parametrize("trouble", TROUBLES)
def test_no_error_traceback_report_or_log_has_the_key(
    trouble: Callable[[httpx.Request], httpx.Response], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    reports: list[CallReport] = []
    client = client_answering(trouble, on_call=reports.append)
    with pytest.raises(APIError) as caught:
        WRITES["Update webhook subscription"](client)
    assert KEY not in everything_about(caught.value) + repr(reports) + caplog.text
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize("base_url", ["http://service.example", "http://me:secret@service.example"])
def test_the_repr_shows_the_address_alone(base_url: str) -> None:
    client = client_answering(lambda request: httpx.Response(200), base_url=base_url)
    assert repr(client) == "PublishingClient(base_url='http://service.example')"


@pytest.mark.parametrize("key", ["line\nbreak", " padded ", "naïve", "nul\0"])
def test_an_unsendable_key_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ValueError, match="can't be sent in a header") as caught:
        PublishingClient(base_url="http://service.example", api_key=key)
    assert key not in str(caught.value)


def test_a_time_limit_is_shown_in_seconds() -> None:
    client = client_answering(fails(httpx.ReadTimeout), timeout_s=2.5)
    with pytest.raises(ResponseLostError, match=r"didn’t respond within 2\.5 s"):
        client.pages.get("page_1")


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_a_warning_in_the_log(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(AuthenticationError):
        client_saying(status).pages.get("page_1")
    level, words, logged_status, _ = logged(caplog)
    assert (level, logged_status) == ("WARNING", status)
    assert words.endswith("the service rejected our key")
