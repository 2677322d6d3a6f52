"""A retry reads the target first, and doesn't undo later changes."""

from typing import Any

import httpx
import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from tests.support import webhook_service, wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.publish_dialog import DIALOG, PublishDialog, form_in
from tests.support.publishing_service import PublishingService, accepts, answers, fails
from tests.support.webhook_form import WebhookSwitch
from tests.support.webhook_service import WebhookService, cut

pytestmark = pytest.mark.django_db


# A publish


@pytest.fixture
def lost(dialog: PublishDialog) -> str:
    """The key of an interrupted publish of version 2; version 3 went live since."""
    service = dialog.service
    service.way = fails(httpx.ReadError, carried_out=False)
    dialog.publish()
    service.way = accepts
    service.latest = wire.version(versionId="ver_3", versionNumber=3)
    url = dialog.url.replace("ver_2", "ver_3")
    PublishDialog(dialog.client, service, url).publish(number="3")
    service.moves_on("published")
    return Operation.objects.get(version_id="ver_2").operation_key


def test_a_retry_over_a_newer_version_needs_its_number(
    as_publisher: Client, publishing: PublishingService, lost: str
) -> None:
    answer = as_publisher.post(f"/activity/{lost}/send-again/")
    page = response_text(answer)
    assert answer.status_code == 422
    assert lost not in publishing.keys
    assert "Not sent again. Review the warnings first." in page
    assert "Version 3 is newer." in page
    assert "Type 2 to retry" in page
    assert "Live now Version 3" in page


def test_the_typed_number_retries_with_the_same_key(
    as_publisher: Client, publishing: PublishingService, lost: str
) -> None:
    again = f"/activity/{lost}/send-again/"
    page = as_publisher.post(again).text
    assert again in [form.attributes.get("action") for form in elements(page, "form")]
    form = form_in(page) | {"from": "publish"}
    wrong = as_publisher.post(again, form | {"number": "3"})
    assert (wrong.status_code, lost in publishing.keys) == (422, False)
    right = as_publisher.post(again, form | {"number": "2"})
    assert right.headers["Location"].endswith(f"/publish/progress/?operation={lost}")
    assert publishing.keys[-1] == lost


def test_htmx_gets_the_confirmation_in_the_dialog(as_publisher: Client, lost: str) -> None:
    answer = as_publisher.post(f"/activity/{lost}/send-again/", {"from": "publish"}, headers=DIALOG)
    page = answer.text
    assert page.strip().startswith("<dialog")
    assert '<input type="hidden" name="from" value="publish">' in page


def test_a_retry_sends_nothing_if_the_publish_proves_done(
    dialog: PublishDialog, publishing: PublishingService
) -> None:
    publishing.way = answers(500)
    dialog.publish()
    publishing.moves_on("published")
    dialog.send_again()
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.ACCEPTED
    assert publishing.keys == [operation.operation_key]


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


class CutOff:
    """An interrupted update that should have turned the webhook off, in Ada's browser."""

    def __init__(self, client: Client, service: WebhookService) -> None:
        self.client, self.switch = client, WebhookSwitch(client, service)
        service.way = cut(carried_out=False)
        self.switch.press("off")
        service.way = webhook_service.accepts
        service.changes.clear()
        self.url = f"/activity/{Operation.objects.get().operation_key}/"

    def send_again(self) -> str:
        """Press the button that retries; return the text of the next page."""
        return response_text(self.client.post(f"{self.url}send-again/", follow=True))


@pytest.fixture
def cut_off(as_administrator: Client, webhooks: WebhookService) -> CutOff:
    return CutOff(as_administrator, webhooks)


def test_an_unchanged_webhook_gets_the_update_again(
    webhooks: WebhookService, cut_off: CutOff
) -> None:
    assert "Update webhook: Accepted." in cut_off.send_again()
    assert webhooks.changes == [{"active": False}]


def test_an_update_changed_back_from_here_is_not_undone(
    webhooks: WebhookService, cut_off: CutOff
) -> None:
    cut_off.switch.press("off")
    cut_off.switch.press("on")
    page = cut_off.send_again()
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
    before: Any, message: str, webhooks: WebhookService, cut_off: CutOff
) -> None:
    body = {"url": "https://new.example"}
    Operation.objects.update(body_sent=body, before=before)
    page = cut_off.send_again()
    assert f'url is now "https://hooks.example/in"; {message}' in page
    assert webhooks.changes == []


def test_an_update_changed_back_elsewhere_is_not_undone(
    webhooks: WebhookService, cut_off: CutOff
) -> None:
    webhooks.held |= {"updatedAt": "2026-03-12T15:00:00Z"}
    page = cut_off.send_again()
    assert "not retried: its fields are unchanged, but updatedAt isn’t" in page
    assert "it was changed and changed back" in page
    assert webhooks.changes == []


def test_an_ever_changing_updated_at_proves_nothing(
    webhooks: WebhookService, cut_off: CutOff
) -> None:
    def moves(of: WebhookService, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=of.held | {"updatedAt": f"2026-03-12T15:0{of.reads}:00Z"})

    webhooks.reading = moves
    assert "Update webhook: Accepted." in cut_off.send_again()


def test_an_inconsistent_updated_at_prevents_the_retry(
    webhooks: WebhookService, cut_off: CutOff
) -> None:
    def once(of: WebhookService, request: httpx.Request) -> httpx.Response:
        of.reading = webhook_service.away
        return httpx.Response(200, json=of.held | {"updatedAt": "2026-03-12T15:00:00Z"})

    webhooks.reading = once
    assert "not retried: a second read failed." in cut_off.send_again()
    assert webhooks.changes == []


def test_an_update_that_proves_done_is_not_sent_again(
    webhooks: WebhookService, cut_off: CutOff
) -> None:
    webhooks.held |= {"active": False}
    assert "Update webhook: Accepted." in cut_off.send_again()
    assert webhooks.changes == []


def test_a_change_of_another_field_allows_the_retry(
    webhooks: WebhookService, cut_off: CutOff
) -> None:
    webhooks.held |= {"url": "https://new.example"}
    assert "Update webhook: Accepted." in cut_off.send_again()
    assert webhooks.held["url"] == "https://new.example"


def test_a_webhook_that_cannot_be_read_is_not_changed(
    webhooks: WebhookService, cut_off: CutOff
) -> None:
    webhooks.reading = webhook_service.away
    page = cut_off.send_again()
    assert "not retried, as the webhook couldn’t be read." in page
    assert webhooks.changes == []


def test_a_webhook_retry_links_to_the_form(cut_off: CutOff) -> None:
    page = cut_off.client.get(cut_off.url).text
    assert "same key" not in text(page)
    assert "Otherwise, edit the webhook." in text(page)
    assert "/webhooks/whs_1/" in [e.attributes.get("href") for e in elements(page, "a")]
