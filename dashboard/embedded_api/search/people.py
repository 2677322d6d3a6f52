"""Answering a search among people: counts and beginnings are remembered until people change."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, TypeVar

from django.core.cache import cache
from django.db.models import QuerySet

from dashboard.embedded_api.cursors import BY_NAME, Listing, Part, cut, size_of
from dashboard.embedded_api.models import Person, PersonText
from dashboard.embedded_api.search.choice import index_in_use
from dashboard.embedded_api.search.found import Span
from dashboard.embedded_api.search.labels import first_after
from dashboard.embedded_api.search.upkeep import up_to_date
from dashboard.embedded_api.search.words import words_of
from dashboard.statements import Statement

ResultT = TypeVar("ResultT")


def _shown(people: "QuerySet[Person]") -> "QuerySet[Person, Any]":
    names = [field.attname for field in Person._meta.concrete_fields]
    return people.values_list(*names, named=True)


_LISTED = Listing(Person, BY_NAME, _shown)
_NAMED = Statement(lambda ids: _shown(Person.objects.filter(id__in=ids)))
_A_DAY_S = 24 * 60 * 60
_TRIES = 3


def people_found(tenant_id: str, query: str, *, cursor: str = "", limit: float = 50) -> Part:
    """Return the people who have every word of the query; a blank one has no words.

    Raises ProblemError (400) for a cursor of another kind of list, or of nobody's making.
    Source: DESIGN.md (the spec does not show the matching rules).
    """
    words, size = words_of(query), size_of(limit)
    total, first = _remembered(tenant_id, words, size + 1 if words else 0)
    if not words:
        return _LISTED.part(tenant_id, cursor=cursor, limit=limit, total_count=total)
    ids = _ids_after(cursor, tenant_id, words, size + 1) if cursor else first
    rows = {row.id: row for row in _NAMED.rows(ids)}
    return cut([rows[key] for key in ids if key in rows], BY_NAME, size=size, total_count=total)


def _remembered(tenant_id: str, words: Sequence[str], size: int) -> tuple[int, list[str]]:
    """Return the exact count, and the ids of the first people: worked out once for each state."""
    mark = up_to_date()
    known: tuple[int, list[str]] | None = cache.get(_key(mark, tenant_id, words, size))
    if known is not None:
        return known
    mark, answer = _in_one_state(lambda: _count(tenant_id, words, size), mark)
    if mark:
        cache.set(_key(mark, tenant_id, words, size), answer, _A_DAY_S)
    return answer


def _key(mark: str, *question: object) -> str:
    return f"people:{mark}:{sha256(repr(question).encode()).hexdigest()}"


def _in_one_state(ask: Callable[[], ResultT], mark: str) -> tuple[str, ResultT]:
    """Ask, and once more if people changed meanwhile; return the mark of the state, or none."""
    for _ in range(_TRIES):
        answer, before, mark = ask(), mark, up_to_date()
        if mark == before:
            return mark, answer
    return "", answer


def _count(tenant_id: str, words: Sequence[str], size: int) -> tuple[int, list[str]]:
    if not words:
        return PersonText.objects.filter(tenant_id=tenant_id).count(), []
    found = index_in_use().find(words, Span(tenant_id), size)
    return found.count, found.first


def _ids_after(cursor: str, tenant_id: str, words: Sequence[str], size: int) -> list[str]:
    name, person_id = BY_NAME.read(cursor)

    def rest() -> list[str]:
        start = first_after(tenant_id, name, person_id)
        return [] if start is None else index_in_use().ids(words, Span(tenant_id, start), size)

    return _in_one_state(rest, up_to_date())[1]
