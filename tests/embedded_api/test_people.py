"""Operations 7 and 8 over HTTP."""

from typing import Any

import pytest
from django.test import Client

from dashboard.embedded_api.models import Person
from tests.support.embedded_api_factories import make_person


def names_matching(service: Client, query: str, **params: Any) -> list[str]:
    answer = service.get("/v0/persons/search", {"query": query, **params}).json()
    assert answer["totalCount"] >= len(answer["items"])
    return [person.get("name", "") for person in answer["items"]]


@pytest.fixture
def people(db: None) -> None:
    """People who are each found by a different field, written like sample data."""
    ada = make_person("Ada Lovelace", email="ada@engine.example", domain="engine.example")
    rows = [
        Person(tenant=ada.tenant, name="Émile Zola", slug="emile-zola", phone_number="+33 1 23 45"),
        Person(tenant=ada.tenant, name="Łukasz STRAẞE", domain="weiß.example"),
        Person(tenant=ada.tenant, email="nobody@void.example"),
        Person(
            tenant=ada.tenant, name="100% Wool_Co", linkedin_profile_url="https://l.example/ada"
        ),
    ]
    Person.objects.bulk_create(rows)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("lovelace", ["Ada Lovelace"]),
        ("LOVE ada", ["Ada Lovelace"]),
        ("ada ada", ["Ada Lovelace"]),
        ("ada zola", []),
        ("ENGINE.example", ["Ada Lovelace"]),
        ("ÉMILE", ["Émile Zola"]),
        ("e\u0301mile", ["Émile Zola"]),
        ("emile-", ["Émile Zola"]),
        ("23 45", ["Émile Zola"]),
        ("strasse", ["Łukasz STRAẞE"]),
        ("łUKASZ weiss", ["Łukasz STRAẞE"]),
        ("void", [""]),
        ("%", ["100% Wool_Co"]),
        ("l_c", ["100% Wool_Co"]),
        ("l.example", []),
        ("lovelaceada", []),
        ("\\", []),
        ("'; DROP TABLE--", []),
    ],
)  # fmt: skip
def test_every_word_matches_anywhere_in_any_case(
    service: Client, query: str, names: list[str]
) -> None:
    assert names_matching(service, query) == names


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("query", ["", "   ", "\t\n"])
def test_a_blank_query_returns_everyone_in_list_order(service: Client, query: str) -> None:
    listed = service.get("/v0/persons").json()
    assert service.get("/v0/persons/search", {"query": query}).json() == listed
    assert service.get("/v0/persons/search").json() == listed
    names = [person.get("name", "") for person in listed["items"]]
    assert names == sorted(names)
    assert listed["totalCount"] == 5


@pytest.mark.usefixtures("people")
def test_a_search_continues_on_the_next_page(service: Client) -> None:
    first = service.get("/v0/persons/search", {"query": "example", "limit": 1}).json()
    assert (first["hasMore"], first["totalCount"]) == (True, 3)
    rest = {"query": "example", "cursor": first["nextCursor"]}
    assert len(names_matching(service, **rest)) == 2


def test_a_renamed_person_is_found_by_the_new_name(service: Client) -> None:
    ada = make_person("Ada Byron")
    ada.name = "Ada King"
    ada.save()
    assert (names_matching(service, "king"), names_matching(service, "byron")) == (["Ada King"], [])


def test_values_that_are_not_there_are_absent(service: Client) -> None:
    person = make_person("", email="a@b.example")
    (item,) = service.get("/v0/persons").json()["items"]
    assert item == {
        "personId": person.person_id,
        "tenantId": person.tenant_id,
        "email": "a@b.example",
        "createdAt": person.created_at,
        "updatedAt": person.updated_at,
    }
