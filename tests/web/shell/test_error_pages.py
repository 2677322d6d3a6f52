"""Error pages for missing objects and missing permissions: their section and next steps.

Also what our own failures mean for a requested change.
"""

from datetime import timedelta
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Outcome
from tests.support import wire
from tests.support.failing_database import database_cannot_be_written, losable_database
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_html, response_text, text
from tests.support.live_page import BACKGROUND
from tests.support.publish_dialog import ADDRESS, form_in
from tests.support.publishing_service import PublishingService, accepts
from tests.support.second_factors import confirm, sign_in


def ways_on(html: str) -> list[str]:
    """Return the URLs of the links after the heading."""
    return [element.attributes["href"] for element in elements(html.partition("<h1>")[2], "a")]


def test_a_session_that_cannot_be_saved_has_a_next_step(client: Client, vera: User) -> None:
    sign_in(client, "vera")
    confirm(client, vera)
    with database_cannot_be_written():
        response = client.get(reverse("mfa_activate_totp"))
    assert response.status_code == 400
    assert "Session not saved Reload the page." in response_text(response)


def test_an_open_page_says_that_its_object_was_removed(as_viewer: Client) -> None:
    headers = BACKGROUND | {"HX-Target": "subscription-head"}
    response = as_viewer.get("/webhooks/whs_1/", headers=headers)
    assert response.status_code == 404
    [banner] = elements(response.text, "div")
    assert banner.attributes["id"] == "removed"
    assert "This page is no longer updated." in response_text(response)
    [way] = elements(response.text, "a")
    assert way.attributes["href"] == "/"


@pytest.mark.parametrize(
    ("address", "status", "ways"),
    [
        ("/pages/page_1/", 404, ["/pages/", "/find/", "/"]),
        ("/activity/no-such-key/", 404, ["/activity/", "/find/", "/"]),
        ("/pages/new/", 403, ["/pages/", "/find/", "/"]),
        ("/nowhere/", 404, ["/find/", "/"]),
    ],
)
def test_missing_or_forbidden_pages_lead_on(
    address: str, status: int, ways: list[str], fake_service: FakeService, as_viewer: Client
) -> None:
    answer = as_viewer.get(address)
    assert answer.status_code == status
    assert ways_on(answer.text) == ways


def test_a_missing_page_belongs_to_the_pages_section(
    fake_service: FakeService, as_viewer: Client
) -> None:
    html = as_viewer.get("/pages/page_1/").text
    current = [element for element in elements(html, "a") if element.attributes.get("aria-current")]
    assert [item.attributes["href"] for item in current] == ["/pages/"]
    crumbs = html.partition("<ol>")[2].partition("</ol>")[0]
    assert text(crumbs) == "Pages Not found"


def test_a_failed_call_can_be_tried_again(fake_service: FakeService, as_viewer: Client) -> None:
    fake_service.answers(500)
    answer = as_viewer.get("/pages/page_1/")
    assert ways_on(answer.text)[0] == "/pages/page_1/"


@pytest.mark.parametrize(
    ("referer", "ways"),
    [
        ("http://testserver/people/?q=ada", ["http://testserver/people/?q=ada", "/"]),
        ("https://elsewhere.example/", ["/"]),
        ("", ["/"]),
    ],
)
def test_a_failed_form_returns_by_get(referer: str, ways: list[str], as_viewer: Client) -> None:
    refused = {"file": SimpleUploadedFile("any.txt", b"any")}
    answer = as_viewer.post("/accounts/theme/", refused, headers={"Referer": referer})
    assert answer.status_code == 400
    assert ways_on(answer.text) == ways


def lost_publish(
    browser: Client, fake_service: FakeService, **headers: str
) -> tuple[Any, dict[str, str]]:
    """Send a publish and lose the database during it; return the response and the form."""
    fake_service.answer = service = PublishingService()
    form = form_in(page_html(browser, ADDRESS))
    browser.raise_request_exception = False
    with losable_database() as database:

        def way(of: PublishingService, request: httpx.Request) -> httpx.Response:
            database.is_lost = True
            return accepts(of, request)

        service.way = way
        return browser.post(ADDRESS, form, headers=headers or None), form


def test_a_publish_lost_by_the_database_is_unknown(
    fake_service: FakeService, as_publisher: Client
) -> None:
    response, _ = lost_publish(as_publisher, fake_service)
    assert response.status_code == 500
    page = response_text(response)
    assert "Sent, outcome unknown" in page
    assert "“Publish version 2” (Brightwater Foods) was sent to the service, but" in page
    assert "nothing is sent twice" in page
    assert ways_on(response.text)[0] == f"/activity/{Operation.objects.get().operation_key}/"


def test_htmx_gets_the_same_in_a_message(fake_service: FakeService, as_publisher: Client) -> None:
    headers = {"HX-Request": "true", "HX-Target": "dialogs"}
    response, _ = lost_publish(as_publisher, fake_service, **headers)
    assert "Sent, outcome unknown." in response_text(response)
    assert "<html" not in response.text


def test_a_repeated_form_finds_the_lost_publish(
    fake_service: FakeService, as_publisher: Client
) -> None:
    _, form = lost_publish(as_publisher, fake_service)
    page = response_text(as_publisher.post(ADDRESS, form, follow=True))
    assert "Sending version 2" in page
    Attempt.objects.update(sent_at=timezone.now() - timedelta(minutes=5))
    as_publisher.post(ADDRESS, form, follow=True)
    service = cast("PublishingService", fake_service.answer)
    assert service.keys == [form["operation_key"]]
    assert Operation.objects.get().outcome == Outcome.ACCEPTED


def test_an_unsent_change_is_not_called_sent(
    fake_service: FakeService, as_publisher: Client
) -> None:
    fake_service.answer = service = PublishingService()
    form = form_in(page_html(as_publisher, ADDRESS))
    as_publisher.raise_request_exception = False
    with losable_database() as database:

        def way(of: PublishingService, request: httpx.Request) -> httpx.Response:
            database.is_lost = True
            raise httpx.ConnectError("refused", request=request)

        service.way = way
        response = as_publisher.post(ADDRESS, form)
    assert response.status_code == 500
    assert "was sent" not in response_text(response)


def test_a_page_created_without_the_database_is_not_repeated(
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
    assert "“Create page” (Spring) was sent to the service, but" in response_text(response)
    response = as_publisher.post("/pages/new/", form)
    assert response["Location"] == f"/activity/{form['operation_key']}/"
    assert [request.method for request in fake_service.sent] == ["POST"]


def test_a_form_that_failed_before_sending_shows_that(
    fake_service: FakeService, as_publisher: Client
) -> None:
    fake_service.answer = PublishingService()
    form = form_in(page_html(as_publisher, ADDRESS))
    as_publisher.raise_request_exception = False
    with losable_database() as database:
        database.is_lost = True
        response = as_publisher.post(ADDRESS, form)
    assert "Nothing was changed at the service." in response_text(response)


@pytest.mark.django_db
def test_a_form_from_another_site_is_not_shown_again() -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"note": "Call 555."})
    assert response.status_code == 403
    assert "Call 555." not in response.text
