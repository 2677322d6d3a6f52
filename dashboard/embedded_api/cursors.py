"""Keyset pagination: a cursor names the last row, so rows added or removed meanwhile shift nothing.

Source: DESIGN.md (the spec gives `cursor` and `limit`, and not what they contain).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from django.core.signing import BadSignature, Signer
from django.db.models import Case, Exists, Model, Q, QuerySet, Subquery, When

from dashboard.compiled_query import ROW_COUNT, CompiledQuery
from dashboard.embedded_api.models import Tenant
from dashboard.embedded_api.problems import ProblemError

MAX_LIMIT = 200


@dataclass(frozen=True)
class Order:
    """Order rows by a field, then by id."""

    field: str
    descending: bool
    id_field: str = "id"

    def after(self, value: str, row_id: str) -> Q:
        """Return the condition for rows after the row with this value and id."""
        operator = "lt" if self.descending else "gt"
        # The first condition bounds the index scan; the other two resolve ties.
        return Q(**{f"{self.field}__{operator}e": value}) & (
            Q(**{f"{self.field}__{operator}": value})
            | Q(**{f"{self.id_field}__{operator}": row_id})
        )

    def columns(self) -> tuple[str, ...]:
        """Return the arguments of `order_by`."""
        fields = (self.field, self.id_field)
        return tuple(f"-{name}" for name in fields) if self.descending else fields

    def cursor_for(self, row: Any) -> str:
        """Return the signed cursor that names a row."""
        return self._signer.sign_object([getattr(row, self.field), getattr(row, self.id_field)])

    def read_cursor(self, cursor: str) -> Any:
        """Return the value and the id that a cursor contains. Raises ProblemError (400)."""
        try:
            return self._signer.unsign_object(cursor)
        except BadSignature:
            detail = "The cursor is invalid for this list."
            raise ProblemError(HTTPStatus.BAD_REQUEST, detail) from None

    @property
    def _signer(self) -> Signer:
        # Never change the salt: issued cursors are signed with it.
        return Signer(salt=f"dashboard.embedded_api.cursors.{self.field}")


NEWEST_FIRST = Order("created_at", descending=True)
BY_NAME = Order("name", descending=False, id_field="person_id")


@dataclass(frozen=True)
class ListPage:
    """One page of results. `has_more` may be true without a `next_cursor`."""

    rows: list[Any]
    total_count: int
    has_more: bool
    next_cursor: str | None = None


class Listing:
    """A paginated list of a tenant's rows, with compiled queries.

    `select` makes a named `values_list` that includes the id and the order's field.
    """

    def __init__(
        self,
        model: type[Model],
        order: Order,
        select: "Callable[[QuerySet[Any]], QuerySet[Any, Any]]",
    ) -> None:
        def rows_of(tenant_id: str, *after: str, size: int) -> "QuerySet[Any, Any]":
            rows = model._default_manager.filter(tenant_id=tenant_id).order_by(*order.columns())
            return select(rows.filter(order.after(*after)) if after else rows)[:size]

        self._order = order
        self._rows = CompiledQuery(rows_of)
        self._count = CompiledQuery(partial(_tenant_with_row_count, model))

    def page(self, tenant_id: str, *, cursor: str, limit: float) -> ListPage:
        """Return up to `limit` (at most 200) of the tenant's rows, from the start or a cursor.

        Raises ProblemError (400) for a cursor that is invalid or of another kind of list.
        """
        size = page_size(limit)
        after = self._order.read_cursor(cursor) if cursor else ()
        rows = self._rows.rows(tenant_id, *after, size=size + 1)
        # The tenant's own row may not exist yet.
        counted = self._count.first(tenant_id)
        total_count = counted.total if counted else 0
        return paginate(rows, self._order, size=size, total_count=total_count)


def _tenant_with_row_count(model: type[Model], tenant_id: str) -> "QuerySet[Tenant, Any]":
    """Count a tenant's rows.

    SQLite counts a whole table faster than a part of it, and usually there is only one tenant.
    """
    rows = model._default_manager.order_by()
    own = rows.filter(tenant_id=tenant_id)
    # Two conditions can use the index; `!=` can not.
    of_others = rows.filter(Q(tenant_id__lt=tenant_id) | Q(tenant_id__gt=tenant_id))
    total = Case(
        When(Exists(of_others), then=Subquery(own.values(total=ROW_COUNT))),
        default=Subquery(rows.values(total=ROW_COUNT)),
    )
    tenant = Tenant.objects.filter(id=tenant_id).annotate(total=total)
    return tenant.values_list("total", named=True)


def page_size(limit: float) -> int:
    """Return the number of rows for a requested limit."""
    return int(min(limit, MAX_LIMIT))


def paginate(rows: list[Any], order: Order, *, size: int, total_count: int) -> ListPage:
    """Return the first `size` of the ordered rows; any further row means that there are more."""
    has_more = len(rows) > size
    next_cursor = order.cursor_for(rows[size - 1]) if has_more else None
    return ListPage(rows[:size], total_count, has_more, next_cursor)
