"""Read many rows in several queries, without a cursor that stays open between them."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

STEP = 500


def read_in_steps(rows: "QuerySet[Any, Any]") -> Iterator[Any]:
    """Yield the rows, which have a `pk`, in their order; at first one query for their keys.

    A pooler gives each transaction any connection, and a cursor of the database belongs to one: an
    export by a cursor would break off in the middle. Rows deleted meanwhile are left out.
    """
    keys = list(rows.values_list("pk", flat=True))
    for start in range(0, len(keys), STEP):
        step = keys[start : start + STEP]
        by_key = {row.pk: row for row in rows.filter(pk__in=step).order_by()}
        yield from (by_key[key] for key in step if key in by_key)
