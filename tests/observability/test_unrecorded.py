"""Reads are shown even if the ledger can't record them; changes that can't be recorded aren't sent.

The database's errors occur outside any transaction, as in production.
"""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.ledger.models import AudienceRecord, PageRecord
from tests.conftest import logged_in
from tests.support import wire
from tests.support.failing_database import ledger_cannot_be_written
from tests.support.fake_service import FakeService
from tests.support.html import page_html, response_text, text
from tests.support.publish_dialog import ADDRESS, form_in
from tests.support.publishing_service import PublishingService
from tests.support.webhook_service import WebhookService

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

SAID = "Couldn’t record this data."


@pytest.fixture
def _full_disk(paula: User, vera: User) -> Iterator[None]:
    with ledger_cannot_be_written():
        yield


@pytest.mark.usefixtures("_full_disk")
@pytest.mark.parametrize("address", ["/pages/page_1/", "/pages/page_1/audiences/aud_1/", ADDRESS])
def test_an_unrecorded_page_is_shown_and_says_so(
    address: str,
    as_publisher: Client,
    publishing: PublishingService,
    caplog: pytest.LogCaptureFixture,
) -> None:
    response = as_publisher.get(address)
    assert response.status_code == 200
    assert "Brightwater Foods" in response_text(response)
    assert SAID in response_text(response)
    assert "The response could not be recorded" in caplog.text
    assert (PageRecord.objects.count(), AudienceRecord.objects.count()) == (0, 0)


def test_a_recorded_page_says_nothing_about_recording(
    as_publisher: Client, publishing: PublishingService
) -> None:
    assert SAID not in response_text(as_publisher.get("/pages/page_1/"))


@pytest.mark.usefixtures("_full_disk")
def test_the_list_of_pages_is_shown(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(200, json=wire.envelope(wire.page()))
    response = as_viewer.get("/pages/")
    assert response.status_code == 200
    assert SAID in response_text(response)


@pytest.mark.usefixtures("_full_disk")
def test_a_partial_updates_the_open_page(
    as_publisher: Client, publishing: PublishingService
) -> None:
    headers = {"HX-Request": "true", "HX-Target": "dialogs"}
    html = as_publisher.get(ADDRESS, headers=headers).text
    assert html.count('id="unrecorded" hx-swap-oob="true"') == 1
    assert SAID in text(html)


def test_a_subscription_is_shown_as_it_is_now(ada: User, webhooks: WebhookService) -> None:
    webhooks.held |= {"url": "https://now.example"}
    with ledger_cannot_be_written():
        response = logged_in(ada).get("/webhooks/whs_1/")
    assert response.status_code == 200
    assert "https://now.example" in response.text
    assert SAID in response_text(response)


def test_a_publish_that_cannot_be_recorded_is_not_sent(
    as_publisher: Client, publishing: PublishingService
) -> None:
    form = form_in(page_html(as_publisher, ADDRESS))
    as_publisher.raise_request_exception = False
    with ledger_cannot_be_written():
        response = as_publisher.post(ADDRESS, form)
    assert response.status_code == 500
    assert "Nothing was changed at the service." in response_text(response)
    assert publishing.keys == []
    as_publisher.post(ADDRESS, form)
    assert len(publishing.keys) == 1


def test_an_unrecordable_webhook_change_is_not_sent(ada: User, webhooks: WebhookService) -> None:
    browser = logged_in(ada)
    browser.raise_request_exception = False
    data = {"active": "off", "confirmed": "1", "operation_key": str(uuid4())}
    with ledger_cannot_be_written():
        response = browser.post("/webhooks/whs_1/active/", data)
    assert "Nothing was changed at the service." in response_text(response)
    assert webhooks.changes == []
