"""The search compared with plain Python on the same rows, for every way of writing them."""

import unicodedata
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.models import Person
from dashboard.embedded_api.models.people import bulk_insert
from dashboard.embedded_api.routers.people import find_people
from tests.support.embedded_api_factories import make_person, other_tenant

pytestmark = pytest.mark.django_db

FIELDS = ("name", "email", "domain", "slug", "phone_number")
# Few letters, so that words match, and special characters.
LETTERS = st.sampled_from([*"aabbcA1.@-", *"äÄßẞﬁİ€", *"%_\\'\"*^:()|\x01", *"\u0301🙂 "])
TEXTS = st.text(LETTERS, max_size=14)
QUERIES = st.lists(st.text(LETTERS, max_size=9), max_size=3).map(" ".join)


def folded(text: str) -> str:
    for _ in range(2):
        text = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in text if not unicodedata.combining(letter))


def expected_ids(tenant_id: str, query: str) -> list[str]:
    """Return the ids of the people who match every word of the query, in list order."""
    people = sorted(
        Person.objects.filter(tenant_id=tenant_id), key=lambda row: (row.name, row.person_id)
    )
    texts = {row.person_id: [folded(getattr(row, name) or "") for name in FIELDS] for row in people}
    words = folded(query).split()
    return [
        key
        for key, held in texts.items()
        if all(any(word in text for text in held) for word in words)
    ]


def found_ids(tenant_id: str, query: str, size: int = 7) -> list[str]:
    """Return the ids from all pages of the search, and check its count."""
    ids: list[str] = []
    cursor: str | None = ""
    counts = set()
    while cursor is not None:
        part = find_people(tenant_id, query, cursor=cursor, limit=size)
        ids += [row.person_id for row in part.rows]
        counts.add(part.total_count)
        cursor = part.next_cursor
    assert counts == {len(ids)}
    return ids


def by_saving(person: Person, value: str) -> None:
    person.name = value
    person.save()


def by_one_field(person: Person, value: str) -> None:
    person.email = value
    person.save(update_fields=["email"])


def by_removal(person: Person, value: str) -> None:
    person.delete()
    make_person(value)


def by_moving(person: Person, value: str) -> None:
    person.tenant, person.domain = other_tenant(), value
    person.save()


def by_new_id(person: Person, value: str) -> None:
    """Change the id with an update, which calls no signals."""
    Person.objects.filter(pk=person.pk).update(person_id=f"{person.person_id}-{len(value)}")


def by_new_number(person: Person, value: str) -> None:
    """Change the number, which identifies the person in SQLite's index."""
    Person.objects.filter(pk=person.pk).update(number=person.pk + 1_000_000 + len(value))


WAYS: list[Callable[[Person, str], None]] = [
    by_saving,
    by_one_field,
    by_removal,
    by_moving,
    by_new_id,
    by_new_number,
]


GREEK = "Μα\u0390ου"
"""Has a letter that casefolding splits into three characters; its capital has other parts."""


@pytest.mark.parametrize("name", [GREEK, GREEK.upper()])
@pytest.mark.parametrize("query", [GREEK, GREEK.upper()])
def test_a_letter_in_parts_matches_in_any_case(service: Client, name: str, query: str) -> None:
    make_person(name)
    response = service.get("/v0/persons/search", {"query": query}).json()
    assert [person["name"] for person in response["items"]] == [name]


@pytest.mark.parametrize("query", ["muller", "MÜLLER", "Mu\u0308ller", "jurgen mull"])
def test_people_search_ignores_accents(service: Client, query: str) -> None:
    make_person("Jürgen Müller")
    make_person("Jurgen Muller")
    make_person("Ada Lovelace")
    response = service.get("/v0/persons/search", {"query": query}).json()
    assert [person["name"] for person in response["items"]] == ["Jurgen Muller", "Jürgen Müller"]


class AnyPeople(TestCase):
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
        assert found_ids(tenant.pk, "a") == expected_ids(tenant.pk, "a")
        for number, way, value in changes:
            if person := Person.objects.filter(pk=people[number].pk).first():
                way(person, value)
        own_pieces = [people[0].name[:2], people[1].name[1:8], str(people[2].email)[:3]]
        for query in [*queries, *own_pieces, "example", ""]:
            assert found_ids(tenant.pk, query) == expected_ids(tenant.pk, query), query


def test_people_of_two_tenants_are_not_mixed() -> None:
    tenants = [default_tenant().pk, other_tenant().pk]
    for number in range(40):
        make_person(f"Ada {number % 7}", tenant_id=tenants[number % 2])
        for tenant_id in tenants:
            assert found_ids(tenant_id, "ada") == expected_ids(tenant_id, "ada")


def test_a_full_id_finds_its_person_alone() -> None:
    ada = make_person("Ada", person_id="prospect_" + "a" * 26)
    make_person("Bob", tenant=other_tenant(), person_id="prospect_" + "b" * 26)
    tenant_id = default_tenant().pk
    assert found_ids(tenant_id, f" {ada.person_id} ") == [ada.person_id]
    assert found_ids(tenant_id, "prospect_" + "b" * 26) == []


def test_counts_of_a_rolled_back_change_are_forgotten() -> None:
    tenant_id = make_person("Ada").tenant_id
    assert find_people(tenant_id, "ada").total_count == 1
    for name, count in (("Ada too", 2), ("Bob", 1)):
        with transaction.atomic():
            make_person(name)
            assert find_people(tenant_id, "ada").total_count == count
            transaction.set_rollback(True)
        assert find_people(tenant_id, "ada").total_count == 1


@pytest.mark.parametrize("query", ["ada", "e", "ada 7", "ada-99@"])
def test_a_search_needs_few_queries(
    service: Client, django_assert_max_num_queries: Any, query: str
) -> None:
    people = [Person(tenant=default_tenant(), name=f"Ada-{n}@e") for n in range(200)]
    Person.objects.bulk_create(people)
    with django_assert_max_num_queries(4):  # the key, the indexes, two for the people
        assert service.get("/v0/persons/search", {"query": query}).json()["items"]


def test_many_removed_people_are_found_no_more() -> None:
    tenant = default_tenant()
    Person.objects.bulk_create([Person(tenant=tenant, name=f"Ada {n}") for n in range(30)])
    assert find_people(tenant.pk, "ada").total_count == 30
    Person.objects.all().delete()
    assert find_people(tenant.pk, "ada").total_count == 0


@pytest.mark.parametrize("field", ["name", "email", "domain", "slug", "phone_number"])
def test_a_change_that_skips_the_search_text_is_refused(field: str) -> None:
    person = make_person("Ada")
    setattr(person, field, "Eve")
    for change in (
        lambda: Person.objects.update(**{field: "Eve"}),
        lambda: Person.objects.bulk_update([person], [field]),
    ):
        with pytest.raises(TypeError, match="save each person"), transaction.atomic():
            change()
    assert found_ids(person.tenant_id, "ada") == [person.person_id]


def test_common_words_are_counted_exactly_and_read_in_order() -> None:
    tenant = default_tenant()
    names = [f"{n % 7} ada-lovelace-of-example {n}" for n in range(20_100)]
    bulk_insert([Person(tenant=tenant, name=name) for name in names])
    for query in ("ada", "ad", "ada-lovelace-of-example"):
        first = find_people(tenant.pk, query, limit=2)
        second = find_people(tenant.pk, query, limit=2, cursor=first.next_cursor or "")
        assert (first.total_count, second.total_count) == (20_100, 20_100)
        assert [row.name for row in [*first.rows, *second.rows]] == sorted(names)[:4], query


def test_late_matches_are_counted_and_ordered() -> None:
    tenant = default_tenant()
    names = [f"Ada {n}" for n in range(5_100)] + [f"Wu {n * 7 % 130}" for n in range(130)]
    bulk_insert([Person(tenant=tenant, name=name) for name in names])
    for query in ("w", "wu", "wu 1", "a"):
        assert found_ids(tenant.pk, query, size=50) == expected_ids(tenant.pk, query), query


def test_long_words_are_compared_to_their_ends() -> None:
    near = make_person("Transportgesellschaft Nord")
    make_person("Transportgesellschaften Nord")
    assert len(found_ids(near.tenant_id, "transportgesellschaft nord")) == 2
    assert len(found_ids(near.tenant_id, "transportgesellschaften")) == 1
    assert found_ids(near.tenant_id, "transportgesellschaftx") == []


def test_a_query_has_a_hundred_words_at_most(service: Client) -> None:
    words = [f"word{n}" for n in range(101)]
    make_person("".join(words))
    hundred = service.get("/v0/persons/search", {"query": " ".join(words[1:])})
    assert (hundred.status_code, hundred.json()["totalCount"]) == (200, 1)
    more = service.get("/v0/persons/search", {"query": " ".join(words)})
    message = "must have at most 100 words"
    assert (more.status_code, more.json()["errors"]) == (
        422,
        [{"path": "query", "message": message}],
    )


def test_without_an_index_a_search_is_as_right() -> None:
    tenant = default_tenant()
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for change in ("added", "changed", "removed"):
                cursor.execute(f"DROP TRIGGER embedded_api_person_{change}")
            cursor.execute("DROP TABLE embedded_api_person_trigrams")
        else:
            cursor.execute("DROP INDEX embedded_api_person_trigrams")
    Person.objects.bulk_create([Person(tenant=tenant, name=f"Ä{n}_%") for n in range(30)])
    for query in ("ä1", "_%", "Ä 2", "b", "a12_%"):
        assert found_ids(tenant.pk, query) == expected_ids(tenant.pk, query)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_compacted_database_finds_the_same(service: Client) -> None:
    """Backups compact the database, and SQLite may then renumber rows without a primary key."""
    tenant = default_tenant()
    Person.objects.bulk_create([Person(tenant=tenant, name=f"Ada {n}") for n in range(30)])
    Person.objects.filter(name__endswith="1").delete()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    assert found_ids(tenant.pk, "ada") == expected_ids(tenant.pk, "ada")
    assert len(found_ids(tenant.pk, "ada 17")) == 1


def test_without_the_extension_migrating_warns_and_search_works(
    service: Client, caplog: Any
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no extensions.")
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX embedded_api_person_by_name")
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
        cursor.execute("CREATE ROLE people_without_rights")
        cursor.execute("GRANT ALL ON SCHEMA public TO people_without_rights")
        cursor.execute("ALTER TABLE embedded_api_person OWNER TO people_without_rights")
        cursor.execute("SET LOCAL ROLE people_without_rights")
        with connection.schema_editor(atomic=False) as editor:
            migration = import_module("dashboard.embedded_api.migrations.0001_initial")
            migration.index_people(None, editor)
        cursor.execute("RESET ROLE")
    (message,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert message.startswith("People are searched without an index")
    assert "CREATE INDEX embedded_api_person_trigrams" in message
    make_person("Ada")
    response = service.get("/v0/persons/search", {"query": "ada"}).json()
    assert [person["name"] for person in response["items"]] == ["Ada"]
