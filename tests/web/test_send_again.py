"""Sending again: what went on since is read first, and not undone unasked."""

import re

import httpx
import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from tests import wire
from tests.far_end import FarEnd
from tests.web.html import elements, text
from tests.web.publishing_service import PublishingService, accepts, answers, fails

DIALOG = {"HX-Request": "true", "HX-Target": "dialogs"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(far_end: FarEnd) -> PublishingService:
    far_end.answer = made = PublishingService()
    return made


def publish(client: Client, version_id: str, **typed: str) -> None:
    """Open the form of a version and send it."""
    address = f"/pages/page_1/audiences/aud_1/versions/{version_id}/publish/"
    found = re.search(r'name="operation_key" value="([^"]+)"', client.get(address).content.decode())
    assert found
    client.post(address, {"operation_key": found[1]} | typed)


@pytest.fixture
def lost(as_publisher: Client, service: PublishingService) -> str:
    """Publishing version 2 was cut off, with this key; version 3 is live since."""
    service.way = fails(httpx.ReadError, carried_out=False)
    publish(as_publisher, "ver_2")
    service.way = accepts
    service.latest = wire.version(versionId="ver_3", versionNumber=3)
    publish(as_publisher, "ver_3", number="3")
    service.moves_on("published")
    return Operation.objects.get(version_id="ver_2").operation_key


def test_what_would_replace_a_newer_version_asks_for_its_number(
    as_publisher: Client, service: PublishingService, lost: str
) -> None:
    answer = as_publisher.post(f"/activity/{lost}/send-again/")
    page = text(answer.content.decode())
    assert answer.status_code == 422
    assert lost not in service.keys
    assert "Nothing was sent again. Read what was found first." in page
    assert "Version 3 is newer." in page
    assert "Type 2 to send again" in page
    assert "Live now Version 3" in page


def test_the_number_typed_sends_it_with_its_own_key(
    as_publisher: Client, service: PublishingService, lost: str
) -> None:
    again = f"/activity/{lost}/send-again/"
    page = as_publisher.post(again).content.decode()
    assert again in [form.attributes.get("action") for form in elements(page, "form")]
    wrong = as_publisher.post(again, {"from": "publish", "number": "3"})
    assert (wrong.status_code, lost in service.keys) == (422, False)
    right = as_publisher.post(again, {"from": "publish", "number": "2"})
    assert right.headers["Location"].endswith(f"/publish/?operation={lost}")
    assert service.keys[-1] == lost


def test_htmx_is_asked_in_the_dialog(as_publisher: Client, lost: str) -> None:
    answer = as_publisher.post(f"/activity/{lost}/send-again/", {"from": "publish"}, headers=DIALOG)
    page = answer.content.decode()
    assert page.strip().startswith("<dialog")
    assert '<input type="hidden" name="from" value="publish">' in page


def test_a_look_that_proves_it_was_done_sends_nothing(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = answers(500)
    publish(as_publisher, "ver_2")
    service.moves_on("published")
    key = Operation.objects.get().operation_key
    as_publisher.post(f"/activity/{key}/send-again/")
    assert Operation.objects.get().outcome == Outcome.ACCEPTED
    assert service.keys == [key]


def test_nothing_is_sent_again_while_nothing_can_be_read(
    as_publisher: Client, far_end: FarEnd, lost: str
) -> None:
    far_end.fails(httpx.ConnectError)
    known = len(far_end.sent)
    page = as_publisher.post(f"/activity/{lost}/send-again/").content.decode()
    assert "The service does not answer." in text(page)
    assert {request.method for request in far_end.sent[known:]} == {"GET"}
    assert Operation.objects.get(version_id="ver_2").outcome == Outcome.UNKNOWN
