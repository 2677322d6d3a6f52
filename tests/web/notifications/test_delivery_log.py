"""The delivery log of administrators."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.notifications.models import Channel, Delivery, DeliveryAttempt, DeliveryState
from dashboard.web.ui.query_params import PAGE_SIZE
from tests.support.html import page_text, response_text, text
from tests.support.live_page import Region
from tests.support.notification_settings import SETTINGS
from tests.support.seeding import seed_delivery

pytestmark = pytest.mark.django_db
LOG = "/notifications/deliveries/"


def test_without_deliveries_the_page_says_what_will_be_there(as_administrator: Client) -> None:
    assert "No deliveries yet" in page_text(as_administrator, LOG)


def test_a_delivery_has_recipient_state_and_problem(as_administrator: Client) -> None:
    seed_delivery()
    page = page_text(as_administrator, LOG)
    assert "0 waiting, 1 given up" in page
    assert "Webhook Publishing channel Given up 9 The receiver responded 503." in page


def test_the_log_is_filtered_by_state_and_channel(as_administrator: Client, vera: User) -> None:
    seed_delivery(1)
    seed_delivery(2, channel=Channel.EMAIL, user=vera, target=None, state=DeliveryState.SENT)
    assert "vera" in page_text(as_administrator, f"{LOG}?channel=email")
    assert "vera" not in page_text(as_administrator, f"{LOG}?state=given_up")
    assert "No deliveries match" in page_text(as_administrator, f"{LOG}?state=waiting")


def test_more_are_loaded_below(as_administrator: Client) -> None:
    for number in range(1, PAGE_SIZE + 2):
        seed_delivery(number)
    page = as_administrator.get(LOG).text
    assert "Load more" in page
    assert f"{LOG}1/" not in page
    headers = {"HX-Request": "true", "HX-Target": "rows"}
    more = as_administrator.get(LOG, {"before": 2}, headers=headers)
    assert f"{LOG}1/" in more.text
    assert more["HX-Replace-Url"] == f"{LOG}?show=51"


def test_an_open_delivery_follows_its_attempts(as_administrator: Client) -> None:
    seed_delivery()
    delivery = Region(as_administrator, f"{LOG}1/", "delivery")
    assert delivery.element.attributes["data-every"] == "10"
    Delivery.objects.update(state=DeliveryState.SENT, problem="")
    assert "Publishing channel Sent" in delivery.refresh().text


def test_one_delivery_shows_its_events_and_each_attempt(as_administrator: Client) -> None:
    delivery = seed_delivery()
    DeliveryAttempt.objects.create(delivery=delivery, at=delivery.created_at, status_code=200)
    page = as_administrator.get(f"{LOG}1/").text
    rows = page.split('data-label="Response"')[1:]
    assert [text("<td " + row.partition("</tr>")[0]) for row in rows] == [
        "200 Accepted",
        "503 The receiver responded 503.",
    ]
    page = text(page)
    assert "Publishing version 1 of Brightwater Foods failed." in page


def test_send_again_keeps_the_message_id(as_administrator: Client) -> None:
    seed_delivery()
    response = as_administrator.post(f"{LOG}1/send/", follow=True)
    assert "with the same message ID" in response_text(response)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.message_id) == (DeliveryState.WAITING, "msg_1")


@pytest.mark.parametrize("address", [LOG, f"{LOG}1/"])
def test_others_may_not_see_it(as_publisher: Client, address: str) -> None:
    seed_delivery()
    response = as_publisher.get(address)
    assert response.status_code == 403
    assert "You need the Administrator role to manage deliveries" in response.text


def test_others_are_not_offered_it(as_publisher: Client, as_administrator: Client) -> None:
    assert LOG not in as_publisher.get(SETTINGS).text
    assert LOG in as_administrator.get(SETTINGS).text
