"""Every request has an id: in its log line, its response, at the service, on an error page."""

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client

from dashboard.observability.log import JsonFormatter, TextFormatter
from dashboard.observability.request_context import CallRecord, RequestNotes, request_context
from dashboard.service.circuit_breaker import FAILURE_THRESHOLD
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text
from tests.support.publishing_service import PublishingService
from tests.support.written_log import Log, written_log

PUBLISH = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"


@pytest.fixture
def log() -> Iterator[Log]:
    with written_log() as log:
        yield log


def test_a_request_is_one_log_line(as_viewer: Client, fake_service: FakeService, log: Log) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    answer = as_viewer.get("/people/?q=lovelace")
    (line,) = log.lines("dashboard.requests")
    assert line["request_id"] == answer.headers["X-Request-ID"]
    assert (line["person"], line["method"], line["path"]) == ("vera", "GET", "/people/")
    assert (line["view"], line["status"], line["level"]) == ("people-list", 200, "INFO")
    assert line["upstream_calls"] == len(fake_service.sent) == 1
    assert 0 < line["upstream_ms"] <= line["duration_ms"]


def test_a_failed_request_is_logged_without_its_query(log: Log) -> None:
    gunicorn = logging.getLogger("gunicorn.error")
    gunicorn.error("Error handling request %s %s", "GET", "/people/?q=lovelace")
    (line,) = log.lines("gunicorn.error")
    assert line["message"] == "Error handling request GET /people/"


def test_the_id_goes_to_the_service_with_every_call(
    as_viewer: Client, fake_service: FakeService, log: Log
) -> None:
    fake_service.answers(200, json=wire.page())
    first, second = (as_viewer.get("/pages/page_1/").headers["X-Request-ID"] for _ in range(2))
    assert first != second
    assert {request.headers["X-Request-ID"] for request in fake_service.sent} == {first, second}
    assert {line["request_id"] for line in log.lines("dashboard.client")} == {first, second}


def test_calls_of_an_export_belong_to_its_request(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    answer = as_viewer.get("/people/export.csv")
    assert answer.getvalue()
    assert {request.headers.get("X-Request-ID") for request in fake_service.sent} == {
        answer.headers["X-Request-ID"]
    }


def test_an_id_is_taken_only_from_a_trusted_header(client: Client, settings: Any) -> None:
    sent = {"X-Request-ID": "from-outside"}
    assert client.get("/health/live", headers=sent).headers["X-Request-ID"] != "from-outside"
    settings.REQUEST_ID_HEADER = "X-Request-ID"
    assert client.get("/health/live", headers=sent).headers["X-Request-ID"] == "from-outside"


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "<script>", "a,b"])
def test_an_unprintable_request_id_is_replaced(client: Client, settings: Any, sent: str) -> None:
    settings.REQUEST_ID_HEADER = "X-Request-ID"
    answer = client.get("/health/live", headers={"X-Request-ID": sent})
    assert len(answer.headers["X-Request-ID"]) == 16


def test_an_error_page_shows_the_id(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(404)
    page = as_viewer.get("/pages/page_1/")
    assert page.headers["X-Request-ID"] in response_text(page)
    part = as_viewer.get("/nowhere/", headers={"HX-Request": "true"})
    assert f"Request {part.headers['X-Request-ID']}" in response_text(part)


def test_the_error_page_works_without_a_database(vera: User) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(vera)

    def gone(*_: Any) -> None:
        raise OperationalError("the connection was closed")

    with connection.execute_wrapper(gone):
        page = client.get("/activity/")
    assert page.status_code == 500
    assert "Something went wrong on our end" in response_text(page)
    assert page.headers["X-Request-ID"] in response_text(page)


def key_in(html: str) -> str:
    values = {
        element.attributes.get("name"): element.attributes for element in elements(html, "input")
    }
    return values["operation_key"]["value"]


def test_a_publish_is_logged_with_its_operation_key(
    as_publisher: Client, fake_service: FakeService, log: Log
) -> None:
    fake_service.answer = service = PublishingService()
    key = key_in(as_publisher.get(PUBLISH).text)
    as_publisher.post(PUBLISH, {"operation_key": key})
    (attempt,) = log.lines("dashboard.operations")
    (request,) = [line for line in log.lines("dashboard.requests") if line["method"] == "POST"]
    assert service.keys == [key]
    assert (attempt["kind"], attempt["outcome"], attempt["person"]) == (
        "publish_version",
        "accepted",
        "paula",
    )
    assert attempt["operation_key"] == request["operation_key"] == key


@pytest.mark.parametrize("address", ["/people/?q=lovelace", "/find/?q=lovelace"])
@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, json=wire.envelope(wire.person(name="Ada Lovelace"))),
        httpx.Response(200, json={"items": [{"name": {"Lovelace": 1}}]}),
        httpx.Response(422, json={"detail": "Lovelace is not a word; fake-service-key"}),
        httpx.Response(500, text="Lovelace fake-service-key"),
    ],
)
def test_no_person_and_no_key_is_in_the_log(
    as_viewer: Client, fake_service: FakeService, log: Log, address: str, answer: httpx.Response
) -> None:
    fake_service.answer = lambda request: answer
    as_viewer.get(address)
    assert log.lines("dashboard.requests")
    assert "lovelace" not in log.getvalue().lower()
    assert "fake-service-key" not in log.getvalue()


@pytest.mark.parametrize("status", [404, 500])
def test_djangos_own_log_line_names_its_request(
    as_viewer: Client, fake_service: FakeService, log: Log, status: int
) -> None:
    fake_service.answers(status)
    answer = as_viewer.get("/pages/page_1/")
    (line,) = log.lines("django.request")
    assert (line["request_id"], line["person"]) == (answer.headers["X-Request-ID"], "vera")


def test_a_rejected_call_is_reported(
    as_viewer: Client, fake_service: FakeService, log: Log
) -> None:
    fake_service.fails(httpx.ReadTimeout)
    for _ in range(FAILURE_THRESHOLD):
        as_viewer.get("/people/")
    assert log.lines("dashboard.breakers") == []
    as_viewer.get("/people/")
    (line,) = log.lines("dashboard.breakers")
    assert (line["operation"], line["level"], line["person"]) == ("List people", "WARNING", "vera")


def log_record(*, message: str = "It failed", error: Exception | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("dashboard.web", logging.ERROR, "f.py", 1, message, (), info)


def caught(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as caught:
        return caught


def test_an_exception_is_logged_without_quoted_data() -> None:
    error = caught(ValueError("no such person: ada@kestrel.example"), OSError("connection refused"))
    line = json.loads(JsonFormatter().format(log_record(error=error)))
    kinds = [(exception["kind"], exception.get("message")) for exception in line["exceptions"]]
    assert kinds == [("ValueError", None), ("OSError", "connection refused")]
    assert line["exceptions"][0]["traceback"][0].endswith(" caught")
    for formatter in (JsonFormatter(), TextFormatter()):
        assert "ada@" not in formatter.format(log_record(error=error))


def test_a_logged_value_cannot_start_a_new_line() -> None:
    forged = log_record(message="Not found\n2026-01-01 INFO root: all is well\u2028\x1b[2J")
    for formatter in (JsonFormatter(), TextFormatter()):
        (line,) = formatter.format(forged).splitlines()
        assert "\x1b" not in line


def test_a_log_line_names_request_person_and_operation() -> None:
    with request_context(RequestNotes("ab12", person="vera", operation_key="pr-1")):
        line = TextFormatter().format(log_record())
    assert line.endswith(" ERROR dashboard.web [ab12 vera pr-1]: It failed")


def test_probes_and_polls_are_logged_for_debugging_only(
    as_viewer: Client, log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    for url in ("/health/live", "/live/"):
        as_viewer.get(url)
    assert log.lines("dashboard.requests") == []
    caplog.set_level(logging.DEBUG, "dashboard.requests")
    as_viewer.get("/live/")
    assert [line["view"] for line in log.lines("dashboard.requests")] == ["live"]


def test_concurrent_calls_count_once() -> None:
    notes, start = RequestNotes("id"), datetime(2026, 3, 1, tzinfo=UTC)
    for begins_ms, took_ms in ((0, 100), (20, 100), (30, 40), (500, 10)):
        began = start + timedelta(milliseconds=begins_ms)
        notes.calls.append(CallRecord(began, took_ms, "answering"))
    assert notes.upstream_ms == pytest.approx(130)
