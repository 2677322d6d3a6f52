"""Where something is not there, or nobody may go: which section that is in, and the way on.

And what a failure of our own means for a change that was asked for.
"""

from datetime import timedelta
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Outcome
from tests.support import wire
from tests.support.failing_database import losable_database
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.publishing_service import PublishingService, accepts
from tests.web.publishing.test_publish import ADDRESS, form_in, shown


def ways_on(html: str) -> list[str]:
    """Return where the links after the heading lead."""
    return [each.attributes["href"] for each in elements(html.partition("<h1>")[2], "a")]


@pytest.mark.parametrize(
    ("address", "status", "ways"),
    [
        ("/pages/page_1/", 404, ["/pages/", "/find/", "/"]),
        ("/activity/no-such-key/", 404, ["/activity/", "/find/", "/"]),
        ("/pages/new/", 403, ["/pages/", "/find/", "/"]),
        ("/nowhere/", 404, ["/find/", "/"]),
    ],
)
def test_what_is_not_there_or_not_allowed_leads_on_and_not_to_itself(
    address: str, status: int, ways: list[str], fake_service: FakeService, as_viewer: Client
) -> None:
    answer = as_viewer.get(address)
    assert answer.status_code == status
    assert ways_on(answer.content.decode()) == ways


def test_a_page_that_is_not_there_is_in_the_section_of_pages(
    fake_service: FakeService, as_viewer: Client
) -> None:
    html = as_viewer.get("/pages/page_1/").content.decode()
    current = [each for each in elements(html, "a") if each.attributes.get("aria-current")]
    assert [each.attributes["href"] for each in current] == ["/pages/"]
    crumbs = html.partition("<ol>")[2].partition("</ol>")[0]
    assert text(crumbs) == "Pages Not found"


def test_a_failed_call_can_be_tried_again(fake_service: FakeService, as_viewer: Client) -> None:
    fake_service.answers(500)
    answer = as_viewer.get("/pages/page_1/")
    assert ways_on(answer.content.decode())[0] == "/pages/page_1/"


@pytest.mark.parametrize(
    ("referer", "ways"),
    [
        ("http://testserver/people/?q=ada", ["http://testserver/people/?q=ada", "/"]),
        ("https://elsewhere.example/", ["/"]),
        ("", ["/"]),
    ],
)
def test_a_form_that_failed_leads_back_to_its_page_and_not_to_what_takes_no_get(
    referer: str, ways: list[str], as_viewer: Client
) -> None:
    refused = {"file": SimpleUploadedFile("any.txt", b"any")}
    answer = as_viewer.post("/accounts/theme/", refused, headers={"Referer": referer})
    assert answer.status_code == 400
    assert ways_on(answer.content.decode()) == ways


def lost_publish(
    browser: Client, fake_service: FakeService, **headers: str
) -> tuple[Any, dict[str, str]]:
    """Send a publish after which the database answers nothing; return the response and the form."""
    fake_service.answer = service = PublishingService()
    form = form_in(shown(browser))
    browser.raise_request_exception = False
    with losable_database() as database:

        def way(of: PublishingService, request: httpx.Request) -> httpx.Response:
            database.is_lost = True
            return accepts(of, request)

        service.way = way
        return browser.post(ADDRESS, form, headers=headers or None), form


def test_a_publish_whose_outcome_the_database_lost_is_said_to_be_sent_and_unknown(
    fake_service: FakeService, as_publisher: Client
) -> None:
    response, _ = lost_publish(as_publisher, fake_service)
    assert response.status_code == 500
    page = text(response.text)
    assert "Sent, outcome unknown" in page
    assert "“Publish version 2” (Brightwater Foods) was sent to the service, but" in page
    assert "nothing is sent twice" in page
    assert ways_on(response.text)[0] == f"/activity/{Operation.objects.get().operation_key}/"


def test_htmx_gets_the_same_in_a_message(fake_service: FakeService, as_publisher: Client) -> None:
    headers = {"HX-Request": "true", "HX-Target": "dialogs"}
    response, _ = lost_publish(as_publisher, fake_service, **headers)
    assert "Sent, outcome unknown." in text(response.text)
    assert "<html" not in response.text


def test_the_form_sent_again_finds_the_publish_that_the_database_lost(
    fake_service: FakeService, as_publisher: Client
) -> None:
    _, form = lost_publish(as_publisher, fake_service)
    page = text(as_publisher.post(ADDRESS, form, follow=True).text)
    assert "Sending version 2" in page
    Attempt.objects.update(sent_at=timezone.now() - timedelta(minutes=5))
    as_publisher.post(ADDRESS, form, follow=True)
    service = cast("PublishingService", fake_service.answer)
    assert service.keys == [form["operation_key"]]
    assert Operation.objects.get().outcome == Outcome.ACCEPTED


def test_what_never_reached_the_service_is_not_said_to_be_sent(
    fake_service: FakeService, as_publisher: Client
) -> None:
    fake_service.answer = service = PublishingService()
    form = form_in(shown(as_publisher))
    as_publisher.raise_request_exception = False
    with losable_database() as database:

        def way(of: PublishingService, request: httpx.Request) -> httpx.Response:
            database.is_lost = True
            raise httpx.ConnectError("refused", request=request)

        service.way = way
        response = as_publisher.post(ADDRESS, form)
    assert response.status_code == 500
    assert "was sent" not in text(response.text)


def test_a_page_that_was_created_while_the_database_was_lost_is_not_created_again(
    fake_service: FakeService, as_publisher: Client
) -> None:
    form = {"name": "Spring", "pageType": "outbound", "brandId": "b", "pageContext": "For all."}
    form |= {"operation_key": str(uuid4())}
    as_publisher.raise_request_exception = False
    with losable_database() as database:

        def answer(request: httpx.Request) -> httpx.Response:
            database.is_lost = True
            return httpx.Response(201, json=wire.page(pageId="page_new"))

        fake_service.answer = answer
        response = as_publisher.post("/pages/new/", form)
    assert "“Create page” (Spring) was sent to the service, but" in text(response.text)
    response = as_publisher.post("/pages/new/", form)
    assert response["Location"] == f"/activity/{form['operation_key']}/"
    assert [request.method for request in fake_service.sent] == ["POST"]


def test_a_form_that_failed_before_sending_shows_that(
    fake_service: FakeService, as_publisher: Client
) -> None:
    fake_service.answer = PublishingService()
    form = form_in(shown(as_publisher))
    as_publisher.raise_request_exception = False
    with losable_database() as database:
        database.is_lost = True
        response = as_publisher.post(ADDRESS, form)
    assert "Nothing was changed at the service." in text(response.text)
