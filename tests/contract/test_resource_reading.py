"""Any JSON value in any field loses only that field or item."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.client.errors import InvalidResponseError
from dashboard.client.response_parsing import parse_response
from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.conversations import Conversation
from dashboard.contract.pages import Page, PageItem
from dashboard.contract.people import Person
from dashboard.contract.resource import ListEnvelope, Resource
from dashboard.contract.webhooks import WebhookSubscription
from tests.support import examples, wire

AUDIENCES = wire.envelope(examples.AUDIENCE, wire.audience())
RESPONSES: list[tuple[type[Resource], dict[str, Any]]] = [
    (Page, examples.PAGE),
    (ListEnvelope[PageItem], wire.envelope(examples.PAGE, wire.page())),
    (ListEnvelope[Audience], AUDIENCES),
    (ListEnvelope[Person], wire.envelope(examples.PERSON, wire.person(), nextCursor="c2")),
    (AudienceVersion, examples.VERSION),
    (Conversation, examples.CONVERSATION),
    (WebhookSubscription, examples.SUBSCRIPTION),
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def read(model: type[Resource], data: Any) -> Any:
    return parse_response(json.dumps(data).encode(), status_code=200, model=model)


def places(data: Any, *path: int | str) -> Iterator[tuple[int | str, ...]]:
    """Yield the path of every nested value."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield *path, key
        if isinstance(value, dict | list):
            yield from places(value, *path, key)


def put(data: Any, path: tuple[int | str, ...], value: Any) -> Any:
    """Return a copy with another value at the path."""
    changed = json.loads(json.dumps(data))
    parent = changed
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return changed


def received(response: Any) -> Any:
    """Return the received JSON, reassembled from the read and the unreadable parts."""
    if not isinstance(response, ListEnvelope):
        return response.as_received()
    items = [item.as_received() for item in response.items]
    for item in response.unreadable_items:
        items.insert(item.index, item.raw)
    return response.as_received() | {"items": items}


@given(st.data())
def test_an_odd_value_costs_only_its_field_or_item(data: st.DataObject) -> None:
    model, good = data.draw(st.sampled_from(RESPONSES))
    path = data.draw(st.sampled_from(list(places(good))))
    odd = put(good, path, data.draw(json_values))
    try:
        response = read(model, odd)
    except InvalidResponseError as error:
        failure = error
    else:
        assert_lost_only(path, response, odd)
        return
    assert failure.path.split(".")[0] == path[0]


def assert_lost_only(path: tuple[int | str, ...], response: Any, odd: Any) -> None:
    """Check that everything else was read, and that no unreadable part is lost."""
    assert received(response) == odd
    lost = [value.location for value in response.unreadable]
    for index, item in enumerate(response.items if isinstance(response, ListEnvelope) else ()):
        lost += [("items", index, *value.location) for value in item.unreadable]
    # Each lost part contains the odd value or is inside it.
    assert [place for place in lost if any(a != b for a, b in zip(place, path, strict=False))] == []


@given(st.sampled_from(list(places(examples.CONVERSATION))), json_values)
def test_a_conversation_is_never_lost_to_one_value(path: tuple[Any, ...], value: Any) -> None:
    read(Conversation, put(examples.CONVERSATION, path, value))


TRACES = {
    "arguments as JSON text": ("messages.0.toolCalls.0.arguments", '{"q": "x"}'),
    "arguments as other text": ("messages.0.toolCalls.0.arguments", "q=x"),
    "arguments as a list": ("messages.0.toolCalls.0.arguments", ["x"]),
    "a date as timestamp": ("messages.0.timestamp", "2026-11-02T10:00:00Z"),
    "an object as error": ("messages.0.toolCalls.0.error", {"code": 7}),
    "content as parts": ("messages.0.content", [{"type": "text", "text": "Hello"}]),
    "a part that is text": ("messages.0.contentParts.0", "Hello"),
    "a message that is text": ("messages.0", "Hello"),
    "a call that is text": ("messages.0.toolCalls.0", "search(x)"),
    "a change without text": ("messages.0.changes.0.previousValue", 4),
    "pending changes that are none": ("pendingChanges", None),
    "a context that is a list": ("context", []),
}


@pytest.mark.parametrize("name", TRACES)
def test_only_the_odd_part_of_a_trace_is_lost(name: str) -> None:
    path, value = TRACES[name]
    steps = tuple(int(step) if step.isdigit() else step for step in path.split("."))
    conversation = read(Conversation, put(examples.CONVERSATION, steps, value))
    assert [(item.path, item.raw) for item in conversation.unreadable] == [(path, value)]
    assert len(conversation.messages) == len(examples.CONVERSATION["messages"])


@pytest.mark.parametrize("name", ["conversation", "messages", "context", "pendingChanges"])
def test_a_conversation_without_a_required_field_is_refused(name: str) -> None:
    data = {key: value for key, value in examples.CONVERSATION.items() if key != name}
    with pytest.raises(InvalidResponseError) as caught:
        read(Conversation, data)
    assert caught.value.path == name


@pytest.mark.parametrize("number", [-9223372036854775809, -1e30, 2**70])
def test_an_audience_with_an_unreadable_version_is_set_aside(number: float) -> None:
    # Without that version the audience would seem to have no draft, or not to be live.
    for field in ("latestVersion", "publishedVersion"):
        odd = wire.audience(**{field: wire.version(versionNumber=number)})
        response = read(ListEnvelope[Audience], wire.envelope(odd, wire.audience(audienceId="b")))
        (item,) = response.unreadable_items
        assert (item.name, item.path) == ("Brightwater Foods", f"items.0.{field}.versionNumber")
        assert [audience.audience_id for audience in response.items] == ["b"]


def test_what_was_set_aside_outlives_the_ledger() -> None:
    odd = wire.page(actions=[{"url": 3}, 7], metadata={"title": 4, "keywords": ["a", 5, "b"]})
    page = read(Page, odd)
    again = PageItem.from_json(page.to_json())
    assert again.as_received() == odd
    assert [value.path for value in again.unreadable] == [value.path for value in page.unreadable]
