"""2xx responses: read tolerantly; unreadable ones are rejected with the path."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.client import Executed, InvalidResponseError
from dashboard.client.session import CACHE_BYTES, MAX_CACHED_BODY_BYTES, PARSED_SIZE_FACTOR
from tests.client.json_values import json_values
from tests.support import wire
from tests.support.api_clients import WRITES, client_answering, client_saying


def refused(*args: Any, **kwargs: Any) -> InvalidResponseError:
    """Return the error that this response to "Get page" causes."""
    with pytest.raises(InvalidResponseError) as caught:
        client_saying(*args, **kwargs).pages.get("page_1")
    return caught.value


def test_the_path_of_what_is_wrong_is_named() -> None:
    data = wire.envelope() | {"totalCount": "many"}
    with pytest.raises(InvalidResponseError, match="totalCount") as caught:
        client_saying(200, json=data).people.list()
    assert (caught.value.path, caught.value.status_code) == ("totalCount", 200)


def test_an_inner_path_uses_wire_names() -> None:
    page = client_saying(200, json=wire.page(actions=[{}, {"buttonTitle": 3}])).pages.get("page_1")
    assert [value.path for value in page.unreadable] == ["actions.1.buttonTitle"]


def test_one_unreadable_item_costs_itself_alone() -> None:
    response = client_saying(200, json=wire.envelope(wire.person(), 7)).people.list()
    assert (len(response.items), response.unreadable_items[0].path) == (1, "items.1")


def test_our_field_names_are_not_wire_names() -> None:
    data = wire.envelope(wire.person())
    with pytest.raises(InvalidResponseError) as caught:
        client_saying(200, json=data | {"has_more": data.pop("hasMore")}).people.list()
    assert caught.value.path == "hasMore"


@pytest.mark.parametrize("others", [[], [7]])
def test_nor_are_they_in_an_item(others: list[int]) -> None:
    ours = wire.page()
    ours["page_id"] = ours.pop("pageId")
    response = client_saying(200, json=wire.envelope(wire.page(), ours, *others)).pages.list()
    assert (len(response.items), response.unreadable_items[0].path) == (1, "items.1.pageId")


@pytest.mark.parametrize(
    ("odd", "problem"),
    [
        ("9" * 400, f"{'9' * 20} is an unreadable number"),
        ("1e999", "1e999 is an unreadable number"),
        ("NaN", "NaN is an unreadable number"),
        ("[" * 120 + "]" * 120, "nested too deeply"),
        ("[" * 500 + "]" * 500, "nested too deeply"),
    ],
)
@pytest.mark.parametrize(
    ("field", "path"),
    [("pageId", "items.1.pageId"), ("metadata", "metadata"), ("colour", "colour")],
)
def test_a_value_over_the_limits_costs_itself_alone(
    odd: str, problem: str, field: str, path: str
) -> None:
    pages = wire.page(), wire.page(name="a\0b") | {field: "#"}, wire.page()
    body = json.dumps(wire.envelope(*pages, more="#")).replace('"#"', odd)
    response = client_saying(200, content=body).pages.list()
    unreadable = [
        *response.unreadable_items,
        *(item for page in response.items for item in page.unreadable),
    ]
    assert len(response.items) + len(response.unreadable_items) == 3
    assert unreadable[0].path.startswith(path)
    assert field != "colour" or unreadable[0].problem == problem
    assert "more" in {value.path.split(".")[0] for value in response.unreadable}


def test_an_unchanged_list_is_not_parsed_again() -> None:
    answers = iter([wire.envelope(wire.page()), wire.envelope(wire.page()), wire.envelope()])
    client = client_answering(lambda request: httpx.Response(200, json=next(answers)))
    first, second, third = (client.pages.list() for _ in range(3))
    assert first is second
    assert (len(second.items), len(third.items)) == (1, 0)


def test_people_are_not_cached() -> None:
    client = client_saying(200, json=wire.envelope(wire.person()))
    assert client.people.list() is not client.people.list()


def test_another_answer_to_the_same_call_is_read() -> None:
    names = iter(["Old", "Old", "New"])
    client = client_answering(lambda _: httpx.Response(200, json=wire.page(name=next(names))))
    assert [client.pages.get("page_1").name for _ in range(3)] == ["Old", "Old", "New"]


def test_the_same_answer_to_another_call_is_another_thing() -> None:
    client = client_saying(200, json=wire.page())
    assert client.pages.get("page_1") is not client.pages.get("page_2")


def test_only_the_last_responses_stay_cached() -> None:
    long = 100_000
    client = client_saying(200, json=wire.page(pageContext="x" * long))
    fit = CACHE_BYTES // (PARSED_SIZE_FACTOR * (long + 1_000))
    first = client.pages.get("page_0")
    cached = [client.pages.get(f"page_{n}") for n in range(1, fit + 1)]
    assert all(client.pages.get(f"page_{n}") is item for n, item in enumerate(cached, 1))
    assert client.pages.get("page_0") is not first


def test_a_very_long_response_is_not_cached() -> None:
    client = client_saying(200, json=wire.page(pageContext="x" * MAX_CACHED_BODY_BYTES))
    assert client.pages.get("page_1") is not client.pages.get("page_1")


def test_the_same_text_is_parsed_again_as_another_type() -> None:
    """The response for one page requires fields that a list item may lack."""
    client = client_saying(200, json=wire.page() | wire.envelope())
    client.pages.list()
    assert client.pages.get("page_1").page_id == wire.page()["pageId"]


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"null", b"[]", b'"page"', b"{", b"\xff\xfe{\x00}\x00", b"NaN", b"{}{}"],
)
def test_a_non_page_is_a_bad_response(body: bytes) -> None:
    error = refused(200, content=body)
    assert (error.status_code, error.executed) == (200, Executed.MAYBE)


@pytest.mark.parametrize("status_code", [204, 205, 206, 299])
def test_any_2xx_without_json_is_a_bad_answer(status_code: int) -> None:
    error = refused(status_code)
    assert (error.path, error.problem) == ("(the whole response)", "not JSON")


def test_any_2xx_that_can_be_read_is_taken() -> None:
    assert client_saying(206, json=wire.page()).pages.get("page_1").page_id == "page_1"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000])
def test_a_number_that_is_none_is_set_aside(number: str) -> None:
    body = json.dumps(wire.page(colour="#")).replace('"#"', number)
    page = client_saying(200, content=body).pages.get("page_1")
    assert [(value.path, value.raw) for value in page.unreadable] == [("colour", number)]
    required = json.dumps(wire.page(pageId="#")).replace('"#"', number)
    assert "number" in refused(200, content=required).problem


def test_nul_and_lone_surrogates_are_replaced_everywhere() -> None:
    body = json.dumps(wire.page(name="a\0b\ud800", **{"ke\0y": ["\udfff"]}))
    page = client_saying(200, content=body).pages.get("page_1")
    assert page.name == "a�b�"
    assert page.model_extra == {"ke�y": ["�"]}


def test_a_pair_of_surrogates_is_one_character() -> None:
    body = json.dumps(wire.page(name="🙂"))
    assert r"\ud83d" in body
    assert client_saying(200, content=body).pages.get("page_1").name == "🙂"


def test_bytes_that_are_no_text_are_replaced() -> None:
    body = json.dumps(wire.page(name="#")).encode().replace(b"#", b"\xff\0")
    assert client_saying(200, content=body).pages.get("page_1").name == "��"


def test_a_byte_order_mark_is_borne() -> None:
    body = b"\xef\xbb\xbf" + json.dumps(wire.page()).encode()
    assert client_saying(200, content=body).pages.get("page_1").page_id == "page_1"


def nested(depth: int) -> str:
    """Return a page with lists nested to this depth."""
    return json.dumps(wire.page(deep="#")).replace('"#"', "[" * depth + "]" * depth)


@pytest.mark.parametrize("depth", [100, 200])
def test_what_is_nested_too_deeply_is_set_aside(depth: int) -> None:
    page = client_saying(200, content=nested(depth)).pages.get("page_1")
    assert [value.problem for value in page.unreadable] == ["nested too deeply"]


def test_nesting_without_end_is_refused() -> None:
    assert refused(200, content=nested(100_000)).problem == "nested too deeply"


def test_a_hundred_levels_are_read() -> None:
    assert client_saying(200, content=nested(99)).pages.get("page_1").page_id == "page_1"


def test_only_the_beginning_of_a_body_is_stored() -> None:
    assert len(refused(200, content=b"x" * 10_000).body) == 2000


@given(st.binary() | json_values.map(json.dumps))
def test_any_body_is_a_page_or_a_bad_response(body: bytes | str) -> None:
    assert refused(200, content=body).status_code == 200


@given(st.sampled_from(sorted(wire.page())), json_values)
def test_a_bad_answer_names_the_field_that_is_wrong(name: str, value: Any) -> None:
    body = json.dumps(wire.page(**{name: value}))
    try:
        where = name
        client_saying(200, content=body).pages.get("page_1")
    except InvalidResponseError as error:
        where = error.path
    assert where.split(".")[0] in {name, "(the whole response)"}


@pytest.mark.parametrize("name", WRITES)
def test_an_unreadable_response_to_a_write_is_unknown(name: str) -> None:
    with pytest.raises(InvalidResponseError) as caught:
        WRITES[name](client_saying(200, content=b"done"))
    assert caught.value.executed is Executed.MAYBE
