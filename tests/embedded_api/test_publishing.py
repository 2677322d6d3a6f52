"""Operation 5 over HTTP."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion
from dashboard.embedded_api.models import OperationKey, Version
from tests.support.clock import Clock
from tests.support.embedded_api_factories import (
    ago,
    make_audience,
    make_conversation,
    make_live_version,
    make_page,
    make_version,
    publish_path,
)

WHILE_S = 0.5
"""Duration of a state in seconds."""


@pytest.fixture
def no_delays(settings: Any) -> None:
    """Published versions are live at once."""
    settings.EMBEDDED_API_QUEUE_S = settings.EMBEDDED_API_PROCESSING_S = 0


@pytest.fixture
def delays(settings: Any) -> None:
    settings.EMBEDDED_API_QUEUE_S = settings.EMBEDDED_API_PROCESSING_S = WHILE_S


def publish(service: Client, version: Version, key: str | None = None) -> Any:
    body = {} if key is None else {"operationKey": key}
    return service.post(publish_path(version), body, content_type="application/json")


def audience_of(service: Client, version: Version) -> dict[str, Any]:
    path = f"/v0/pages/{version.audience.page_id}/audiences"
    return dict(service.get(path).json()["items"][0])


def states_until_live(service: Client, version: Version, clock: Clock) -> Iterator[str]:
    """Read the audience until its latest version is live, and yield each status once."""
    last = ""
    for _ in range(100):
        status = audience_of(service, version)["latestVersion"]["status"]
        if status != last:
            last = status
            yield status
        if status == "published":
            break
        clock.advance(WHILE_S / 10)


@pytest.mark.usefixtures("delays")
def test_a_draft_goes_live_as_time_passes(service: Client, clock: Clock) -> None:
    before = make_live_version(number=1)
    version = make_version(before.audience, 2)
    answer = AudienceVersion.model_validate(publish(service, version).json())
    assert (answer.status, answer.queue_duration_ms) == ("queued", None)
    assert answer.queued_at is not None
    states = list(states_until_live(service, version, clock))
    assert states == ["queued", "processing", "published"]
    live = audience_of(service, version)["publishedVersion"]
    assert (live["versionId"], live["queueDurationMs"]) == (version.id, 1000 * WHILE_S)
    assert live["queuedAt"] == answer.queued_at < live["publishedAt"]
    retired = publish_again_unseen(service, before)
    assert retired["obsoleteAt"] == retired["archivedAt"] == live["publishedAt"]


def publish_again_unseen(service: Client, version: Version) -> dict[str, Any]:
    """Read a version by repeating an operation key that was used for it, which changes nothing."""
    OperationKey.objects.create(tenant=version.tenant, key="look", version=version)
    return dict(publish(service, version, "look").json())


def test_a_draft_page_is_published_with_its_first_version(
    service: Client, settings: Any, clock: Clock
) -> None:
    settings.EMBEDDED_API_QUEUE_S, settings.EMBEDDED_API_PROCESSING_S = WHILE_S, 0
    version = make_version()
    path = f"/v0/pages/{version.audience.page_id}"
    draft = service.get(path).json()
    publish(service, version)
    assert service.get(path).json() == draft
    assert list(states_until_live(service, version, clock))[-1] == "published"
    live = audience_of(service, version)["publishedVersion"]
    assert service.get(path).json() == {
        **draft,
        "status": "published",
        "updatedAt": live["publishedAt"],
    }


@pytest.mark.usefixtures("no_delays")
def test_an_archived_page_stays_archived(service: Client) -> None:
    version = make_version(make_audience(make_page(archived_at=ago(days=1))))
    path = f"/v0/pages/{version.audience.page_id}"
    before = service.get(path).json()
    assert publish(service, version).json()["status"] == "published"
    assert service.get(path).json() == before


@pytest.mark.usefixtures("no_delays")
def test_without_delays_it_is_live_in_the_answer(service: Client) -> None:
    version = make_version()
    answer = publish(service, version).json()
    assert (answer["status"], answer["queueDurationMs"]) == ("published", 0)
    assert audience_of(service, version)["publishedVersion"] == answer


def test_a_newer_wish_cancels_what_is_queued(service: Client) -> None:
    first = make_version(number=1)
    second = make_version(first.audience, 2)
    publish(service, first, "one")
    publish(service, second)
    cancelled = publish(service, first, "one").json()
    assert cancelled["status"] == "cancelled"
    assert cancelled["cancelledAt"] is not None
    refused = publish(service, first)
    assert refused.status_code == 409
    assert "canceled" in refused.json()["detail"]


def test_a_page_follows_the_wish_that_was_not_cancelled(service: Client) -> None:
    first = make_version(number=1)
    second = make_version(first.audience, 2)
    publish(service, first)
    publish(service, second)
    second.refresh_from_db()
    page = first.audience.page
    page.refresh_from_db()
    assert page.published_at == second.published_at


@pytest.mark.usefixtures("no_delays")
def test_the_same_key_acts_once(service: Client) -> None:
    first = make_version(number=1)
    second = make_version(first.audience, 2)
    once = publish(service, first, "key").json()
    publish(service, second)
    again = publish(service, first, "key")
    assert again.status_code == 200
    assert (once["status"], again.json()["status"]) == ("published", "archived")
    assert audience_of(service, first)["publishedVersion"]["versionId"] == second.id


def test_a_reused_key_is_a_conflict(service: Client) -> None:
    first, second = make_version(), make_version()
    publish(service, first, "key")
    refused = publish(service, second, "key")
    assert refused.status_code == 409
    assert "another version" in refused.json()["detail"]
    assert audience_of(service, second)["latestVersion"]["status"] == "draft"


def test_a_key_that_met_a_refusal_is_not_spent(service: Client) -> None:
    cancelled = make_version(cancelled_at=ago(hours=1))
    assert publish(service, cancelled, "key").status_code == 409
    assert publish(service, make_version(), "key").json()["status"] == "queued"


@pytest.mark.parametrize("dates", [{}, {"became_draft_at": None}, {"archived_at": ago(hours=1)}])
def test_any_version_but_a_cancelled_one_can_be_published(
    service: Client, dates: dict[str, Any]
) -> None:
    assert publish(service, make_version(**dates)).json()["status"] == "queued"


@pytest.mark.parametrize("body", ["", "{}"])
def test_the_body_may_be_left_out(service: Client, body: str) -> None:
    version = make_version()
    content_type = "application/json" if body else ""
    answer = service.generic("POST", publish_path(version), body, content_type=content_type)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"operationKey": ""}, "operationKey"),
        ({"operationKey": "x" * 129}, "operationKey"),
        ({"operationKey": None}, "operationKey"),
        ({"operationKey": 1}, "operationKey"),
        ({"operationKey": "a\0"}, "operationKey"),
        ({"operation_key": "x"}, "operation_key"),
        ({"version": 1}, "version"),
    ],
)
def test_a_body_that_is_not_accepted_publishes_nothing(
    service: Client, body: dict[str, Any], path: str
) -> None:
    version = make_version()
    refused = service.post(publish_path(version), body, content_type="application/json")
    assert refused.status_code == 422
    assert [error["path"] for error in refused.json()["errors"]] == [path]
    assert audience_of(service, version)["latestVersion"]["status"] == "draft"


@pytest.mark.parametrize("key", ["x", "🎈" * 128, " ", "a/b?c#d%00", "'; DROP TABLE"])
def test_a_key_of_any_characters_is_stored(service: Client, key: str) -> None:
    version = make_version()
    answers = [publish(service, version, key).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert OperationKey.objects.get().key == key


def test_a_version_belongs_to_its_page_and_audience(service: Client) -> None:
    version, other = make_version(), make_version()
    page, audience = version.audience.page_id, version.audience_id
    for wrong in (
        (other.audience.page_id, audience, version.id),
        (page, other.audience_id, version.id),
        (page, audience, other.id),
        (page, audience, "nothing"),
    ):
        path = "/v0/pages/{}/audiences/{}/versions/{}/publish".format(*wrong)
        assert service.post(path, {}, content_type="application/json").status_code == 404


def published_message(service: Client, version: Version) -> str | None:
    path = f"/v0/pages/{version.audience.page_id}/audiences/{version.audience_id}/messages"
    conversation: dict[str, Any] = service.get(path).json()["conversation"]
    return conversation.get("publishedMessageId")


@pytest.mark.usefixtures("delays")
def test_the_published_message_moves_when_a_version_goes_live(
    service: Client, clock: Clock
) -> None:
    before = make_live_version(number=1, created_at=ago(hours=9))
    version = make_version(before.audience, 2, created_at=ago(hours=3))
    sent = [(timezone.now() - timedelta(hours=hours)).timestamp() * 1000 for hours in (10, 4, 2)]
    messages = [{"messageId": f"msg_{hours}", "timestamp": hours} for hours in sent]
    make_conversation(before.audience, messages=messages)
    first, second, _ = (message["messageId"] for message in messages)
    assert published_message(service, version) == first
    publish(service, version)
    assert published_message(service, version) == first
    clock.advance(3 * WHILE_S)
    assert published_message(service, version) == second
    publish(service, before)
    clock.advance(3 * WHILE_S)
    assert published_message(service, version) == first


def test_messages_without_time_or_id_are_not_the_marker(service: Client) -> None:
    version = make_live_version()
    untimed = [{"messageId": "msg_1"}, {"timestamp": 1.7e9}, {"messageId": "x", "timestamp": 1e300}]
    make_conversation(version.audience, messages=untimed)
    assert published_message(service, version) is None
