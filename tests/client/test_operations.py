"""The nine operations: what each sends, and that its response is read."""

import json
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dashboard.client import PublishingClient
from dashboard.contract.webhooks import SubscriptionPatch
from tests.support import wire
from tests.support.api_clients import KEY, PAGE_REQUEST, client_answering


class Recorder:
    """A service that records requests and responds with what the operation needs."""

    def __init__(self, answer: dict[str, Any], status_code: int = 200, **options: Any) -> None:
        self.sent: list[httpx.Request] = []
        self.answer = answer
        self.status_code = status_code
        self.client = client_answering(self, **options)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return httpx.Response(self.status_code, json=self.answer)

    @property
    def line(self) -> str:
        (request,) = self.sent
        return f"{request.method} {request.url.raw_path.decode()}"

    @property
    def body(self) -> Any:
        return json.loads(self.sent[0].content)


def test_pages_are_listed() -> None:
    service = Recorder(wire.envelope(wire.page()))
    assert service.client.pages.list(cursor="c/2", limit=20).items[0].page_id == "page_1"
    assert service.line == "GET /v0/pages?cursor=c%2F2&limit=20"


def test_a_page_is_created_with_a_default_type() -> None:
    service = Recorder(wire.page(pageType="inbound"), status_code=201)
    assert service.client.pages.create(PAGE_REQUEST).page_type == "inbound"
    assert service.line == "POST /v0/pages"
    assert service.body == {
        "actions": [],
        "actionCardWidgets": [],
        "brandId": "brand_1",
        "name": "Fleet telematics",
        "pageContext": "For regional carriers.",
        "pageType": "inbound",
        "scripts": [],
    }


def test_a_chosen_page_type_is_sent() -> None:
    service = Recorder(wire.page(), status_code=201)
    service.client.pages.create(PAGE_REQUEST.model_copy(update={"page_type": "custom"}))
    assert service.body["pageType"] == "custom"


def test_a_page_is_fetched() -> None:
    service = Recorder(wire.page())
    assert service.client.pages.get("page_1").name == "Fleet telematics"
    assert service.line == "GET /v0/pages/page_1"


def test_audiences_are_listed() -> None:
    service = Recorder(wire.envelope(wire.audience()))
    assert service.client.audiences.list("page_1").items[0].name == "Brightwater Foods"
    assert service.line == "GET /v0/pages/page_1/audiences"


@pytest.mark.parametrize(("key", "body"), [(None, {}), ("op-1", {"operationKey": "op-1"})])
def test_a_version_is_published(key: str | None, body: dict[str, str]) -> None:
    service = Recorder(wire.version(status="queued"))
    version = service.client.audiences.publish("page_1", "aud_1", "ver_2", operation_key=key)
    assert version.status == "queued"
    assert service.line == "POST /v0/pages/page_1/audiences/aud_1/versions/ver_2/publish"
    assert (service.body, service.sent[0].headers["content-type"]) == (body, "application/json")


@pytest.mark.parametrize("key", ["", "k" * 129])
def test_a_key_of_wrong_length_is_not_sent(key: str) -> None:
    service = Recorder(wire.version())
    with pytest.raises(ValidationError):
        service.client.audiences.publish("page_1", "aud_1", "ver_2", operation_key=key)
    assert service.sent == []


def test_a_conversation_is_read() -> None:
    service = Recorder(wire.conversation())
    conversation = service.client.audiences.messages("page_1", "aud_1")
    assert conversation.conversation.conversation_id == "conv_1"
    assert service.line == "GET /v0/pages/page_1/audiences/aud_1/messages"


def test_people_are_listed() -> None:
    service = Recorder(wire.envelope(wire.person()))
    assert service.client.people.list().items[0].name == "Ada Lovelace"
    assert service.line == "GET /v0/persons"


def test_a_people_search_sends_only_its_parameters() -> None:
    service = Recorder(wire.envelope(wire.person()))
    service.client.people.search(query="ada & co?")
    assert service.line == "GET /v0/persons/search?query=ada+%26+co%3F"


@pytest.mark.parametrize(
    ("patch", "body"),
    [
        (SubscriptionPatch(), {}),
        (SubscriptionPatch(active=False), {"active": False}),
        (
            SubscriptionPatch(url="https://a.example", events=[]),
            {"url": "https://a.example", "events": []},
        ),
    ],
)
def test_a_subscription_is_patched_with_what_is_set(
    patch: SubscriptionPatch, body: dict[str, Any]
) -> None:
    service = Recorder(wire.subscription())
    assert service.client.webhook_subscriptions.update("whs_1", patch).active is True
    assert (service.line, service.body) == ("PATCH /v0/webhook_subscriptions/whs_1", body)


def test_there_are_nine_operations_and_no_more() -> None:
    client = client_answering(lambda request: httpx.Response(200))
    resources = (client.pages, client.audiences, client.people, client.webhook_subscriptions)
    names = [name for resource in resources for name in dir(resource) if not name.startswith("_")]
    assert names == [
        *("create", "get", "list"),
        *("list", "messages", "publish"),
        *("list", "search"),
        "update",
    ]


def test_each_request_carries_the_key_and_asks_for_json() -> None:
    service = Recorder(wire.page())
    service.client.pages.get("page_1")
    headers = service.sent[0].headers
    assert (headers["x-api-key"], headers["accept"]) == (KEY, "application/json")
    assert headers["user-agent"] == "Pressroom"


@pytest.mark.parametrize(
    "name", ["/", "?", "#", "%", "%2F", "a b", "🙂", "..", ".", "...", "a/../b", "é\n", "+&=;"]
)
def test_an_identifier_arrives_as_it_is(name: str) -> None:
    service = Recorder(wire.conversation())
    service.client.audiences.messages(name, name)
    *_, page, _, audience, last = service.sent[0].url.raw_path.decode().split("/")
    assert (unquote(page), unquote(audience), last) == (name, name, "messages")
    assert {page, audience} & {".", ".."} == set()


@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
def test_any_three_identifiers_arrive_as_they_are(page: str, audience: str, version: str) -> None:
    service = Recorder(wire.version())
    service.client.audiences.publish(page, audience, version)
    segments = service.sent[0].url.raw_path.decode("ascii").split("/")
    assert [unquote(segment) for segment in segments[3:9:2]] == [page, audience, version]


def test_the_base_urls_path_is_first() -> None:
    service = Recorder(wire.page())
    client = client_answering(service, base_url="http://service.example/tenant%201/api")
    client.pages.get("..")
    assert service.line == "GET /tenant%201/api/v0/pages/%2E%2E"


def test_lone_surrogates_break_nothing() -> None:
    service = Recorder(wire.envelope())
    service.client.people.search(query="a\ud800b", cursor="\udfff")
    assert service.line == "GET /v0/persons/search?query=a%EF%BF%BDb&cursor=%EF%BF%BD"


@pytest.mark.parametrize(
    ("address", "arrives_at"),
    [
        ("http://service.example", "http://service.example/v0/pages"),
        ("http://service.example/", "http://service.example/v0/pages"),
        ("https://service.example:8443/eu", "https://service.example:8443/eu/v0/pages"),
        ("http://[::1]:8000/eu/#top", "http://[::1]:8000/eu/v0/pages"),
    ],
)
def test_paths_are_below_the_services_path(address: str, arrives_at: str) -> None:
    service = Recorder(wire.envelope(), base_url=address)
    service.client.pages.list()
    assert str(service.sent[0].url) == arrives_at


def test_credentials_in_the_address_are_sent_with_the_key() -> None:
    service = Recorder(wire.envelope(), base_url="http://me:s%C3%A9cret@service.example")
    service.client.pages.list()
    headers = service.sent[0].headers
    assert (headers["authorization"], headers["x-api-key"]) == ("Basic bWU6c8OpY3JldA==", KEY)


def test_a_cookie_is_never_sent_back() -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json=wire.page(), headers={"set-cookie": "session=1; Path=/"})

    client = client_answering(answer)
    client.pages.get("page_1")
    client.pages.get("page_1")
    assert "cookie" not in sent[1].headers


def test_the_client_closes_with_its_block() -> None:
    with client_answering(lambda request: httpx.Response(200, json=wire.page())) as client:
        assert isinstance(client, PublishingClient)
    with pytest.raises(RuntimeError, match="closed"):
        client.pages.get("page_1")
