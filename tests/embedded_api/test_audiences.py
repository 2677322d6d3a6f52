"""Operations 4 and 6 over HTTP."""

from typing import Any

import pytest
from django.test import Client

from dashboard.contract.audiences import Audience
from dashboard.contract.conversations import Conversation
from dashboard.contract.resource import ListEnvelope
from dashboard.embedded_api import models
from tests.support.embedded_api_factories import (
    ago,
    make_audience,
    make_conversation,
    make_live_version,
    make_page,
    make_version,
)


def audiences_of(service: Client, page: models.Page) -> ListEnvelope[Audience]:
    return ListEnvelope[Audience].model_validate(
        service.get(f"/v0/pages/{page.id}/audiences").json()
    )


def test_audiences_come_newest_first_with_their_versions(service: Client) -> None:
    page = make_page()
    older = make_audience(page, created_at=ago(days=3))
    newer = make_audience(page, created_at=ago(days=2))
    live = make_live_version(older, 1)
    latest = make_version(older, 2)
    first, second = audiences_of(service, page).items
    assert [first.audience_id, second.audience_id] == [newer.id, older.id]
    assert first.latest_version is first.published_version is None
    assert second.latest_version is not None
    assert second.published_version is not None
    assert second.latest_version.version_id == latest.id
    assert second.published_version.version_id == live.id


def test_a_retired_version_is_not_the_published_one(service: Client) -> None:
    audience = make_audience()
    retired = ago(minutes=5)
    make_live_version(audience, 1, obsolete_at=retired, archived_at=retired)
    live = make_live_version(audience, 2)
    (item,) = audiences_of(service, audience.page).items
    assert item.published_version is not None
    assert item.published_version.version_id == live.id


def test_effective_values_follow_from_what_overrides_what(service: Client) -> None:
    page = make_page(metadata={"title": "Page", "author": "A"})
    override = {"title": "Audience"}
    make_audience(page, computed_name="Acme", created_at=ago(days=1), metadata_override=override)
    make_audience(page, computed_name="Acme", custom_name="The big one")
    custom, computed = audiences_of(service, page).items
    assert (computed.effective_name, custom.effective_name) == ("Acme", "The big one")
    assert computed.effective_metadata is not None
    assert computed.effective_metadata.to_wire() == {"title": "Audience", "author": "A"}


@pytest.mark.parametrize(
    ("of_page", "override", "effective"),
    [
        (None, None, None),
        ({}, None, None),
        ({}, {}, None),
        ({"title": "Page"}, None, {"title": "Page"}),
        ({"title": "Page"}, {}, {"title": "Page"}),
        ({"title": "Page"}, {"title": None}, {"title": None}),
        (None, {"title": "Audience"}, {"title": "Audience"}),
    ],
)
def test_metadata_is_overlaid_by_the_override(
    service: Client, of_page: Any, override: Any, effective: Any
) -> None:
    audience = make_audience(make_page(metadata=of_page), metadata_override=override)
    (item,) = service.get(f"/v0/pages/{audience.page_id}/audiences").json()["items"]
    assert (item.get("effectiveMetadata"), item.get("metadataOverride")) == (effective, override)


def test_fields_without_a_value_are_absent(service: Client) -> None:
    audience = make_audience()
    (item,) = service.get(f"/v0/pages/{audience.page_id}/audiences").json()["items"]
    assert item == {
        "audienceId": audience.id,
        "pageId": audience.page_id,
        "tenantId": audience.tenant_id,
        "createdAt": audience.created_at,
        "isNewPageAgent": False,
    }


def test_changes_since_the_last_look_are_shown(service: Client) -> None:
    page = make_page(metadata={"title": "Page"})
    audience = make_audience(page, computed_name="Acme")
    (before,) = audiences_of(service, page).items
    version = make_live_version(audience)
    models.Audience.objects.update(custom_name="The big one")
    models.Page.objects.update(metadata={"title": "Another"})
    (after,) = audiences_of(service, page).items
    assert (before.effective_name, before.latest_version) == ("Acme", None)
    assert after.effective_name == "The big one"
    assert after.effective_metadata is not None
    assert after.effective_metadata.title == "Another"
    assert after.published_version is not None
    assert after.published_version.version_id == version.id


def test_four_hundred_audiences_take_four_queries(
    service: Client, django_assert_num_queries: Any
) -> None:
    page = make_page()
    rows = [models.Audience(tenant=page.tenant, page=page) for _ in range(400)]
    models.Audience.objects.bulk_create(rows)
    for number in (1, 2, 3):
        models.Version.objects.bulk_create(
            models.Version(tenant=page.tenant, audience=row, version_number=number) for row in rows
        )
    with django_assert_num_queries(4):  # the key, the page, the audiences, the versions
        audiences = audiences_of(service, page)
    numbers = {
        item.latest_version.version_number for item in audiences.items if item.latest_version
    }
    assert (len(audiences.items), audiences.total_count, numbers) == (400, 400, {3})


def test_beyond_a_thousand_the_response_has_more(service: Client) -> None:
    page = make_page()
    models.Audience.objects.bulk_create(
        models.Audience(tenant=page.tenant, page=page) for _ in range(1_003)
    )
    audiences = audiences_of(service, page)
    assert (len(audiences.items), audiences.total_count, audiences.has_more) == (1_000, 1_003, True)
    assert audiences.next_cursor is None


def test_a_conversation_includes_the_current_state(service: Client) -> None:
    page = make_page(page_context="Trucks", metadata={"title": "T", "description": "D"})
    audience = make_audience(
        page, supplementary_context="More", metadata_override={"keywords": ["a", "b"], "title": "U"}
    )
    change = {"changeId": "chg_1", "previousValue": "T", "newValue": "V"}
    make_live_version(audience)
    row = make_conversation(audience, pending_changes=[change])
    answer = service.get(f"/v0/pages/{page.id}/audiences/{audience.id}/messages")
    conversation = Conversation.model_validate(answer.json())
    assert conversation.conversation.published_message_id == "msg_1"
    assert conversation.conversation.conversation_id == row.id
    assert [message.message_id for message in conversation.messages] == ["msg_1"]
    assert conversation.pending_changes[0].to_wire() == change
    assert conversation.context.to_wire() == {
        "audienceId": audience.id,
        "pageId": page.id,
        "tenantId": page.tenant_id,
        "currentSupplementaryContext": "More",
        "currentMetaTitle": "U",
        "currentMetaDescription": "D",
        "currentMetaKeywords": "a, b",
        "pageContext": "Trucks",
    }


@pytest.mark.parametrize("has_audience", [True, False])
def test_no_conversation_differs_from_no_audience(service: Client, *, has_audience: bool) -> None:
    audience = make_audience()
    audience_id = audience.id if has_audience else "elsewhere"
    answer = service.get(f"/v0/pages/{audience.page_id}/audiences/{audience_id}/messages")
    assert answer.status_code == 404
    assert ("no conversation" in answer.json()["detail"]) is has_audience


def test_an_audience_is_only_found_on_its_page(service: Client) -> None:
    conversation = make_conversation()
    path = f"/v0/pages/{make_page().id}/audiences/{conversation.audience_id}/messages"
    assert service.get(path).status_code == 404
