"""The report that an error page offers to copy."""

from django.test import Client

from tests.support.fake_service import FakeService
from tests.support.html import elements


def reported_text(html: str) -> str:
    texts = [button.attributes.get("data-copy", "") for button in elements(html, "button")]
    [report] = [text for text in texts if text.startswith("Pressroom")]
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
