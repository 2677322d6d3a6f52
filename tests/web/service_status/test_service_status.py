"""The page of deviations, and browser reports."""

import json
import re
from datetime import timedelta
from io import BytesIO

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard.ledger.deviations import (
    BROWSER,
    MAX_BROWSER_REPORTS,
    MAX_DEVIATIONS,
    ContractDeviation,
    record_browser_report,
    record_deviations,
)
from dashboard.ledger.models import DeviationRecord, FeedEntry
from tests.support import wire
from tests.support.clock import corrected_by, stopped
from tests.support.fake_service import FakeService
from tests.support.feed import added_to_feed, facts, feed_writers
from tests.support.html import response_text

WATCH = "/service/watch/"
REPORT = "/service/policy-report/"


def test_administrators_see_deviations_without_personal_data(
    as_administrator: Client, fake_service: FakeService
) -> None:
    fake_service.answers(
        200, json=wire.envelope(wire.person(), {"name": 5, "email": "eve@x.example"})
    )
    as_administrator.get("/people/?q=secret-name")
    page = response_text(as_administrator.get(WATCH))
    assert "items.*.name" in page
    for word in ("Lovelace", "eve@", "secret-name"):
        assert word not in page


def test_the_page_names_the_time_zone_data(as_administrator: Client) -> None:
    assert re.search(r"Time zone data: \d{4}[a-z]\b", response_text(as_administrator.get(WATCH)))


def test_the_page_names_a_wrong_clock_of_this_server(as_administrator: Client) -> None:
    with corrected_by(timedelta(seconds=-40)):
        page = response_text(as_administrator.get(WATCH))
    assert "This server’s clock is 40 s ahead of the database’s." in page


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_the_page_names_a_transaction_that_delays_live_updates(as_administrator: Client) -> None:
    assert "Live updates" not in response_text(as_administrator.get(WATCH))
    with feed_writers(2) as (slow, other):
        slow.begin()
        slow.add("page_1")
        other.begin()
        other.add("page_2")
        other.end()
        FeedEntry.objects.update(at=timezone.now() - timedelta(minutes=3))
        page = response_text(as_administrator.get(WATCH))
    assert "Live updates are 3 min" in page


def test_a_new_deviation_is_in_the_change_feed_once(db: None) -> None:
    deviation = ContractDeviation("List people", "kind", "place", "message", "/v0/persons")
    with added_to_feed() as entries:
        record_deviations([deviation])
        record_deviations([deviation])
    assert facts(entries) == [("service",)]


def test_counts_can_be_reset(as_administrator: Client, db: None) -> None:
    record_deviations([ContractDeviation("List people", "kind", "place", "message", "/v0/persons")])
    page = response_text(as_administrator.post(WATCH, follow=True))
    assert "No deviations" in page


def send_report(client: Client, **about: str) -> int:
    body = json.dumps({"csp-report": about})
    return client.post(REPORT, body, content_type="application/csp-report").status_code


def test_a_violation_that_a_browser_reports_is_counted(as_viewer: Client) -> None:
    about = {
        "effective-directive": "img-src",
        "blocked-uri": "https://evil.example/beacon.png?who=ada",
        "document-uri": "http://testserver/people/?q=ada",
    }
    assert [send_report(as_viewer, **about) for _ in range(2)] == [204, 204]
    [row] = DeviationRecord.objects.all()
    assert (row.place, row.message, row.example, row.count) == (
        "img-src",
        "https://evil.example",
        "/people/",
        2,
    )


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"csp-report": 5}', b'{"csp-report": {"violated-directive": "<b>"}}'],
)
def test_an_invalid_report_is_rejected(as_viewer: Client, body: bytes) -> None:
    answer = as_viewer.post(REPORT, body, content_type="application/csp-report")
    assert answer.status_code == 400
    assert not DeviationRecord.objects.exists()


def test_the_size_of_a_report_is_limited(as_viewer: Client) -> None:
    assert send_report(as_viewer, **{"effective-directive": "x" * 10_000}) == 413


def test_a_report_of_the_maximum_size_is_accepted(as_viewer: Client) -> None:
    about = {"effective-directive": "img-src", "blocked-uri": "data"}
    body = json.dumps({"csp-report": about}).ljust(10_000).encode()
    kind = "application/csp-report"
    assert as_viewer.post(REPORT, body, content_type=kind).status_code == 204
    assert as_viewer.post(REPORT, body + b" ", content_type=kind).status_code == 413


def test_a_report_without_length_is_limited(as_viewer: Client) -> None:
    body = BytesIO(b" " * 50_000)
    head = {"wsgi.input": body, "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    assert as_viewer.generic("POST", REPORT, **head).status_code == 413  # type: ignore[arg-type]
    assert body.tell() <= 10_001


def test_a_users_reports_are_limited(
    as_viewer: Client, as_publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)  # Reports are counted per minute.
    statuses = [send_report(as_viewer, **{"effective-directive": "img-src"}) for _ in range(61)]
    assert statuses[-1] == 429
    assert send_report(as_publisher, **{"effective-directive": "img-src"}) == 204


def test_made_up_reports_displace_no_deviation_of_the_service(as_viewer: Client) -> None:
    for number in range(MAX_BROWSER_REPORTS + 20):
        record_browser_report(ContractDeviation(BROWSER, "k", f"x{number}", "s", "/"))
    record_deviations(
        [ContractDeviation("o", "k", str(number), "s", "/") for number in range(MAX_DEVIATIONS)]
    )
    rows = DeviationRecord.objects.filter(operation=BROWSER)
    assert rows.count() == MAX_BROWSER_REPORTS
    assert DeviationRecord.objects.exclude(operation=BROWSER).count() == MAX_DEVIATIONS


def test_every_page_has_a_report_uri(client: Client) -> None:
    assert f"report-uri {REPORT}" in client.get("/accounts/login/")["Content-Security-Policy"]
