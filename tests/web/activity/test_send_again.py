"""A retry reads the target first, and doesn't undo later changes."""

import re
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from tests.support import webhook_service, wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.publish_dialog import form_in
from tests.support.publishing_service import PublishingService, accepts, answers, fails
from tests.support.seeding import seed_subscription
from tests.support.webhook_service import WebhookService, cut

DIALOG = {"HX-Request": "true", "HX-Target": "dialogs"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(fake_service: FakeService) -> PublishingService:
    fake_service.answer = service = PublishingService()
    return service


def publish(client: Client, version_id: str, **fields: str) -> None:
    """Open the form of a version and send it."""
    address = f"/pages/page_1/audiences/aud_1/versions/{version_id}/publish/"
    match = re.search(r'name="operation_key" value="([^"]+)"', client.get(address).text)
    assert match
    client.post(address, {"operation_key": match[1]} | fields)


# A publish


@pytest.fixture
def lost(as_publisher: Client, service: PublishingService) -> str:
    """The key of an interrupted publish of version 2; version 3 went live since."""
    service.way = fails(httpx.ReadError, carried_out=False)
    publish(as_publisher, "ver_2")
    service.way = accepts
    service.latest = wire.version(versionId="ver_3", versionNumber=3)
    publish(as_publisher, "ver_3", number="3")
    service.moves_on("published")
    return Operation.objects.get(version_id="ver_2").operation_key


def test_a_retry_over_a_newer_version_needs_its_number(
    as_publisher: Client, service: PublishingService, lost: str
) -> None:
    answer = as_publisher.post(f"/activity/{lost}/send-again/")
    page = response_text(answer)
    assert answer.status_code == 422
    assert lost not in service.keys
    assert "Not sent again. Review the warnings first." in page
    assert "Version 3 is newer." in page
    assert "Type 2 to retry" in page
    assert "Live now Version 3" in page


def test_the_typed_number_retries_with_the_same_key(
    as_publisher: Client, service: PublishingService, lost: str
) -> None:
    again = f"/activity/{lost}/send-again/"
    page = as_publisher.post(again).text
    assert again in [form.attributes.get("action") for form in elements(page, "form")]
    form = form_in(page) | {"from": "publish"}
    wrong = as_publisher.post(again, form | {"number": "3"})
    assert (wrong.status_code, lost in service.keys) == (422, False)
    right = as_publisher.post(again, form | {"number": "2"})
    assert right.headers["Location"].endswith(f"/publish/progress/?operation={lost}")
    assert service.keys[-1] == lost


def test_htmx_gets_the_confirmation_in_the_dialog(as_publisher: Client, lost: str) -> None:
    answer = as_publisher.post(f"/activity/{lost}/send-again/", {"from": "publish"}, headers=DIALOG)
    page = answer.text
    assert page.strip().startswith("<dialog")
    assert '<input type="hidden" name="from" value="publish">' in page


def test_a_retry_sends_nothing_if_the_publish_proves_done(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = answers(500)
    publish(as_publisher, "ver_2")
    service.moves_on("published")
    key = Operation.objects.get().operation_key
    as_publisher.post(f"/activity/{key}/send-again/")
    assert Operation.objects.get().outcome == Outcome.ACCEPTED
    assert service.keys == [key]


def test_nothing_is_retried_while_nothing_can_be_read(
    as_publisher: Client, fake_service: FakeService, lost: str
) -> None:
    fake_service.fails(httpx.ConnectError)
    expected = len(fake_service.sent)
    page = as_publisher.post(f"/activity/{lost}/send-again/").text
    assert "Couldn’t reach the service." in text(page)
    assert {request.method for request in fake_service.sent[expected:]} == {"GET"}
    assert Operation.objects.get(version_id="ver_2").outcome == Outcome.UNKNOWN


# A change of a webhook


@pytest.fixture
def webhooks(fake_service: FakeService) -> WebhookService:
    fake_service.answer = service = WebhookService()
    seed_subscription()
    return service


def set_active(client: Client, active: str) -> None:
    """Press the switch and confirm."""
    data = {"active": active, "confirmed": "1", "operation_key": str(uuid4())}
    client.post("/webhooks/whs_1/active/", data)


@pytest.fixture
def cut_off(as_administrator: Client, webhooks: WebhookService) -> str:
    """The key of an interrupted update that should have turned the webhook off."""
    webhooks.way = cut(carried_out=False)
    set_active(as_administrator, "off")
    webhooks.way = webhook_service.accepts
    webhooks.changes.clear()
    return Operation.objects.get().operation_key


def resend(client: Client, key: str) -> str:
    return response_text(client.post(f"/activity/{key}/send-again/", follow=True))


def test_an_unchanged_webhook_gets_the_update_again(
    as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    assert "Update webhook: Accepted." in resend(as_administrator, cut_off)
    assert webhooks.changes == [{"active": False}]


def test_an_update_changed_back_from_here_is_not_undone(
    as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    set_active(as_administrator, "off")
    set_active(as_administrator, "on")
    page = resend(as_administrator, cut_off)
    assert "not retried: active is now true; a later update changed it too" in page
    assert webhooks.held["active"] is True


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ({"url": "https://old.example"}, 'it was "https://old.example"'),
        (None, "its earlier value is unknown"),
    ],
)
def test_a_later_change_at_the_service_is_not_overwritten(
    before: Any, message: str, as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    body = {"url": "https://new.example"}
    Operation.objects.update(body_sent=body, before=before)
    page = resend(as_administrator, cut_off)
    assert f'url is now "https://hooks.example/in"; {message}' in page
    assert webhooks.changes == []


def test_an_update_changed_back_elsewhere_is_not_undone(
    as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    webhooks.held |= {"updatedAt": "2026-03-12T15:00:00Z"}
    page = resend(as_administrator, cut_off)
    assert "not retried: its fields are unchanged, but updatedAt isn’t" in page
    assert "it was changed and changed back" in page
    assert webhooks.changes == []


def test_an_ever_changing_updated_at_proves_nothing(
    as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    def moves(of: WebhookService, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=of.held | {"updatedAt": f"2026-03-12T15:0{of.reads}:00Z"})

    webhooks.reading = moves
    assert "Update webhook: Accepted." in resend(as_administrator, cut_off)


def test_an_inconsistent_updated_at_prevents_the_retry(
    as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    def once(of: WebhookService, request: httpx.Request) -> httpx.Response:
        of.reading = webhook_service.away
        return httpx.Response(200, json=of.held | {"updatedAt": "2026-03-12T15:00:00Z"})

    webhooks.reading = once
    assert "not retried: a second read failed." in resend(as_administrator, cut_off)
    assert webhooks.changes == []


def test_an_update_that_proves_done_is_not_sent_again(
    as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    webhooks.held |= {"active": False}
    assert "Update webhook: Accepted." in resend(as_administrator, cut_off)
    assert webhooks.changes == []


def test_a_change_of_another_field_allows_the_retry(
    as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    webhooks.held |= {"url": "https://new.example"}
    assert "Update webhook: Accepted." in resend(as_administrator, cut_off)
    assert webhooks.held["url"] == "https://new.example"


def test_a_webhook_that_cannot_be_read_is_not_changed(
    as_administrator: Client, webhooks: WebhookService, cut_off: str
) -> None:
    webhooks.reading = webhook_service.away
    page = resend(as_administrator, cut_off)
    assert "not retried, as the webhook couldn’t be read." in page
    assert webhooks.changes == []


def test_a_webhook_retry_links_to_the_form(as_administrator: Client, cut_off: str) -> None:
    page = as_administrator.get(f"/activity/{cut_off}/").text
    assert "same key" not in text(page)
    assert "Otherwise, edit the webhook." in text(page)
    assert "/webhooks/whs_1/" in [e.attributes.get("href") for e in elements(page, "a")]
