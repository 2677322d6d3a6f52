"""The client against the embedded API, in process, as the dashboard calls it."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from dashboard.client import (
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    PublishingClient,
)
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import Page, PageRequest
from dashboard.contract.people import Person
from dashboard.contract.webhooks import SubscriptionPatch
from dashboard.embedded_api.models import Page as Row
from dashboard.embedded_api.transport import EmbeddedTransport
from tests.support.embedded_api_factories import (
    PAGE_BODY,
    ago,
    make_audience,
    make_conversation,
    make_live_version,
    make_page,
    make_person,
    make_subscription,
    make_version,
)

pytestmark = pytest.mark.django_db
GIVEN = (
    "action_form_id_override",
    "action_form_instructions_override",
    "action_url_override",
    "computed_name",
    "custom_name",
    "prospect_id",
    "prospect_route_key",
    "supplementary_context",
)
GIVEN_OF_PERSON = ("email", "domain", "slug", "phone_number", "linkedin_profile_url")
ODD_ID = "a/b%2F ü?#.."


@pytest.fixture
def client() -> Iterator[PublishingClient]:
    """The client, built as the dashboard builds its own."""
    base_url, api_key, transport = EmbeddedTransport.for_dashboard()
    with PublishingClient(base_url=base_url, api_key=api_key, transport=transport) as client:
        yield client


def test_a_page_is_created_got_and_listed(client: PublishingClient) -> None:
    created = client.pages.create(PageRequest.model_validate(PAGE_BODY))
    assert client.pages.get(created.page_id) == created
    listed = client.pages.list()
    assert [page.page_id for page in listed.items] == [created.page_id]
    assert listed.unreadable == ()


def test_pages_are_walked_by_cursor(client: PublishingClient) -> None:
    created = {make_page().id for _ in range(3)}
    first = client.pages.list(limit=2)
    rest = client.pages.list(cursor=first.next_cursor, limit=2)
    assert {page.page_id for page in (*first.items, *rest.items)} == created
    assert (first.has_more, rest.has_more, rest.next_cursor) == (True, False, None)


@pytest.mark.parametrize("odd", [ODD_ID, ".", "..", "a\nb", "%2F", "🎈"])
def test_audiences_versions_and_messages_are_found_by_any_id(
    client: PublishingClient, odd: str
) -> None:
    audience = make_audience(make_page(id=odd), id=odd)
    version = make_version(audience, id=odd)
    make_conversation(audience)
    assert client.pages.get(odd).page_id == odd
    assert [item.audience_id for item in client.audiences.list(odd).items] == [odd]
    published = client.audiences.publish(odd, odd, odd, operation_key="key")
    assert (published.version_id, published.status) == (version.id, "queued")
    assert client.audiences.publish(odd, odd, odd, operation_key="key") == published
    assert client.audiences.messages(odd, odd).conversation.audience_id == odd


def unknown_names(thing: object) -> Iterator[str]:
    """Yield each name in a response that the contract lacks."""
    if isinstance(thing, BaseModel):
        yield from thing.model_extra or ()
        for _, value in thing:
            yield from unknown_names(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from unknown_names(value)


def test_every_name_in_a_response_is_in_the_contract(client: PublishingClient) -> None:
    metadata = {"title": "Fleets", "ogImageUrl": "https://kestrel.example/og.png"}
    page = make_page(metadata=metadata, header_action_id="act_1")
    audience = make_audience(
        page,
        **dict.fromkeys(GIVEN, "given"),
        archived_at=ago(days=1),
        metadata_override={"robots": ["noindex"]},
    )
    make_live_version(audience, supplementary_context="For carriers.")
    make_conversation(audience)
    make_person("Ada", **dict.fromkeys(GIVEN_OF_PERSON, "given"))
    people, audiences = client.people.list(), client.audiences.list(page.id)
    answers: list[BaseModel] = [
        client.pages.list(),
        client.pages.get(page.id),
        audiences,
        client.audiences.messages(page.id, audience.id),
        people,
        client.webhook_subscriptions.update(make_subscription().id, SubscriptionPatch()),
    ]
    assert [*unknown_names(answers)] == []
    # And every optional field is present under its own name.
    assert audiences.items[0].model_fields_set == set(Audience.model_fields)
    assert people.items[0].model_fields_set == set(Person.model_fields)
    assert client.pages.get(page.id).model_fields_set == set(Page.model_fields)


def test_numbers_go_out_as_they_came_in(client: PublishingClient) -> None:
    """Including numbers that need more than 64 bits."""
    robots = [2**70, 0.1, "noindex"]
    body = {**PAGE_BODY, "metadata": {"robots": robots}}
    page = client.pages.create(PageRequest.model_validate(body))
    make_audience(Row.objects.get(pk=page.page_id))
    seen = [
        page.metadata,
        client.pages.get(page.page_id).metadata,
        client.audiences.list(page.page_id).items[0].effective_metadata,
    ]
    assert [metadata and metadata.robots for metadata in seen] == [robots] * 3


def test_people_are_listed_and_searched(client: PublishingClient) -> None:
    ada, _ = make_person("Ada Lovelace"), make_person("Émile Zola")
    assert client.people.list(limit=1).total_count == 2
    assert [person.person_id for person in client.people.search(query="LOVE").items] == [
        ada.person_id
    ]


def test_an_empty_patch_reads_a_subscription(client: PublishingClient) -> None:
    row = make_subscription()
    read = client.webhook_subscriptions.update(row.id, SubscriptionPatch())
    assert (read.updated_at, read.active) == (row.updated_at, True)
    changed = client.webhook_subscriptions.update(row.id, SubscriptionPatch(active=False))
    assert changed.active is False


def test_refusals_arrive_as_errors_that_help(client: PublishingClient) -> None:
    with pytest.raises(NotFoundError, match="Page not found"):
        client.pages.get("nothing")
    cancelled = make_version(cancelled_at=ago(hours=1))
    page_id, audience_id = cancelled.audience.page_id, cancelled.audience_id
    with pytest.raises(ConflictError, match="canceled"):
        client.audiences.publish(page_id, audience_id, cancelled.id)
    with pytest.raises(InvalidRequestError) as refusal:
        client.webhook_subscriptions.update(make_subscription().id, SubscriptionPatch(url="x"))
    assert [problem.path for problem in refusal.value.problems] == ["url"]


def test_a_wrong_key_is_refused() -> None:
    base_url, _, transport = EmbeddedTransport.for_dashboard()
    client = PublishingClient(base_url=base_url, api_key="wrong", transport=transport)
    with pytest.raises(AuthenticationError):
        client.people.list()
