"""The switch: one request per press, turning off is confirmed, and the real state is shown."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.recording import record_subscription
from tests.conftest import logged_in
from tests.support import wire
from tests.support.embedded_api_factories import make_subscription
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
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

PAGE = "/webhooks/whs_1/"
SWITCH = f"{PAGE}active/"


@pytest.fixture
def service(fake_service: FakeService) -> WebhookService:
    fake_service.answer = service = WebhookService()
    return service


@pytest.fixture
def operator(ada: User, service: WebhookService) -> Client:
    """Ada's browser, with the service's subscription on the list."""
    record_subscription(WebhookSubscription.model_validate(service.held), label="CRM")
    return logged_in(ada)


def press(client: Client, active: str, **differs: str) -> Any:
    """Press the switch and confirm if required; return the switch as htmx gets it."""
    data = {"active": active, "confirmed": "1", "operation_key": str(uuid4())} | differs
    number = SubscriptionRecord.objects.get().pk
    headers = {"HX-Request": "true", "HX-Target": f"switch-{number}"}
    return client.post(SWITCH, data, headers=headers)


def aria_checked(html: str) -> str:
    """Return the state of the switch in some HTML."""
    [switch] = [e for e in elements(html, "button") if e.attributes.get("role") == "switch"]
    return switch.attributes["aria-checked"]


@pytest.mark.parametrize(("active", "is_on"), [("on", True), ("off", False)])
def test_a_press_sends_active_alone_and_renders_the_switch_again(
    operator: Client, service: WebhookService, active: str, is_on: bool
) -> None:
    service.held = wire.subscription(active=not is_on)
    answer = press(operator, active)
    assert service.changes == [{"active": is_on}]
    assert aria_checked(answer.text) == str(is_on).lower()
    assert 'class="error"' not in answer.text
    assert "<html" not in answer.text


def test_the_switch_keeps_its_id_so_that_the_keyboard_stays_on_it(operator: Client) -> None:
    def ids(html: str) -> list[str]:
        buttons = [element.attributes for element in elements(html, "button")]
        return [button["id"] for button in buttons if "aria-checked" in button]

    assert ids(operator.get("/webhooks/").text) == ids(press(operator, "off").text)


def test_turning_off_is_confirmed_first(operator: Client, service: WebhookService) -> None:
    data = {"active": "off", "operation_key": str(uuid4()), "back": "/webhooks/?state=on"}
    answer = operator.post(SWITCH, data)
    assert "Turn off CRM?" in text(answer.text)
    assert service.changes == []
    form = answer.text.split("<dialog open")[1].split("</form>")[0]
    yes = {e.attributes["name"]: e.attributes.get("value", "") for e in elements(form, "input")}
    done = operator.post(SWITCH, yes)
    assert done.url == "/webhooks/?state=on"
    assert service.changes == [{"active": False}]


def test_htmx_gets_the_question_as_a_dialog(operator: Client, service: WebhookService) -> None:
    headers = {"HX-Request": "true", "HX-Target": "switch-1"}
    data = {"active": "off", "operation_key": str(uuid4())}
    answer = operator.post(SWITCH, data, headers=headers)
    assert answer["HX-Retarget"] == "#dialogs"
    assert answer.text.lstrip().startswith("<dialog")
    assert service.changes == []


def test_turning_on_needs_no_confirmation(operator: Client, service: WebhookService) -> None:
    service.held = wire.subscription(active=False)
    operator.post(SWITCH, {"active": "on", "operation_key": str(uuid4())})
    assert service.changes == [{"active": True}]


def test_a_double_click_sends_one_request(operator: Client, service: WebhookService) -> None:
    key = str(uuid4())
    for _ in range(2):
        answer = press(operator, "off", operation_key=key)
        assert aria_checked(answer.text) == "false"
    assert service.changes == [{"active": False}]
    assert Operation.objects.count() == 1


def test_the_key_of_another_operation_switches_nothing(
    operator: Client, service: WebhookService
) -> None:
    service.held = wire.subscription(active=False)
    key = str(uuid4())
    press(operator, "on", operation_key=key)
    answer = press(operator, "off", operation_key=key)
    assert answer.status_code == 409
    assert "operation key was already used for another request" in text(answer.text)
    assert service.changes == [{"active": True}]


def test_the_key_of_another_subscription_switches_nothing_without_scripts_either(
    operator: Client, service: WebhookService
) -> None:
    data = {"active": "off", "confirmed": "1", "operation_key": str(uuid4())}
    operator.post(SWITCH, data)
    other = WebhookSubscription.model_validate(wire.subscription(subscriptionId="whs_2"))
    record_subscription(other, label="Mail")
    answer = operator.post("/webhooks/whs_2/active/", data, follow=True)
    assert answer.status_code == 409
    assert "Nothing was sent" in text(answer.text)
    assert "Mail is off" not in text(answer.text)
    assert len(service.changes) == 1


def test_a_press_is_on_record_with_how_it_stood_before(operator: Client) -> None:
    press(operator, "off")
    operation = Operation.objects.get()
    assert (operation.body_sent, operation.before["active"]) == ({"active": False}, True)
    page = operator.get(reverse("operation-detail", args=[operation.operation_key]))
    row = text(page.text).split("Requested changes")[1]
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
        (garbage, Outcome.ACCEPTED, ("false", "can't be read")),
        (mistakes, Outcome.ACCEPTED, ("false", "the response is for another subscription")),
        (away, Outcome.NOT_SENT, ("true", "Last known state: on.")),
        (
            ignores,
            Outcome.ACCEPTED,
            ("true", "The service accepted the update, but it is still on."),
        ),
    ],
)
def test_after_a_failure_the_switch_shows_the_truth_with_a_sentence(
    operator: Client, service: WebhookService, way: Any, outcome: Outcome, end: tuple[str, str]
) -> None:
    service.way, (truth, said) = way, end
    answer = press(operator, "off")
    assert answer.status_code == 200
    assert aria_checked(answer.text) == truth
    assert said in text(answer.text)
    operation = Operation.objects.get()
    assert operation.outcome == outcome
    assert reverse("operation-detail", args=[operation.operation_key]) in answer.text


def test_a_refusal_shows_what_somebody_else_has_done_meanwhile(
    operator: Client, service: WebhookService
) -> None:
    service.held, service.way = wire.subscription(active=False), answers(409, detail="Busy.")
    answer = press(operator, "on")
    assert aria_checked(answer.text) == "false"
    assert "Current state: off." in text(answer.text)


def test_where_the_truth_cannot_be_had_what_was_last_seen_is_named_so(
    operator: Client, service: WebhookService
) -> None:
    service.way, service.reading = answers(500), answers(500)
    answer = press(operator, "off")
    assert aria_checked(answer.text) == "true"
    assert "Couldn't check again. Last known state: on." in text(answer.text)


def test_a_service_that_fails_every_other_time_never_leaves_a_wrong_switch(
    operator: Client, service: WebhookService
) -> None:
    fails = answers(503)
    for number in range(8):
        service.way = fails if number % 2 else accepts
        wanted = "off" if SubscriptionRecord.objects.get().active else "on"
        answer = press(operator, wanted)
        assert aria_checked(answer.text) == str(service.held["active"]).lower()
        assert ('class="error"' in answer.text) is bool(number % 2)
    assert len(service.changes) == 8


def test_a_page_that_was_read_before_a_press_and_answered_after_it_does_not_undo_it(
    operator: Client, service: WebhookService
) -> None:
    def slow(of: WebhookService, request: httpx.Request) -> httpx.Response:
        before = httpx.Response(200, json=of.held)
        of.reading = shows
        press(operator, "off")
        return before

    service.reading = slow
    operator.get(PAGE)
    assert SubscriptionRecord.objects.get().active is False


def test_without_scripts_the_message_is_on_the_page_of_the_button(
    operator: Client, service: WebhookService
) -> None:
    service.way = answers(422, detail="Not now.")
    data = {"active": "off", "confirmed": "1", "operation_key": str(uuid4()), "back": PAGE}
    answer = operator.post(SWITCH, data, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    assert "CRM: Not turned off. The service returned 422: Not now." in text(answer.text)


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
    operator: Client, service: WebhookService, data: dict[str, str]
) -> None:
    answer = operator.post(SWITCH, data, follow=True)
    assert "Not changed. Try again." in text(answer.text)
    assert service.changes == []


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "javascript:x", ""])
def test_the_way_back_leads_nowhere_else(operator: Client, back: str) -> None:
    data = {"active": "on", "operation_key": str(uuid4()), "back": back}
    assert operator.post(SWITCH, data).url == PAGE


def test_a_subscription_off_the_list_is_not_switched(
    operator: Client, service: WebhookService
) -> None:
    answer = operator.post("/webhooks/whs_2/active/", {"active": "on", "operation_key": uuid4()})
    assert (answer.status_code, service.changes) == (404, [])


def test_a_success_asks_the_service_once(operator: Client, service: WebhookService) -> None:
    press(operator, "off")
    assert (service.reads, len(service.changes)) == (0, 1)


def test_the_embedded_service_is_switched(as_administrator: Client) -> None:
    there = make_subscription()
    as_administrator.post("/webhooks/new/", {"subscription_id": there.id})
    data = {"active": "off", "confirmed": "1", "operation_key": str(uuid4())}
    as_administrator.post(reverse("subscription-active", args=[there.id]), data)
    there.refresh_from_db()
    assert there.active is False
