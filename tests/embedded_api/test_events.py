"""Events of versions are announced once, after they have become true, however late."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pydantic import TypeAdapter

from dashboard.contract.webhooks import EventName
from dashboard.embedded_api.event_payloads import FormEvent, VersionEvent
from dashboard.embedded_api.events import announce_due, payload_of
from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.models import Version, WebhookDelivery, WebhookEvent
from tests.embedded_api.conftest import Caller
from tests.support.at_once import at_once
from tests.support.clock import Clock
from tests.support.embedded_api_factories import (
    make_audience,
    make_page,
    make_subscription,
    make_version,
    other_tenant,
    publish_path,
)

EVERY = [name.value for name in EventName]
CREATED, PROCESSED, PUBLISHED = EVERY[:3]


@pytest.fixture
def version(db: None) -> Version:
    """A draft whose creation was announced before there was a subscription."""
    version = make_version()
    announce_due(timezone.now())
    make_subscription(events=EVERY)
    return version


def publish(service: Client, version: Version) -> None:
    answer = service.post(publish_path(version), {}, content_type="application/json")
    assert answer.status_code == 200


def deliveries() -> list[str]:
    """Return the names of the events to deliver, oldest first."""
    return [item.event.name for item in WebhookDelivery.objects.order_by("id")]


def test_publish_events_are_announced_once_live(
    service: Client, version: Version, clock: Clock
) -> None:
    publish(service, version)
    clock.advance(6.9)
    assert announce_due(timezone.now()) == 0
    clock.advance(0.2)
    assert announce_due(timezone.now()) == 2
    assert announce_due(timezone.now()) == 0
    assert deliveries() == [PROCESSED, PUBLISHED]


def test_late_publishes_are_announced_even_after_the_next(
    service: Client, version: Version, clock: Clock
) -> None:
    after = make_version(version.audience, 2)
    for item in (version, after, version):
        publish(service, item)
        clock.advance(86_400)
    announce_due(timezone.now())
    rows = WebhookEvent.objects.filter(name=PUBLISHED).order_by("occurred_at")
    assert [row.data["versionNumber"] for row in rows] == [1, 2, 1]
    assert deliveries().count(PUBLISHED) == 3


def test_a_canceled_publish_announces_nothing(
    service: Client, version: Version, clock: Clock
) -> None:
    after = make_version(version.audience, 2)
    publish(service, version)
    clock.advance(1)
    publish(service, after)
    clock.advance(60)
    announce_due(timezone.now())
    published = WebhookEvent.objects.filter(name=PUBLISHED)
    assert [row.version_id for row in published] == [after.id]


def test_one_that_was_processing_is_announced_before_the_next(
    service: Client, version: Version, clock: Clock
) -> None:
    after = make_version(version.audience, 2)
    publish(service, version)
    clock.advance(4)
    publish(service, after)
    clock.advance(60)
    announce_due(timezone.now())
    rows = WebhookEvent.objects.filter(name=PUBLISHED).order_by("occurred_at")
    assert [row.version_id for row in rows] == [version.id, after.id]


def test_publishing_again_what_is_live_announces_nothing_more(
    service: Client, version: Version, clock: Clock
) -> None:
    publish(service, version)
    clock.advance(10)
    publish(service, version)
    clock.advance(10)
    assert announce_due(timezone.now()) == 2


def test_a_created_version_is_announced(version: Version) -> None:
    make_version(version.audience, 2)
    announce_due(timezone.now())
    assert deliveries() == [CREATED]


def test_what_a_receiver_gets_is_as_documented(service: Client, version: Version) -> None:
    publish(service, version)
    row = WebhookEvent.objects.get(name=PUBLISHED)
    payload = payload_of(row)
    assert TypeAdapter(VersionEvent).validate_python(payload).to_wire() == payload
    assert payload["data"] == {
        "tenantId": version.tenant_id,
        "pageId": version.audience.page_id,
        "audienceId": version.audience_id,
        "versionId": version.id,
        "versionNumber": 1,
    }
    version.refresh_from_db()
    went_live = datetime.fromisoformat(payload["timestamp"])
    assert timedelta(0) < went_live - datetime.now(UTC) < timedelta(seconds=7.1)


@pytest.mark.parametrize(
    ("subscription", "count"),
    [
        ({"events": EVERY}, 1),
        ({"events": [CREATED]}, 1),
        ({"events": [PUBLISHED]}, 0),
        ({"events": []}, 0),
        ({"events": None}, 0),
        ({"events": EVERY, "active": False}, 0),
    ],
)
def test_active_subscriptions_that_list_an_event_get_it(
    db: None, subscription: dict[str, Any], count: int
) -> None:
    make_subscription(**subscription)
    make_version()
    announce_due(timezone.now())
    assert WebhookDelivery.objects.count() == count


def test_another_tenants_subscription_gets_nothing(db: None) -> None:
    make_subscription(events=EVERY, tenant=other_tenant())
    make_version()
    announce_due(timezone.now())
    assert deliveries() == []


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_of_several_workers_one_announces_an_event() -> None:
    make_subscription(events=EVERY)
    audience = make_audience()
    for number in range(10):
        make_version(audience, number)
    at_once(3, lambda _: announce_due(timezone.now()))
    announce_due(timezone.now())
    assert deliveries() == [CREATED] * 10


def send_form(service: Client, body: Any) -> Any:
    return service.post("/service/events/form", body, content_type="application/json")


def test_a_form_event_can_be_sent_for_trying(service: Client) -> None:
    make_subscription(events=["form.enriched"])
    audience = make_audience()
    body = {"event": "form.enriched", "pageId": audience.page_id, "audienceId": audience.id}
    answer = send_form(service, {**body, "formId": "form-1", "submissionId": "s-1"})
    assert answer.status_code == 202
    event = TypeAdapter(FormEvent).validate_python(answer.json())
    assert (event.type, event.data.form_id, event.data.submission_id) == (
        "form.enriched",
        "form-1",
        "s-1",
    )
    announce_due(timezone.now())
    assert deliveries() == ["form.enriched"]
    assert payload_of(WebhookEvent.objects.get(name="form.enriched")) == answer.json()


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"event": "page.version.created"}, "event"),
        ({"event": None}, "event"),
        ({"pageId": ""}, "pageId"),
        ({"formId": 1}, "formId"),
        ({"email": "ada@acme.example"}, "email"),
    ],
)
def test_a_form_event_that_is_not_valid_is_refused(
    service: Client, changed: dict[str, Any], path: str
) -> None:
    body = {"event": "form.submitted", "pageId": make_page().id}
    refused = send_form(service, {**body, **changed})
    assert refused.status_code == 422
    assert [error["path"] for error in refused.json()["errors"]] == [path]
    assert not WebhookEvent.objects.exists()


def test_a_form_event_needs_a_key_and_own_page(caller_of: Caller) -> None:
    body = {"event": "form.submitted", "pageId": make_page(tenant=default_tenant()).id}
    assert send_form(Client(), body).status_code == 401
    assert send_form(caller_of(other_tenant()), body).status_code == 404
    nowhere = {**body, "audienceId": make_audience().id}
    assert send_form(caller_of(), nowhere).status_code == 404
