"""The list envelope, also with unreadable items."""

from typing import Any

import pytest
from pydantic import ValidationError

from dashboard.contract.pages import PageItem
from dashboard.contract.people import Person
from dashboard.contract.resource import ListEnvelope, problem_path, read_resource
from tests.support.examples import PAGE, PERSON
from tests.support.wire import envelope


def test_a_list_is_read_with_its_cursor() -> None:
    response = ListEnvelope[Person].model_validate(envelope(PERSON, hasMore=True, nextCursor="c2"))
    assert (response.has_more, response.total_count, response.next_cursor) == (True, 1, "c2")
    assert response.items[0].email == "ingrid@halden.example"


@pytest.mark.parametrize("cursor", [{}, {"nextCursor": None}])
def test_a_list_may_have_no_cursor(cursor: dict[str, None]) -> None:
    assert ListEnvelope[Person].model_validate(envelope(**cursor)).next_cursor is None


@pytest.mark.parametrize("name", ["hasMore", "items", "totalCount"])
@pytest.mark.parametrize("value", ["absent", None])
def test_a_required_field_of_the_envelope_is_not_forgiven(name: str, value: str | None) -> None:
    data: dict[str, Any] = envelope(PERSON) | {name: value}
    if value == "absent":
        del data[name]
    with pytest.raises(ValidationError) as caught:
        ListEnvelope[Person].model_validate(data)
    assert caught.value.errors()[0]["loc"] == (name,)


def test_an_unreadable_item_is_set_aside() -> None:
    broken = PAGE | {"pageId": 7}
    response = read_resource(ListEnvelope[PageItem], envelope(PAGE, broken, PAGE, None))
    assert [page.page_id for page in response.items] == ["page_1", "page_1"]
    assert [(item.index, item.path, item.raw) for item in response.unreadable_items] == [
        (1, "items.1.pageId", broken),
        (3, "items.3", None),
    ]


def test_what_was_set_aside_is_written_as_received_only() -> None:
    response = read_resource(ListEnvelope[PageItem], envelope(None))
    assert response.to_wire() == envelope(totalCount=1)
    assert response.as_received() == envelope(None)


def test_a_service_field_named_like_ours_is_harmless() -> None:
    response = read_resource(ListEnvelope[Person], envelope(PERSON, unreadable="yes"))
    assert (len(response.items), response.unreadable) == (1, ())


def test_a_place_is_written_with_dots() -> None:
    assert problem_path(("items", 3, "status")) == "items.3.status"
    assert problem_path(()) == "(the whole response)"
