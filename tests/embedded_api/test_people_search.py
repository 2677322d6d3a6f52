"""The search against plain Python over the same rows, however those came to be what they are."""

import unicodedata
from collections.abc import Callable
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from pyroaring import BitMap

from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.models import Person, PersonText
from dashboard.embedded_api.search.by_text import ByText
from dashboard.embedded_api.search.choice import index_in_use
from dashboard.embedded_api.search.found import Span
from dashboard.embedded_api.search.people import people_found
from dashboard.embedded_api.search.pieces import frequent_pieces, pieces_of
from dashboard.embedded_api.search.upkeep import up_to_date
from dashboard.embedded_api.search.words import words_of
from tests.embedded_api.factories import make_person, other_tenant

FIELDS = ("name", "email", "domain", "slug", "phone_number")
# Few letters, so that words are found; and those that make trouble.
LETTERS = st.sampled_from([*"aabbcA1.@-", *"äÄßẞﬁİ€", *"%_\\'\"*^:()|\x01", *"\u0301🙂 "])
TEXTS = st.text(LETTERS, max_size=14)
ALIKE = st.sampled_from(["abcdef", "xabcdef", "abcde", "abcd", "bcde", "abcdexabcdef", "a b"])
QUERIES = st.lists(st.text(LETTERS, max_size=9), max_size=3).map(" ".join)


def compared(text: str) -> str:
    """Return a text as it is compared, by DESIGN.md."""
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    return text


def by_hand(tenant_id: str, query: str) -> list[str]:
    """Return the ids of who has every word of the query, in the order of the list."""
    people = sorted(Person.objects.filter(tenant_id=tenant_id), key=lambda row: (row.name, row.pk))
    texts = {row.pk: [compared(getattr(row, name) or "") for name in FIELDS] for row in people}
    words = compared(query).split()
    return [
        key
        for key, held in texts.items()
        if all(any(word in text for text in held) for word in words)
    ]


def walked(tenant_id: str, query: str, size: int = 7) -> list[str]:
    """Return the ids the search gives, part by part, and hold its count against them."""
    ids: list[str] = []
    cursor: str | None = ""
    counts = set()
    while cursor is not None:
        part = people_found(tenant_id, query, cursor=cursor, limit=size)
        ids += [row.id for row in part.rows]
        counts.add(part.total_count)
        cursor = part.next_cursor
    assert counts == {len(ids)}
    return ids


def by_statement(person: Person, value: str) -> None:
    """Change a person behind the back of the ORM."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE embedded_api_person SET name = %s WHERE id = %s", [value, person.pk])


def by_bulk_update(person: Person, value: str) -> None:
    """Change one field of people at once."""
    person.slug = value
    Person.objects.bulk_update([person], ["slug"])


def by_one_field(person: Person, value: str) -> None:
    """Save one field and no other."""
    person.email = value
    person.save(update_fields=["email"])


def by_removal(person: Person, value: str) -> None:
    """Remove a person, and add another."""
    person.delete()
    make_person(value)


def by_moving(person: Person, value: str) -> None:
    """Give a person to another tenant."""
    Person.objects.filter(pk=person.pk).update(tenant=other_tenant(), domain=value)


def by_new_id(person: Person, value: str) -> None:
    """Change even the id."""
    Person.objects.filter(pk=person.pk).update(id=f"{person.pk}-{len(value)}")


WAYS: list[Callable[[Person, str], None]] = [
    by_statement,
    by_bulk_update,
    by_one_field,
    by_removal,
    by_moving,
    by_new_id,
]


GREEK = "Μα\u0390ου"
"""With a letter that lies in three parts without case, and in two as a capital."""


@pytest.mark.parametrize("name", [GREEK, GREEK.upper()])
@pytest.mark.parametrize("query", [GREEK, GREEK.upper()])
def test_a_letter_that_lies_in_parts_is_found_in_any_case(
    service: Client, name: str, query: str
) -> None:
    make_person(name)
    found = service.get("/v0/persons/search", {"query": query}).json()
    assert [person["name"] for person in found["items"]] == [name]


def test_a_text_that_was_kept_in_the_old_way_is_kept_anew(service: Client) -> None:
    make_person(GREEK.upper())
    up_to_date()
    PersonText.objects.update(text=unicodedata.normalize("NFKC", GREEK.upper()).casefold())
    name = "dashboard.embedded_api.migrations.0007_people_noted_whose_letters_fold_again"
    import_module(name).note_whom_it_concerns(apps, None)
    assert service.get("/v0/persons/search", {"query": GREEK}).json()["totalCount"] == 1


class AnyPeople(TestCase):
    """Rows of any kind, changed in any way."""

    @settings(max_examples=30, deadline=None)
    @given(
        st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=30, max_size=45),
        st.lists(st.tuples(st.integers(0, 29), st.sampled_from(WAYS), TEXTS), max_size=2),
        st.lists(QUERIES, min_size=1, max_size=6),
    )
    def test_the_search_finds_what_plain_python_finds(
        self, rows: list[Any], changes: list[Any], queries: list[str]
    ) -> None:
        tenant = default_tenant()
        people = [Person(tenant=tenant, name=a, email=b, slug=c) for a, b, c in rows]
        Person.objects.bulk_create(people)
        assert walked(tenant.pk, "a") == by_hand(tenant.pk, "a")
        for number, way, value in changes:
            if person := Person.objects.filter(pk=people[number].pk).first():
                way(person, value)
        own_pieces = [people[0].name[:2], people[1].name[1:8], str(people[2].email)[:3]]
        for query in [*queries, *own_pieces, "example", ""]:
            assert walked(tenant.pk, query) == by_hand(tenant.pk, query), query

    @settings(max_examples=20, deadline=None)
    @given(st.lists(TEXTS, min_size=12, max_size=30), st.lists(QUERIES, min_size=1, max_size=6))
    def test_both_ways_of_finding_texts_find_the_same(
        self, names: list[str], queries: list[str]
    ) -> None:
        tenant = default_tenant()
        Person.objects.bulk_create([Person(tenant=tenant, name=name) for name in names])
        up_to_date()
        span = Span(tenant.pk)
        for words in filter(None, map(words_of, queries)):
            assert index_in_use().find(words, span, 5) == ByText().find(words, span, 5), words
            assert index_in_use().ids(words, span, 5) == ByText().ids(words, span, 5), words


@example(["abcdef", "abcdef", "abcde"], 2)
@given(st.lists(ALIKE, min_size=4, max_size=20), st.integers(2, 20))
def test_the_set_of_a_piece_is_of_the_texts_that_have_it_whatever_the_sample_was(
    texts: list[str], sampled: int
) -> None:
    leads = frequent_pieces(texts[:sampled])
    rows = {row.piece: row for row in pieces_of(enumerate(texts), leads)}
    sets = {piece: BitMap.deserialize(bytes(row.places)) for piece, row in rows.items()}
    for piece, row in rows.items():
        places = sets[piece] | (sets[row.whole] if row.whole else BitMap())
        assert list(places) == [at for at, text in enumerate(texts) if piece in text], piece
        assert row.texts == len(places)


@pytest.mark.django_db
def test_people_added_one_by_one_to_one_place_of_the_list_stay_in_order() -> None:
    tenant = default_tenant()
    Person.objects.bulk_create([Person(tenant=tenant, name=f"{n:03} x") for n in range(100)])
    for number in range(70):
        make_person(f"050 x {number:03}")
        assert people_found(tenant.pk, "x").total_count == 101 + number
    assert walked(tenant.pk, "x", size=50) == by_hand(tenant.pk, "x")
    assert walked(tenant.pk, "050", size=50) == by_hand(tenant.pk, "050")
    assert PersonText.objects.count() == 170


@pytest.mark.django_db
def test_people_of_two_tenants_are_not_mixed() -> None:
    tenants = [default_tenant().pk, other_tenant().pk]
    for number in range(40):
        make_person(f"Ada {number % 7}", tenant_id=tenants[number % 2])
        for tenant_id in tenants:
            assert walked(tenant_id, "ada") == by_hand(tenant_id, "ada")


@pytest.mark.django_db
def test_what_was_counted_in_a_change_that_was_taken_back_is_forgotten() -> None:
    tenant_id = make_person("Ada").tenant_id
    assert people_found(tenant_id, "ada").total_count == 1
    for name, count in (("Ada too", 2), ("Bob", 1)):
        with transaction.atomic():
            make_person(name)
            assert people_found(tenant_id, "ada").total_count == count
            transaction.set_rollback(True)
        assert people_found(tenant_id, "ada").total_count == 1


@pytest.mark.django_db
def test_a_search_asked_again_counts_nothing_anew(
    service: Client, django_assert_num_queries: Any
) -> None:
    Person.objects.bulk_create([Person(tenant=default_tenant(), name=f"Ada {n}") for n in range(9)])
    first = service.get("/v0/persons/search", {"query": "ada"}).json()
    with django_assert_num_queries(3) as asked:  # the key, the state, the people
        assert service.get("/v0/persons/search", {"query": "ada"}).json() == first
    assert not [query for query in asked.captured_queries if "persontext" in query["sql"]]


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["ada", "e", "ada 7", "ada-99@"])
def test_a_search_asks_the_database_no_more_than_nine_times(
    service: Client, django_assert_max_num_queries: Any, query: str
) -> None:
    people = [Person(tenant=default_tenant(), name=f"Ada-{n}@e") for n in range(200)]
    Person.objects.bulk_create(people)
    up_to_date()
    with django_assert_max_num_queries(9):
        assert service.get("/v0/persons/search", {"query": query}).json()["items"]


@pytest.mark.django_db
def test_many_changed_people_are_found_as_they_are_now() -> None:
    tenant = default_tenant()
    Person.objects.bulk_create([Person(tenant=tenant, name=f"Ada {n}") for n in range(30)])
    assert people_found(tenant.pk, "ada").total_count == 30
    Person.objects.update(name="Eve")
    assert (people_found(tenant.pk, "ada").total_count, len(walked(tenant.pk, "ev"))) == (0, 30)
    Person.objects.all().delete()
    assert people_found(tenant.pk, "eve").total_count == 0


@pytest.mark.django_db
def test_an_index_that_is_written_anew_finds_the_same() -> None:
    tenant = default_tenant()
    Person.objects.bulk_create([Person(tenant=tenant, name=f"Ada {n}") for n in range(30)])
    before = walked(tenant.pk, "ada")
    said = StringIO()
    call_command("index_people", stdout=said)
    assert (walked(tenant.pk, "ada"), said.getvalue()) == (before, "People indexed: 30.\n")


@pytest.mark.django_db
def test_without_an_index_a_search_is_as_right() -> None:
    tenant = default_tenant()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS embedded_api_persongrams")
    Person.objects.bulk_create([Person(tenant=tenant, name=f"Ä{n}_%") for n in range(30)])
    for query in ("ä1", "_%", "Ä 2", "b"):
        assert walked(tenant.pk, query) == by_hand(tenant.pk, query)


@pytest.mark.django_db
def test_so_many_changes_that_they_are_cut_off_at_once_are_followed() -> None:
    tenant = default_tenant()
    Person.objects.bulk_create([Person(tenant=tenant, name=f"Ada {n}") for n in range(10_001)])
    assert people_found(tenant.pk, "ada").total_count == 10_001
    Person.objects.update(name="Eve")
    assert people_found(tenant.pk, "ada").total_count == 0
    assert people_found(tenant.pk, "eve").total_count == 10_001
