"""Deviations from the spec are counted and break nothing."""

from typing import Any

import httpx
import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from dashboard.ledger.deviations import MAX_DEVIATIONS, ContractDeviation, record_deviations
from dashboard.ledger.models import DeviationRecord
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.queries import queries_of
from tests.support.seeding import seed_pages, seed_subscription


def rows() -> set[tuple[str, str, str, int]]:
    return set(DeviationRecord.objects.values_list("operation", "kind", "place", "count"))


def test_a_conforming_response_records_nothing_and_costs_no_query(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    queries = queries_of(lambda: as_viewer.get("/people/"))
    assert [sql for sql in queries if "ledger_deviationrecord" in sql] == []


@pytest.mark.parametrize(
    ("answer", "kind", "place"),
    [
        ({"hasMore": False, "totalCount": 1}, "Unreadable response", "items"),
        (wire.envelope({"name": 5}), "Unreadable value", "items.*.name"),
        (wire.envelope(wire.person(), 5), "Unreadable item", "items.*"),
        (
            wire.envelope(wire.person(), wire.person(personId="b"), totalCount=1),
            "Contradictory counts",
            "totalCount",
        ),
        (wire.envelope(hasMore=True, nextCursor="b"), "Contradictory counts", "hasMore"),
        (wire.envelope(wire.person(), wire.person()), "Duplicate ID", "items"),
    ],
)
def test_a_deviation_is_counted_by_kind_and_place(
    as_viewer: Client, fake_service: FakeService, answer: Any, kind: str, place: str
) -> None:
    fake_service.answers(200, json=answer)
    for _ in range(2):
        as_viewer.get("/people/")
    assert rows() == {("List people", kind, place, 2)}


def test_unknown_values_are_counted_in_any_field(
    as_viewer: Client, fake_service: FakeService
) -> None:
    latest = wire.version(status="rehearsing")

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(wire.audience(latestVersion=latest)))
        return httpx.Response(200, json=wire.page(status="simmering", pageType="hologram"))

    fake_service.answer = answer
    assert as_viewer.get("/pages/page_1/").status_code == 200
    assert rows() == {
        ("Get page", "Unknown name", "status", 1),
        ("Get page", "Unknown name", "pageType", 1),
        ("List audiences", "Unknown name", "items.*.latestVersion.status", 1),
    }


def test_an_unknown_event_is_counted(as_administrator: Client, fake_service: FakeService) -> None:
    seed_subscription()
    fake_service.answers(200, json=wire.subscription(events=["form.submitted", "moon.rose"]))
    as_administrator.get("/webhooks/whs_1/")
    assert [item.message for item in DeviationRecord.objects.all()] == ["“moon.rose”"]


def test_known_deviations_cost_one_query(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    matching = [
        ContractDeviation("List people", "kind", f"place {n}", "message", "/v0/persons")
        for n in range(9)
    ]
    record_deviations(matching)
    with django_assert_num_queries(1):
        record_deviations(matching)


def test_the_number_of_deviations_is_limited(db: None) -> None:
    matching = [
        ContractDeviation("o", "k", str(number), "s", "/") for number in range(MAX_DEVIATIONS + 20)
    ]
    record_deviations(matching)
    record_deviations([ContractDeviation("o", "k", "another", "s", "/")])
    assert DeviationRecord.objects.count() == MAX_DEVIATIONS


def test_a_conforming_page_has_no_deviation(as_viewer: Client, fake_service: FakeService) -> None:
    seed_pages(wire.page())
    fake_service.answers(200, json=wire.envelope(wire.page()))
    as_viewer.get("/pages/")
    assert rows() == set()
