"""The switch sends one request per press, confirms turning off, and shows the real state."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.test import Client
from django.urls import reverse

from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.subscriptions import record_subscription
from tests.support import wire
from tests.support.embedded_api_factories import make_subscription
from tests.support.html import elements, response_text
from tests.support.webhook_form import PAGE, WebhookSwitch
from tests.support.webhook_service import (
    WebhookService,
    accepts,
    answers,
    away,
    cut,
    garbage,
    ignores,
    mistakes,
    shows,
)


@pytest.fixture
def switch(as_administrator: Client, webhooks: WebhookService) -> WebhookSwitch:
    """The switch, in Ada's browser."""
    return WebhookSwitch(as_administrator, webhooks)


def aria_checked(html: str) -> str:
    """Return the state of the switch in some HTML."""
    [button] = [e for e in elements(html, "button") if e.attributes.get("role") == "switch"]
    return button.attributes["aria-checked"]


@pytest.mark.parametrize(("active", "is_on"), [("on", True), ("off", False)])
def test_a_press_sends_active_and_renders_the_switch(
    switch: WebhookSwitch, active: str, is_on: bool
) -> None:
    switch.service.held = wire.subscription(active=not is_on)
    response = switch.press(active)
    assert switch.changes == [{"active": is_on}]
    assert aria_checked(response.text) == str(is_on).lower()
    assert 'class="error"' not in response.text
    assert "<html" not in response.text


def test_the_switch_keeps_its_id_for_the_keyboard(switch: WebhookSwitch) -> None:
    def ids(html: str) -> list[str]:
        buttons = [element.attributes for element in elements(html, "button")]
        return [button["id"] for button in buttons if "aria-checked" in button]

    assert ids(switch.client.get("/webhooks/").text) == ids(switch.press("off").text)


def test_turning_off_is_confirmed_first(switch: WebhookSwitch) -> None:
    data = {"active": "off", "operation_key": str(uuid4()), "back": "/webhooks/?state=on"}
    response = switch.post(data)
    assert "Turn off CRM?" in response_text(response)
    assert switch.changes == []
    form = response.text.split("<dialog open")[1].split("</form>")[0]
    yes = {e.attributes["name"]: e.attributes.get("value", "") for e in elements(form, "input")}
    done = switch.post(yes)
    assert done.url == "/webhooks/?state=on"
    assert switch.changes == [{"active": False}]


def test_htmx_gets_the_question_as_a_dialog(switch: WebhookSwitch) -> None:
    headers = {"HX-Request": "true", "HX-Target": "switch-1"}
    data = {"active": "off", "operation_key": str(uuid4())}
    response = switch.post(data, headers=headers)
    assert response["HX-Retarget"] == "#dialogs"
    assert response.text.lstrip().startswith("<dialog")
    assert switch.changes == []


def test_turning_on_needs_no_confirmation(switch: WebhookSwitch) -> None:
    switch.service.held = wire.subscription(active=False)
    switch.post({"active": "on", "operation_key": str(uuid4())})
    assert switch.changes == [{"active": True}]


def test_a_double_click_sends_one_request(switch: WebhookSwitch) -> None:
    key = str(uuid4())
    for _ in range(2):
        response = switch.press("off", operation_key=key)
        assert aria_checked(response.text) == "false"
    assert switch.changes == [{"active": False}]
    assert Operation.objects.count() == 1


def test_the_key_of_another_operation_switches_nothing(switch: WebhookSwitch) -> None:
    switch.service.held = wire.subscription(active=False)
    key = str(uuid4())
    switch.press("on", operation_key=key)
    response = switch.press("off", operation_key=key)
    assert response.status_code == 409
    assert "operation key was already used for another request" in response_text(response)
    assert switch.changes == [{"active": True}]


def test_another_subscription_s_key_switches_nothing(switch: WebhookSwitch) -> None:
    data = {"active": "off", "confirmed": "1", "operation_key": str(uuid4())}
    switch.post(data)
    other = WebhookSubscription.model_validate(wire.subscription(subscriptionId="whs_2"))
    record_subscription(other, label="Mail")
    response = switch.client.post("/webhooks/whs_2/active/", data, follow=True)
    assert response.status_code == 409
    assert "Nothing was sent" in response_text(response)
    assert "Mail is off" not in response_text(response)
    assert len(switch.changes) == 1


def test_a_press_records_the_state_before_it(switch: WebhookSwitch) -> None:
    switch.press("off")
    operation = Operation.objects.get()
    assert (operation.body_sent, operation.before["active"]) == ({"active": False}, True)
    page = switch.client.get(reverse("operation-detail", args=[operation.operation_key]))
    row = response_text(page).split("Requested changes")[1]
    assert "active on off" in " ".join(row.split())


@pytest.mark.parametrize(
    ("way", "outcome", "end"),
    [
        (answers(404, detail="Gone."), Outcome.REJECTED, ("true", "Not turned off.")),
        (answers(422, detail="Not now."), Outcome.REJECTED, ("true", "Not now.")),
        (answers(500), Outcome.UNKNOWN, ("true", "Unknown whether it was turned off.")),
        (cut(carried_out=False), Outcome.UNKNOWN, ("true", "Current state: on.")),
        (cut(carried_out=True), Outcome.ACCEPTED, ("false", "Checked again: it is now off.")),
        (answers(500, carried_out=True), Outcome.ACCEPTED, ("false", "The service returned 500")),
        (garbage, Outcome.ACCEPTED, ("false", "can’t be read")),
        (mistakes, Outcome.ACCEPTED, ("false", "the response is for another subscription")),
        (away, Outcome.NOT_SENT, ("true", "Last known state: on.")),
        (
            ignores,
            Outcome.ACCEPTED,
            ("true", "The service accepted the update, but it is still on."),
        ),
    ],
)
def test_after_a_failure_the_switch_shows_the_truth(
    switch: WebhookSwitch, way: Any, outcome: Outcome, end: tuple[str, str]
) -> None:
    switch.service.way, (truth, message) = way, end
    response = switch.press("off")
    assert response.status_code == 200
    assert aria_checked(response.text) == truth
    assert message in response_text(response)
    operation = Operation.objects.get()
    assert operation.outcome == outcome
    assert reverse("operation-detail", args=[operation.operation_key]) in response.text


def test_a_refusal_shows_a_colleagues_change(switch: WebhookSwitch) -> None:
    switch.service.held = wire.subscription(active=False)
    switch.service.way = answers(409, detail="Busy.")
    response = switch.press("on")
    assert aria_checked(response.text) == "false"
    assert "Current state: off." in response_text(response)


def test_without_the_truth_the_last_seen_is_named(switch: WebhookSwitch) -> None:
    switch.service.way, switch.service.reading = answers(500), answers(500)
    response = switch.press("off")
    assert aria_checked(response.text) == "true"
    assert "Couldn’t check again. Last known state: on." in response_text(response)


def test_a_flaky_service_never_leaves_a_wrong_switch(switch: WebhookSwitch) -> None:
    fails = answers(503)
    for number in range(8):
        switch.service.way = fails if number % 2 else accepts
        wanted = "off" if SubscriptionRecord.objects.get().active else "on"
        response = switch.press(wanted)
        assert aria_checked(response.text) == str(switch.service.held["active"]).lower()
        assert ('class="error"' in response.text) is bool(number % 2)
    assert len(switch.changes) == 8


def test_an_older_read_does_not_undo_a_press(switch: WebhookSwitch) -> None:
    def slow(of: WebhookService, request: httpx.Request) -> httpx.Response:
        before = httpx.Response(200, json=of.held)
        of.reading = shows
        switch.press("off")
        return before

    switch.service.reading = slow
    switch.client.get(PAGE)
    assert SubscriptionRecord.objects.get().active is False


def test_without_scripts_the_message_is_on_the_page(switch: WebhookSwitch) -> None:
    switch.service.way = answers(422, detail="Not now.")
    data = {"active": "off", "confirmed": "1", "operation_key": str(uuid4()), "back": PAGE}
    response = switch.post(data, follow=True)
    assert response.redirect_chain == [(PAGE, 302)]
    assert "CRM: Not turned off. The service returned 422: Not now." in response_text(response)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"active": "on"},
        {"active": "maybe", "operation_key": str(uuid4())},
        {"active": "on", "operation_key": "1"},
    ],
)
def test_a_switch_that_is_not_whole_sends_nothing(
    switch: WebhookSwitch, data: dict[str, str]
) -> None:
    response = switch.post(data, follow=True)
    assert "Not changed. Try again." in response_text(response)
    assert switch.changes == []


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "javascript:x", ""])
def test_the_way_back_leads_nowhere_else(switch: WebhookSwitch, back: str) -> None:
    data = {"active": "on", "operation_key": str(uuid4()), "back": back}
    assert switch.post(data).url == PAGE


def test_a_subscription_off_the_list_is_not_switched(switch: WebhookSwitch) -> None:
    response = switch.client.post(
        "/webhooks/whs_2/active/", {"active": "on", "operation_key": uuid4()}
    )
    assert (response.status_code, switch.changes) == (404, [])


def test_a_success_asks_the_service_once(switch: WebhookSwitch) -> None:
    switch.press("off")
    assert (switch.service.reads, len(switch.changes)) == (0, 1)


def test_the_embedded_service_is_switched(as_administrator: Client) -> None:
    there = make_subscription()
    as_administrator.post("/webhooks/new/", {"subscription_id": there.id})
    data = {"active": "off", "confirmed": "1", "operation_key": str(uuid4())}
    as_administrator.post(reverse("subscription-active", args=[there.id]), data)
    there.refresh_from_db()
    assert there.active is False
