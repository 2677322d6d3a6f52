"""Paginated lists: each item is returned once, even if others are added or removed meanwhile."""

from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.contract.wire import write_mark
from dashboard.embedded_api import keys
from dashboard.embedded_api.models import Page, Person, Tenant
from dashboard.json_api.cursors import NEWEST_FIRST
from tests.support.embedded_api_factories import make_page, make_person, moment

COMMON = settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NAMES = st.sampled_from(["", "Ada", "ada", "Åsa", "Zoë", "李", "🎈"])


def parts(service: Client, path: str, limit: int, **params: str) -> Any:
    """Walk a list over HTTP, and yield the items of each part."""
    cursor, has_more = "", True
    while has_more:
        answer = service.get(path, {"limit": limit, "cursor": cursor} | params).json()
        has_more, cursor = answer["hasMore"], answer.get("nextCursor", "")
        assert has_more is bool(cursor)
        yield answer["items"]


def ids(items: list[dict[str, Any]]) -> list[str]:
    return [item.get("personId") or item["pageId"] for item in items]


@given(names=st.lists(NAMES, max_size=12), limit=st.integers(1, 5))
@COMMON
def test_a_walk_meets_each_person_once(service: Client, names: list[str], limit: int) -> None:
    Person.objects.all().delete()
    rows = [make_person(name) for name in names]
    walked = [item for items in parts(service, "/v0/persons", limit) for item in ids(items)]
    assert walked == [
        row.person_id for row in sorted(rows, key=lambda row: (row.name, row.person_id))
    ]


@given(
    before=st.lists(st.integers(0, 3), min_size=1, max_size=10),
    changes=st.lists(st.tuples(st.booleans(), st.integers(0, 100)), max_size=8),
    limit=st.integers(1, 3),
)
@COMMON
def test_changes_during_a_walk_shift_no_rows(
    service: Client, before: list[int], changes: list[tuple[bool, int]], limit: int
) -> None:
    Page.objects.all().delete()
    # Few timestamps for many pages, so that ids must break ties.
    marks = [write_mark(moment(f"2026-03-09T12:00:0{second}Z")) for second in range(4)]
    stay = {make_page(created_at=marks[second]).id for second in before}
    walked: list[str] = []
    for items in parts(service, "/v0/pages", limit):
        walked += ids(items)
        if changes:
            is_new, where = changes.pop()
            if is_new:
                make_page(created_at=marks[where % 4])
            else:
                gone = Page.objects.order_by("id")[where % Page.objects.count()]
                stay.discard(gone.id)
                gone.delete()
    assert len(walked) == len(set(walked))
    assert stay <= set(walked)


@given(
    before=st.lists(NAMES, min_size=1, max_size=10),
    changes=st.lists(NAMES | st.integers(0, 100), max_size=8),
    limit=st.integers(1, 3),
    params=st.sampled_from([("/v0/persons", {}), ("/v0/persons/search", {"query": "a@"})]),
)
@COMMON
def test_people_created_or_deleted_between_parts_hide_no_other(
    service: Client,
    before: list[str],
    changes: list[str | int],
    limit: int,
    params: tuple[str, dict[str, str]],
) -> None:
    Person.objects.all().delete()
    stay = {make_person(name, email="a@b.example").person_id for name in before}
    walked: list[str] = []
    path, query = params
    for items in parts(service, path, limit, **query):
        walked += ids(items)
        change = changes.pop() if changes else None
        if isinstance(change, str):
            make_person(change, email="a@b.example")
        elif change is not None:
            gone = Person.objects.order_by("person_id")[change % Person.objects.count()]
            stay.discard(gone.person_id)
            gone.delete()
    assert len(walked) == len(set(walked))
    assert stay <= set(walked)


def test_a_cursor_works_only_in_its_own_list(service: Client) -> None:
    make_person()
    make_person()
    cursor = service.get("/v0/persons", {"limit": 1}).json()["nextCursor"]
    assert service.get("/v0/pages", {"cursor": cursor}).status_code == 400
    assert service.get("/v0/persons", {"cursor": cursor}).status_code == 200


def test_a_cursor_that_was_altered_is_refused(service: Client) -> None:
    make_person()
    make_person()
    cursor = service.get("/v0/persons", {"limit": 1}).json()["nextCursor"]
    for altered in (cursor[:-1], "x" + cursor, cursor.replace(":", ""), cursor.upper()):
        assert service.get("/v0/persons", {"cursor": altered}).status_code == 400


def test_a_cursor_outlives_its_row(service: Client) -> None:
    rows = [make_person(name) for name in ("A", "B", "C")]
    cursor = service.get("/v0/persons", {"limit": 2}).json()["nextCursor"]
    rows[1].delete()
    assert ids(service.get("/v0/persons", {"cursor": cursor}).json()["items"]) == [
        rows[2].person_id
    ]


@pytest.mark.django_db
def test_a_cursor_opens_no_other_tenant(service: Client) -> None:
    make_person("A")
    make_person("B")
    cursor = service.get("/v0/persons", {"limit": 1}).json()["nextCursor"]
    stranger = Tenant.objects.create(name="Somebody else")
    key = keys.issue(keys.ApiKey(name="Theirs", tenant=stranger))
    answer = Client(headers={"x-api-key": key}).get("/v0/persons", {"cursor": cursor})
    assert answer.json()["items"] == []


def test_cursors_survive_a_renamed_module(settings: Any) -> None:
    settings.SECRET_KEY = "a-key-of-this-test"
    source = "WyIyMDI2LTAzLTAxIiwicGFnZV8xIl0:LwhgDkjduuJeb1Y3MCHqkZeGeUUYbRx77nCrSa44Lrs"
    assert NEWEST_FIRST.read_cursor(source) == ["2026-03-01", "page_1"]
