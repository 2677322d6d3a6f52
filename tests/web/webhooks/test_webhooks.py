"""Webhook subscriptions: the list, adding, reading, filtering and removing."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.client.response_parsing import strip_unstorable
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import Attempt, Operation, SubscriptionRecord
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import AttemptResult, Outcome, Target, begin, end
from dashboard.ledger.subscriptions import record_subscription
from tests.support import wire
from tests.support.embedded_api_factories import make_subscription
from tests.support.fake_service import FakeService
from tests.support.hostile_strings import PAYLOADS
from tests.support.html import elements, response_text, text
from tests.support.service_page import ServicePage

LIST = "/webhooks/"
ADD = f"{LIST}new/"


def listed(**differs: Any) -> SubscriptionRecord:
    """Return a listed subscription, labelled CRM by default."""
    label = differs.pop("label", "CRM")
    seen = WebhookSubscription.model_validate(wire.subscription(**differs))
    return record_subscription(seen, label=label)


def detail(subscription_id: str = "whs_1") -> str:
    return reverse("subscription-detail", args=[subscription_id])


def html_of(client: Client, address: str = LIST) -> str:
    """Return the text of a page that responds with 200."""
    answer = client.get(address)
    assert answer.status_code == 200
    return response_text(answer)


@pytest.fixture
def webhooks(as_administrator: Client, fake_service: FakeService) -> ServicePage:
    """The list in an administrator's browser."""
    return ServicePage(as_administrator, fake_service, LIST)


@pytest.fixture
def viewed(as_viewer: Client, fake_service: FakeService) -> ServicePage:
    """The list in a viewer's browser."""
    return ServicePage(as_viewer, fake_service, LIST)


# The list


def test_an_empty_list_shows_how_to_fill_it(as_administrator: Client, as_viewer: Client) -> None:
    assert "can’t list its subscriptions. Add them by ID." in html_of(as_administrator)
    assert "Administrators can add them by ID." in html_of(as_viewer)


def test_the_list_shows_last_known_without_a_call(viewed: ServicePage) -> None:
    listed()
    page = viewed.text()
    assert all(word in page for word in ("CRM", "https://hooks.example/in", "form.submitted"))
    assert viewed.service.sent == []


@pytest.mark.parametrize(
    ("events", "sentence"),
    [
        (None, "null (undocumented)"),
        ([], "No events"),
        (["form.submitted", "page.deleted"], "page.deleted"),
    ],
)
def test_events_are_null_none_or_some_and_never_all(
    as_viewer: Client, events: list[str] | None, sentence: str
) -> None:
    listed(events=events)
    rows = as_viewer.get(LIST).text.split("<tbody")[1].split("</tbody")[0]
    assert sentence in text(rows)
    assert "all" not in text(rows).lower().split()


def test_a_longer_list_costs_no_more_queries(
    as_administrator: Client, django_assert_num_queries: Any
) -> None:
    listed()
    as_administrator.get(LIST)
    with django_assert_num_queries(9):
        as_administrator.get(LIST)
    for number in range(2, 30):
        listed(subscriptionId=f"whs_{number}")
    with django_assert_num_queries(9):
        as_administrator.get(LIST)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", {"a", "b", "c", "d"}),
        ("?state=on", {"a", "c", "d"}),
        ("?state=off", {"b"}),
        ("?event=form.submitted", {"a"}),
        ("?event=null", {"b"}),
        ("?event=none", {"c"}),
        ("?event=page.deleted", {"d"}),
        ("?state=on&event=null", set()),
        ("?state=maybe", {"a", "b", "c", "d"}),
        ("?event=%00", {"a", "b", "c", "d"}),
        ("?event=%00null", {"b"}),
        ("?event=", {"a", "b", "c", "d"}),
    ],
)
def test_the_address_filters_by_state_and_event(
    as_viewer: Client, query: str, ids: set[str]
) -> None:
    listed(subscriptionId="a")
    listed(subscriptionId="b", events=None, active=False)
    listed(subscriptionId="c", events=[])
    listed(subscriptionId="d", events=["page.deleted"])
    page = as_viewer.get(LIST + query).text
    links = {element.attributes.get("href", "") for element in elements(page, "a")}
    assert {item for item in "abcd" if detail(item) in links} == ids


def test_filters_without_matches_can_be_cleared(as_viewer: Client) -> None:
    listed()
    assert "No subscriptions match" in html_of(as_viewer, f"{LIST}?event=null")


def test_an_unknown_event_can_be_filtered(as_viewer: Client) -> None:
    listed(events=["page.deleted"])
    options = elements(as_viewer.get(f"{LIST}?event=page.deleted").text, "option")
    assert "page.deleted" in as_viewer.get(LIST).text
    assert sum("selected" in option.attributes for option in options) == 1


def test_an_unreadable_record_is_still_a_row(as_administrator: Client) -> None:
    record = listed()
    SubscriptionRecord.objects.filter(pk=record.pk).update(body='{"events": 5}')
    assert "The saved copy is unreadable. Refresh it." in html_of(as_administrator)
    assert detail() not in as_administrator.get(f"{LIST}?event=null").text


def test_texts_of_the_service_come_out_as_text(as_administrator: Client) -> None:
    for number, payload in enumerate(map(strip_unstorable, PAYLOADS)):
        listed(subscriptionId=f"whs_{number}", url=payload, events=[payload], label=payload[:100])
    tags = {element.tag for element in elements(as_administrator.get(LIST).text)}
    assert not tags & {"img", "iframe", "math", "base", "object"}
    scripts = elements(as_administrator.get(LIST).text, "script")
    assert all(script.attributes["src"].startswith("/static/") for script in scripts)


def test_the_last_failed_change_is_shown_in_its_row(as_viewer: Client, paula: User) -> None:
    listed()
    _, attempt = begin(
        operation_key="key",
        kind=OperationKind.UPDATE_SUBSCRIPTION,
        actor=paula,
        target=Target(subscription_id="whs_1"),
        body={"active": False},
    )
    assert attempt
    end(attempt, AttemptResult(Outcome.REJECTED, "no"))
    page = as_viewer.get(LIST).text
    assert "Change failed" in text(page)
    assert reverse("operation-detail", args=["key"]) in page


def test_an_interrupted_change_appears_in_its_row(as_viewer: Client, paula: User) -> None:
    listed()
    begin(
        operation_key="key",
        kind=OperationKind.UPDATE_SUBSCRIPTION,
        actor=paula,
        target=Target(subscription_id="whs_1"),
        body={"active": False},
    )
    assert "Change: outcome unknown" not in response_text(as_viewer.get(LIST))
    assert "Change failed" not in response_text(as_viewer.get(LIST))
    Attempt.objects.update(sent_at=timezone.now() - timedelta(minutes=5))
    assert "Change: outcome unknown" in response_text(as_viewer.get(LIST))


# Rights


def test_who_may_not_change_is_offered_no_change(viewed: ServicePage) -> None:
    listed()
    viewed.service.answers(200, json=wire.subscription())
    for address in (LIST, detail()):
        page = viewed.get(address).text
        forms = {form.attributes["action"] for form in elements(page, "form")}
        assert not {form for form in forms if form.startswith("/webhooks/whs_1/")}
        assert 'role="switch"' not in page
        assert "/forget/" not in page
        assert 'name="subscription_id"' not in page


@pytest.mark.django_db  # for a fixture that is requested by name at run time
@pytest.mark.parametrize("who", ["as_viewer", "as_publisher"])
@pytest.mark.parametrize(
    ("address", "data"),
    [
        (ADD, {"subscription_id": "whs_2"}),
        (detail(), {"url": "https://elsewhere.example"}),
        (detail(), {"step": "preview"}),
        (detail(), {"label": "Mine"}),
        (f"{detail()}active/", {"active": "off", "confirmed": "1"}),
        (f"{detail()}forget/", {}),
    ],
)
def test_who_may_not_change_is_refused_with_a_sentence(
    request: pytest.FixtureRequest,
    fake_service: FakeService,
    who: str,
    address: str,
    data: dict[str, str],
) -> None:
    client: Client = request.getfixturevalue(who)
    listed()
    answer = client.post(address, data)
    assert answer.status_code == 403
    assert "You need the Administrator role to edit webhooks." in response_text(answer)
    assert fake_service.sent == []
    assert SubscriptionRecord.objects.get().label == "CRM"


def test_a_viewer_may_read_listed_subscriptions_and_nothing_else(viewed: ServicePage) -> None:
    listed()
    viewed.service.answers(200, json=wire.subscription(url="https://new.example"))
    assert "https://new.example" in viewed.client.post(LIST, {"read": "whs_1"}).text
    viewed.client.post(LIST, {"read": "whs_of_others"})
    assert len(viewed.service.sent) == 1
    assert SubscriptionRecord.objects.count() == 1


# Adding


def test_an_added_subscription_is_read_at_once(as_administrator: Client) -> None:
    there = make_subscription(events=None)
    answer = as_administrator.post(
        ADD, {"subscription_id": f" {there.id} ", "label": "Warehouse"}, follow=True
    )
    record = SubscriptionRecord.objects.get()
    assert (record.subscription_id, record.label) == (there.id, "Warehouse")
    assert record.added_by
    assert record.added_by.username == "ada"
    assert "Added Warehouse." in response_text(answer)
    assert Operation.objects.count() == 0


def test_the_url_that_adds_leads_to_the_list(as_administrator: Client) -> None:
    assert as_administrator.get(ADD)["Location"] == LIST


def test_a_refresh_after_a_wrong_id_opens_the_list(as_administrator: Client) -> None:
    listed()
    page = as_administrator.post(ADD, {"subscription_id": ""}).text
    assert {form.attributes["action"] for form in elements(page, "form")} >= {LIST, ADD}
    [refresh] = [form for form in elements(page, "form") if form.attributes.get("id") == "read"]
    assert refresh.attributes["action"] == refresh.attributes["hx-post"] == LIST


def test_a_wrong_id_shows_the_service_s_words(as_administrator: Client) -> None:
    answer = as_administrator.post(ADD, {"subscription_id": "whs_wrong", "label": "Kept"})
    assert answer.status_code == 422
    assert "Webhook subscription not found." in response_text(answer)
    fields = {
        element.attributes.get("name"): element.attributes
        for element in elements(answer.text, "input")
    }
    assert fields["subscription_id"]["value"] == "whs_wrong"
    assert fields["subscription_id"]["aria-invalid"] == "true"
    assert fields["label"]["value"] == "Kept"
    assert SubscriptionRecord.objects.count() == 0


def test_adding_twice_gives_an_error_and_sends_nothing(webhooks: ServicePage) -> None:
    listed()
    answer = webhooks.client.post(ADD, {"subscription_id": "whs_1", "label": "Another"})
    assert answer.status_code == 422
    assert "Already added." in response_text(answer)
    assert webhooks.service.sent == []
    assert SubscriptionRecord.objects.get().label == "CRM"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"subscription_id": ""}, "Enter a subscription ID."),
        ({"subscription_id": "   "}, "Enter a subscription ID."),
        ({"subscription_id": "x" * 501}, "at most 500 characters"),
        ({"subscription_id": "whs\0_1"}, "Null characters are not allowed."),
        ({"subscription_id": "whs_1", "label": "x" * 121}, "at most 120 characters"),
    ],
)
def test_an_invalid_id_or_label_is_not_sent(
    webhooks: ServicePage, data: dict[str, str], sentence: str
) -> None:
    answer = webhooks.client.post(ADD, data)
    assert (answer.status_code, webhooks.service.sent) == (422, [])
    assert sentence in response_text(answer)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"status_code": 404, "json": {"detail": "No such thing."}}, "No such thing."),
        ({"status_code": 422, "json": {"detail": "Odd id."}}, "Odd id."),
        ({"status_code": 500, "json": {}}, "The service returned 500"),
        ({"status_code": 200, "content": b"<html>"}, "can’t be read"),
        ({"status_code": 200, "json": {"subscriptionId": "whs_1"}}, "can’t be read"),
        ({"status_code": 200, "json": wire.subscription(subscriptionId="whs_2")}, "whs_2"),
        ({"status_code": 200, "json": wire.subscription(active="yes")}, "active"),
    ],
)
def test_what_the_service_does_not_give_is_not_added(
    webhooks: ServicePage, answer: dict[str, Any], sentence: str
) -> None:
    webhooks.service.answers(**answer)
    page = webhooks.client.post(ADD, {"subscription_id": "whs_1"})
    assert page.status_code == 422
    assert sentence in response_text(page)
    assert SubscriptionRecord.objects.count() == 0


@pytest.mark.parametrize("odd", ["a/b?c#d%2F é…", "new"])
def test_an_id_with_any_characters_has_a_page(webhooks: ServicePage, odd: str) -> None:
    webhooks.service.answers(200, json=wire.subscription(subscriptionId=odd, another="field"))
    page = webhooks.client.post(ADD, {"subscription_id": odd}, follow=True)
    assert page.status_code == 200
    assert odd in response_text(page)


# Reading


def test_reading_is_a_change_of_nothing_and_no_operation(viewed: ServicePage) -> None:
    listed()
    viewed.service.answers(200, json=wire.subscription(active=False))
    page = viewed.client.post(LIST, {"read": "whs_1"})
    assert [request.method for request in viewed.service.sent] == ["PATCH"]
    assert [json.loads(request.content) for request in viewed.service.sent] == [{}]
    assert "1 of 1 refreshed." in response_text(page)
    assert SubscriptionRecord.objects.get().active is False
    assert Operation.objects.count() == 0


def test_refreshing_updates_what_responds(viewed: ServicePage) -> None:
    for name in "abc":
        listed(subscriptionId=name, label=name)

    def answer(request: httpx.Request) -> httpx.Response:
        name = request.url.path.rpartition("/")[2]
        if name == "b":
            return httpx.Response(404, json={"detail": "Gone since Monday."})
        return httpx.Response(200, json=wire.subscription(subscriptionId=name, url="https://n.ew"))

    viewed.service.answer = answer
    page = response_text(viewed.client.post(LIST, {"read_all": "1"}))
    assert "2 of 3 refreshed." in page
    assert "Gone since Monday." in page
    urls = SubscriptionRecord.objects.order_by("label").values_list("url", flat=True)
    assert list(urls) == ["https://n.ew", "https://hooks.example/in", "https://n.ew"]


def test_refreshing_all_stops_if_the_service_does_not_respond(viewed: ServicePage) -> None:
    for number in range(20):
        listed(subscriptionId=f"whs_{number}")
    viewed.service.fails(httpx.ReadTimeout)
    page = response_text(viewed.client.post(LIST, {"read_all": "1"}))
    # Eight start in parallel. The circuit breaker holds back the rest after three without response.
    assert 3 <= len(viewed.service.sent) <= 8
    assert page.count("Not checked: earlier requests failed.") == 12


def test_reading_all_reads_those_that_are_filtered(viewed: ServicePage) -> None:
    listed(subscriptionId="whs_on")
    listed(subscriptionId="whs_off", active=False)
    viewed.service.answers(200, json=wire.subscription(subscriptionId="whs_off", active=False))
    viewed.client.post(f"{LIST}?state=off", {"read_all": "1"})
    assert [request.url.path.rpartition("/")[2] for request in viewed.service.sent] == ["whs_off"]


def test_one_press_reads_the_64_oldest(viewed: ServicePage) -> None:
    now = timezone.now()
    for number in range(70):
        record = listed(subscriptionId=f"whs_{number}")
        ago = now - timezone.timedelta(hours=number)
        SubscriptionRecord.objects.filter(pk=record.pk).update(last_seen_at=ago)
    viewed.service.answers(404, json={})
    viewed.client.post(LIST, {"read_all": "1"})
    ids = [request.url.path.rpartition("/")[2] for request in viewed.service.sent]
    assert len(ids) == 64
    assert ids[0] == "whs_69"
    assert "whs_0" not in ids


def test_htmx_takes_the_rows_alone(viewed: ServicePage) -> None:
    listed()
    viewed.service.answers(200, json=wire.subscription())
    headers = {"HX-Request": "true", "HX-Target": "subscriptions"}
    part = viewed.client.post(LIST, {"read": "whs_1"}, headers=headers)
    assert part.text.lstrip().startswith('<div class="stack" id="subscriptions"')
    assert "HX-Target" in part["Vary"]


@pytest.mark.parametrize(
    ("method", "address", "data"),
    [
        ("get", "/webhooks/%00/", {}),
        ("post", "/webhooks/%00/forget/", {}),
        ("post", LIST, {"read": "\0"}),
        ("get", f"{LIST}?id=%00&event=%00&state=%00", {}),
    ],
)
def test_an_address_with_a_nul_finds_nothing(
    webhooks: ServicePage,
    method: str,
    address: str,
    data: dict[str, str],
) -> None:
    listed()
    answer = getattr(webhooks.client, method)(address, data)
    assert answer.status_code in {200, 302, 404}
    assert webhooks.service.sent == []
    assert SubscriptionRecord.objects.count() == 1


# Forgetting and labelling


def test_forgetting_asks_first_and_touches_this_list_alone(webhooks: ServicePage) -> None:
    listed()
    response = webhooks.get(f"{detail()}forget/")
    assert "The subscription isn’t deleted from the service" in response_text(response)
    assert SubscriptionRecord.objects.count() == 1
    done = webhooks.client.post(f"{detail()}forget/", follow=True)
    assert "Removed from Pressroom. The service wasn’t changed." in response_text(done)
    assert SubscriptionRecord.objects.count() == 0
    assert webhooks.service.sent == []


def test_removing_a_removed_subscription_shows_that(as_administrator: Client) -> None:
    done = as_administrator.post(f"{detail()}forget/", follow=True)
    assert "It was already removed." in response_text(done)
    assert as_administrator.get(f"{detail()}forget/").status_code == 404


def test_a_label_is_given_and_changed_here_alone(webhooks: ServicePage) -> None:
    listed()
    webhooks.service.answers(200, json=wire.subscription())
    url = wire.subscription()["url"]
    for label, seen in (("Sales", "CRM"), ("", "Sales")):
        form = {"label": label, "seen_label": seen, "url": url, "events": "form.submitted"}
        done = webhooks.client.post(detail(), form, follow=True)
        assert "Label updated." in response_text(done)
        assert SubscriptionRecord.objects.get().label == label
    assert {request.content for request in webhooks.service.sent} == {b"{}"}, "it is only read"
    assert not Operation.objects.exists()


def test_an_overlong_label_stays_in_its_field(webhooks: ServicePage) -> None:
    listed()
    answer = webhooks.client.post(detail(), {"label": "x" * 121, "seen_label": "CRM"})
    assert answer.status_code == 422
    assert "x" * 121 in answer.text
    assert SubscriptionRecord.objects.get().label == "CRM"


def test_an_unlisted_subscription_has_a_page(as_administrator: Client, viewed: ServicePage) -> None:
    page = as_administrator.get(detail("whs/gone"))
    assert page.status_code == 404
    assert "/webhooks/?id=whs%2Fgone" in page.text
    assert "?id=" not in viewed.get(detail("whs/gone")).text
    assert viewed.service.sent == []
    prefilled = as_administrator.get("/webhooks/?id=whs%2Fgone")
    assert 'value="whs/gone"' in prefilled.text
