"""Operations 7 and 8: list people, and search them with the database's trigram index.

The search is exact and in the order of the list: the index preselects, and LIKE decides. Up to
`_MAX_INDEX_MATCHES` matches are read by the index, counted and sorted. Common words are counted by
LIKE, and people are read in order until enough match. Words of one or two letters have no trigram.
SQLite counts and reads them in its index by name, which includes the search text. PostgreSQL first
reads two thousand people in order. If these don't fill a page, it collects all matches in one scan,
as the first match may come late in the order. Measured by tests/benchmarks/people_search.py.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.http import HttpResponse
from ninja import Router

from dashboard.contract import people as contract
from dashboard.contract.resource import ListEnvelope
from dashboard.embedded_api.http import ServiceRequest, error_responses
from dashboard.embedded_api.listing import Listing
from dashboard.embedded_api.models import Person, fold_for_search
from dashboard.embedded_api.requests import MAX_WORDS, Cursor, Limit, SearchText
from dashboard.embedded_api.serializers import list_response, person_json
from dashboard.json_api.cursors import BY_NAME, ListPage, page_size, paginate
from dashboard.json_api.problems import HOLDS_NUL, FieldError, invalid_fields_problem


def _select(people: "QuerySet[Person]") -> "QuerySet[Person, Any]":
    hidden = ("number", "search_text")
    names = [field.attname for field in Person._meta.concrete_fields if field.name not in hidden]
    return people.values_list(*names, named=True)


_ALL = Listing(Person, BY_NAME, _select)
_MAX_INDEX_MATCHES = 20_000
"""Above this, counting by LIKE is faster than reading each match."""
_FIRST_PEOPLE = 2_000
"""Reading this many in order takes a hundredth of the time of scanning a million people."""
_PREFIX_LENGTH = 12
"""Characters of a word to look up in the index. More take time and rarely help."""
_TEXT = "embedded_api_person.search_text"
_TRIGRAMS = "embedded_api_person_trigrams"
_INDEX_QUERY = """
    WITH found AS MATERIALIZED (
        SELECT number, name, person_id FROM {tables} WHERE {condition} LIMIT %s
    ), page AS (
        SELECT * FROM found WHERE (name, person_id) > (%s, %s) ORDER BY name, person_id LIMIT %s
    )
    SELECT total, number FROM (SELECT count(*) AS total FROM found) AS counted
    LEFT JOIN page ON true ORDER BY name, person_id
"""
_FIRST_QUERY = """
    SELECT count(*), count(*) FILTER (WHERE {condition}) FROM (
        SELECT tenant_id, search_text FROM embedded_api_person
        WHERE tenant_id = %s AND (name, person_id) > (%s, %s) ORDER BY name, person_id LIMIT %s
    ) AS embedded_api_person
"""


def find_people(tenant_id: str, query: str, *, cursor: str = "", limit: float = 50) -> ListPage:
    """Return the people who match every word of the query. A blank query matches everyone.

    A person's full ID finds that person.

    Raises ProblemError (400) if the cursor is invalid or belongs to another kind of list.
    Source: our choice; the spec does not show the matching rules.
    """
    words = sorted(set(fold_for_search(query).split()), key=len, reverse=True)
    if not words:
        return _ALL.page(tenant_id, cursor=cursor, limit=limit)
    size = page_size(limit)
    if query.strip().startswith("prospect_"):
        same_id = Person.objects.filter(tenant_id=tenant_id, person_id=query.strip())
        if person := list(_select(same_id)):
            return paginate(person, BY_NAME, size=size, total_count=1)
    after = BY_NAME.read_cursor(cursor) if cursor else ("", "")
    if few := _find_few(tenant_id, words, after, size + 1):
        total, people = few
    else:
        matches = Person.objects.filter(tenant_id=tenant_id)
        for word in words:
            matches = matches.filter(search_text__contains=word)
        total, people = matches.count(), matches.filter(BY_NAME.after(*after))
    # Without matches, skip the second scan.
    rows = _select(people.order_by(*BY_NAME.columns()))[: size + 1] if total else []
    return paginate(list(rows), BY_NAME, size=size, total_count=total)


def _find_few(
    tenant_id: str, words: Sequence[str], after: Sequence[str], size: int
) -> "tuple[int, QuerySet[Person]] | None":
    """Return the number of matches and the first ones, by the index or by one scan.

    Return None if counting by LIKE and reading people in order is faster.
    """
    tables, conditions, values = "embedded_api_person", ["tenant_id = %s"], [tenant_id]
    trigrams = _trigrams_of(words)
    if connection.vendor == "sqlite":
        if not trigrams or not _has_trigram_table():
            return None
        # CROSS JOIN fixes the order. Otherwise SQLite scans the people first.
        tables = f"{_TRIGRAMS} CROSS JOIN {tables} ON number = {_TRIGRAMS}.rowid"
        conditions.append(f"{_TRIGRAMS} MATCH %s")
        values.append(trigrams)
    for word in words:
        conditions.append(f"{_TEXT} LIKE %s ESCAPE '\\'")
        values.append(_pattern(word[:_PREFIX_LENGTH]))
        if len(word) > _PREFIX_LENGTH:
            # Use an expression, so that PostgreSQL doesn't use the index for this as well.
            conditions.append(f"{_TEXT} || '' LIKE %s ESCAPE '\\'")
            values.append(_pattern(word))
    condition = " AND ".join(conditions)
    if not trigrams and _first_people_suffice(tenant_id, condition, values, after, size):
        return None
    most = _MAX_INDEX_MATCHES + 1 if trigrams else None  # NULL is no limit.
    sql = _INDEX_QUERY.format(tables=tables, condition=condition)
    with connection.cursor() as cursor:
        cursor.execute(sql, [*values, most, *after, size])
        rows = cursor.fetchall()
    total = rows[0][0]
    if total == most:
        return None
    return total, Person.objects.filter(number__in=[number for _, number in rows if number])


def _first_people_suffice(
    tenant_id: str, condition: str, values: Sequence[str], after: Sequence[str], size: int
) -> bool:
    """Return whether enough of the first people match, or there are no more people."""
    sql = _FIRST_QUERY.format(condition=condition)
    with connection.cursor() as cursor:
        cursor.execute(sql, [*values, tenant_id, *after, _FIRST_PEOPLE])
        read, matching = cursor.fetchone()
    return bool(matching >= size or read < _FIRST_PEOPLE)


def _pattern(word: str) -> str:
    return f"%{connection.ops.prep_for_like_query(word)}%"


def _trigrams_of(words: Iterable[str]) -> str:
    """Return an FTS5 expression with adjacent trigrams of the words: overlapping ones take time."""
    starts = [word[:_PREFIX_LENGTH] for word in words if len(word) >= 3]
    trigrams = [
        word[at : at + 3] for word in starts for at in {*range(0, len(word) - 2, 3), len(word) - 3}
    ]
    return " AND ".join('"{}"'.format(trigram.replace('"', '""')) for trigram in trigrams)


def _has_trigram_table() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE name = %s", [_TRIGRAMS])
        return cursor.fetchone() is not None


router = Router(tags=["People"], by_alias=True)


@router.get(
    "",
    response=ListEnvelope[contract.Person],
    operation_id="listPeople",
    summary="List people",
    openapi_extra=error_responses(400, 422),
)
def list_people(request: ServiceRequest, cursor: Cursor = "", limit: Limit = 50) -> HttpResponse:
    """List people by name, then by ID. Fields without a value are absent; `totalCount` is exact."""
    return search_people(request, cursor=cursor, limit=limit)


@router.get(
    "/search",
    response=ListEnvelope[contract.Person],
    operation_id="searchPeople",
    summary="Search people",
    openapi_extra=error_responses(400, 422),
)
def search_people(
    request: ServiceRequest, query: SearchText = "", cursor: Cursor = "", limit: Limit = 50
) -> HttpResponse:
    """List the people who match every word of `query`, by name, then by ID.

    A person's full ID finds that person.
    """
    if "\0" in query:
        raise invalid_fields_problem([FieldError(path="query", message=HOLDS_NUL)])
    if len(query.split()) > MAX_WORDS:
        message = f"must have at most {MAX_WORDS} words"
        raise invalid_fields_problem([FieldError(path="query", message=message)])
    page = find_people(request.auth, query, cursor=cursor, limit=limit)
    return list_response([person_json(row) for row in page.rows], page)
