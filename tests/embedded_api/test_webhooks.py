"""Operation 9 over HTTP."""

from typing import Any

import pytest
from django.test import Client

from dashboard.contract.webhooks import EventName, WebhookSubscription
from dashboard.embedded_api.models import Subscription
from tests.support.embedded_api_factories import ago, make_subscription


@pytest.fixture
def subscription(db: None) -> Subscription:
    return make_subscription(updated_at=ago(days=1))


def patch(service: Client, subscription: Subscription, body: Any) -> Any:
    path = f"/v0/webhook_subscriptions/{subscription.id}"
    return service.patch(path, body, content_type="application/json")


def test_an_empty_body_reads_and_changes_nothing(
    service: Client, subscription: Subscription
) -> None:
    answer = patch(service, subscription, {})
    assert answer.status_code == 200
    assert WebhookSubscription.model_validate(answer.json()).to_wire() == {
        "subscriptionId": subscription.id,
        "url": subscription.url,
        "events": subscription.events,
        "active": True,
        "createdAt": subscription.created_at,
        "updatedAt": subscription.updated_at,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"active": False},
        {"url": "http://10.0.0.1:8080/hook?x=1"},
        {"url": "HTTPS://user:pass@[::1]/#here"},
        {"url": "https://acme.example/a%2Fb?c=%C3%A9#"},
        {"events": []},
        {"events": [event.value for event in EventName]},
        {"events": ["form.enriched"], "active": False},
    ],
)
def test_only_what_is_sent_changes(
    service: Client, subscription: Subscription, change: dict[str, Any]
) -> None:
    before = patch(service, subscription, {}).json()
    after = patch(service, subscription, change).json()
    assert after == {**before, **change, "updatedAt": after["updatedAt"]}
    assert after["updatedAt"] > before["updatedAt"]
    assert patch(service, subscription, {}).json() == after


def test_sending_what_already_is_leaves_updated_at(
    service: Client, subscription: Subscription
) -> None:
    same = {"active": True, "url": subscription.url, "events": subscription.events}
    assert patch(service, subscription, same).json()["updatedAt"] == subscription.updated_at


def test_null_events_stay_null_until_events_are_sent(service: Client) -> None:
    subscription = make_subscription(events=None)
    assert patch(service, subscription, {"active": False}).json()["events"] is None
    assert patch(service, subscription, {"events": []}).json()["events"] == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"url": None}, "url"),
        ({"url": "https://xn--/"}, "url"),
        ({"url": f"https://acme.example/{'x' * 2_000}"}, "url"),
        ({"events": None}, "events"),
        ({"active": None}, "active"),
        ({"active": "false"}, "active"),
        ({"active": 0}, "active"),
        ({"name": "x"}, "name"),
        ({"events": ["form.submitted", "form.submitted"]}, "events"),
        ({"events": ["form.deleted"]}, "events.0"),
        ({"events": "form.submitted"}, "events"),
        *[
            ({"url": url}, "url")
            for url in (
                "", " ", "acme.example", "/hook", "//acme.example", "ftp://acme.example",
                "https://", "https:///x", "http://:80", "https://a b.example", "https://a.example:0",
                "https://a.example:99999", "https://[::1", "javascript:alert(1)", "https://ü.example",
                "https://a.example/\n", "https://user@", "https://?x", "https://#x",
                "http://h/%zz", "http://h/%", "http://h/%2", "http://h/#a#b",
            )
        ],
    ],
)  # fmt: skip
def test_what_is_not_accepted_is_named_and_changes_nothing(
    service: Client, subscription: Subscription, body: dict[str, Any], path: str
) -> None:
    refused = patch(service, subscription, {"active": False, **body})
    assert refused.status_code == 422
    assert [error["path"] for error in refused.json()["errors"]] == [path]
    assert patch(service, subscription, {}).json()["active"] is True


def test_a_body_that_is_no_object_is_refused(service: Client, subscription: Subscription) -> None:
    for body in ("[]", "null", '"x"', "5"):
        assert patch(service, subscription, body).status_code == 422
