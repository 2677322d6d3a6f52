"""Deviations from the spec are counted, listed for administrators, and break nothing."""

import json
from io import BytesIO
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from dashboard.ledger.deviations import (
    BROWSER,
    MAX_BROWSER_REPORTS,
    MAX_DEVIATIONS,
    ContractDeviation,
    record_browser_report,
    record_deviations,
)
from dashboard.ledger.models import DeviationRecord
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.seeding import seed_pages, seed_subscription

WATCH = "/service/watch/"
REPORT = "/service/policy-report/"


def rows() -> set[tuple[str, str, str, int]]:
    return set(DeviationRecord.objects.values_list("operation", "kind", "place", "count"))


def test_a_conforming_response_records_nothing_and_costs_no_query(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    with CaptureQueriesContext(connection) as queries:
        as_viewer.get("/people/")
    assert [each for each in queries if "ledger_difference" in each["sql"]] == []


@pytest.mark.parametrize(
    ("answer", "kind", "place"),
    [
        ({"hasMore": False, "totalCount": 1}, "Unreadable response", "items"),
        (wire.envelope({"name": 5}), "Unreadable item", "items.*.name"),
        (
            wire.envelope(wire.person(), wire.person(personId="b"), totalCount=1),
            "Contradictory counts",
            "totalCount",
        ),
        (
            wire.envelope(hasMore=True, nextCursor="b"),
            "Contradictory counts",
            "hasMore",
        ),
        (wire.envelope(wire.person(), wire.person()), "Duplicate ID", "items"),
    ],
)
def test_a_deviation_is_counted_by_kind_and_place(
    as_viewer: Client, fake_service: FakeService, answer: Any, kind: str, place: str
) -> None:
    fake_service.answers(200, json=answer)
    for _ in range(2):
        as_viewer.get("/people/")
    assert rows() == {("List people", kind, place, 2)}


def test_unknown_values_are_counted_in_any_field(
    as_viewer: Client, fake_service: FakeService
) -> None:
    latest = wire.version(status="rehearsing")

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(wire.audience(latestVersion=latest)))
        return httpx.Response(200, json=wire.page(status="simmering", pageType="hologram"))

    fake_service.answer = answer
    assert as_viewer.get("/pages/page_1/").status_code == 200
    assert rows() == {
        ("Get page", "Unknown name", "status", 1),
        ("Get page", "Unknown name", "pageType", 1),
        ("List audiences", "Unknown name", "items.*.latestVersion.status", 1),
    }


def test_an_unknown_event_is_counted(as_administrator: Client, fake_service: FakeService) -> None:
    seed_subscription()
    fake_service.answers(200, json=wire.subscription(events=["form.submitted", "moon.rose"]))
    as_administrator.get("/webhooks/whs_1/")
    assert [each.message for each in DeviationRecord.objects.all()] == ["“moon.rose”"]


def test_known_deviations_cost_one_query(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    found = [
        ContractDeviation("List people", "kind", f"place {n}", "message", "/v0/persons")
        for n in range(9)
    ]
    record_deviations(found)
    with django_assert_num_queries(1):
        record_deviations(found)


def test_the_number_of_deviations_is_limited(db: None) -> None:
    found = [
        ContractDeviation("o", "k", str(number), "s", "/") for number in range(MAX_DEVIATIONS + 20)
    ]
    record_deviations(found)
    record_deviations([ContractDeviation("o", "k", "another", "s", "/")])
    assert DeviationRecord.objects.count() == MAX_DEVIATIONS


def test_administrators_see_deviations_without_personal_data(
    as_administrator: Client, fake_service: FakeService
) -> None:
    fake_service.answers(
        200, json=wire.envelope(wire.person(), {"name": 5, "email": "eve@x.example"})
    )
    as_administrator.get("/people/?q=secret-name")
    shown = text(as_administrator.get(WATCH).text)
    assert "items.*.name" in shown
    for word in ("Lovelace", "eve@", "secret-name"):
        assert word not in shown


def test_counts_can_be_reset(as_administrator: Client, db: None) -> None:
    record_deviations([ContractDeviation("List people", "kind", "place", "message", "/v0/persons")])
    shown = text(as_administrator.post(WATCH, follow=True).text)
    assert "No deviations" in shown


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
    assert rows() == set()


def test_the_size_of_a_report_is_limited(as_viewer: Client) -> None:
    assert send_report(as_viewer, **{"effective-directive": "x" * 10_000}) == 413


def test_a_report_of_the_maximum_size_is_accepted(as_viewer: Client) -> None:
    about = {"effective-directive": "img-src", "blocked-uri": "data"}
    body = json.dumps({"csp-report": about}).ljust(10_000).encode()
    kind = "application/csp-report"
    assert as_viewer.post(REPORT, body, content_type=kind).status_code == 204
    assert as_viewer.post(REPORT, body + b" ", content_type=kind).status_code == 413


def test_a_report_without_a_length_is_read_up_to_the_limit(as_viewer: Client) -> None:
    body = BytesIO(b" " * 50_000)
    head = {"wsgi.input": body, "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    assert as_viewer.generic("POST", REPORT, **head).status_code == 413  # type: ignore[arg-type]
    assert body.tell() <= 10_001


def test_reports_of_one_user_are_limited(as_viewer: Client, as_publisher: Client) -> None:
    statuses = [send_report(as_viewer, **{"effective-directive": "img-src"}) for _ in range(61)]
    assert 429 in statuses  # A minute may end in between.
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


def reported_text(html: str) -> str:
    texts = [button.attributes.get("data-copy", "") for button in elements(html, "button")]
    [report] = [each for each in texts if each.startswith("Pressroom")]
    return report


def test_an_error_page_has_a_report_to_copy(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(500, json={"detail": "The kettle is empty"})
    answer = as_viewer.get("/people/?q=ada", headers={"X-Request-ID": "x"})
    report = reported_text(answer.text)
    assert f"Request: {answer['X-Request-ID']}" in report
    assert "Page: GET /people/" in report
    assert "Call: Search people, GET /v0/persons/search" in report
    assert "Status: 500\nError: The service returned 500: The kettle is empty." in report
    assert 'Body (truncated): {"detail":"The kettle is empty"}' in report
    assert "Pressroom 0." in report


def test_the_report_contains_no_key_and_no_query(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(401, json={"detail": "Unknown key fake-service-key"})
    report = reported_text(as_viewer.get("/people/?q=ada").text)
    assert "fake-service-key" not in report
    assert "q=ada" not in report


def test_a_missing_page_has_no_report(as_viewer: Client) -> None:
    assert "Error report" not in as_viewer.get("/nowhere/").text


def test_a_conforming_page_has_no_deviation(as_viewer: Client, fake_service: FakeService) -> None:
    seed_pages(wire.page())
    fake_service.answers(200, json=wire.envelope(wire.page()))
    as_viewer.get("/pages/")
    assert rows() == set()
