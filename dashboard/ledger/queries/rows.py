"""Read many rows in several queries, and find which values a column has."""

from collections.abc import Collection, Iterator
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

AudienceKey = tuple[str, str]
"""The ids of a page and of one of its audiences."""
STEP = 500

ModelT = TypeVar("ModelT", bound=Model)


def read_in_steps(rows: "QuerySet[Any, Any]") -> Iterator[Any]:
    """Yield the rows in their order. They need a `pk`; the first query reads all keys.

    No cursor stays open between queries: a cursor belongs to one connection, and a pooler may give
    each transaction another. Rows deleted meanwhile are left out.
    """
    keys = list(rows.values_list("pk", flat=True))
    for start in range(0, len(keys), STEP):
        step = keys[start : start + STEP]
        by_key = {row.pk: row for row in rows.filter(pk__in=step).order_by()}
        yield from (by_key[key] for key in step if key in by_key)


def existing_values(model: type[Model], column: str, values: Collection[str]) -> set[str]:
    records = model._default_manager.filter(**{f"{column}__in": values})
    return {*records.order_by().values_list(column, flat=True).distinct()}


def rows_after(rows: QuerySet[ModelT], last: ModelT, *, column: str) -> QuerySet[ModelT]:
    """Return the rows after `last`, in descending order of a column and the primary key."""
    value = getattr(last, column)
    return rows.filter(Q(**{f"{column}__lt": value}) | Q(**{column: value}, pk__lt=last.pk))
