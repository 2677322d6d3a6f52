"""Keyset pagination: a cursor names the last row, so rows added or removed meanwhile shift nothing.

Source: our choice; the spec gives `cursor` and `limit`, and not what they contain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.core.signing import BadSignature, Signer
from django.db.models import Case, Exists, Model, Q, QuerySet, Subquery, When

from dashboard.compiled_query import ROW_COUNT
from dashboard.embedded_api.models import Tenant
from dashboard.embedded_api.problems import ProblemError

MAX_LIMIT = 200


@dataclass(frozen=True)
class Order:
    field: str
    descending: bool
    id_field: str = "id"

    def after(self, value: str, row_id: str) -> Q:
        operator = "lt" if self.descending else "gt"
        # The first condition bounds the index scan; the other two resolve ties.
        return Q(**{f"{self.field}__{operator}e": value}) & (
            Q(**{f"{self.field}__{operator}": value})
            | Q(**{f"{self.id_field}__{operator}": row_id})
        )

    def columns(self) -> tuple[str, ...]:
        fields = (self.field, self.id_field)
        return tuple(f"-{name}" for name in fields) if self.descending else fields

    def cursor_for(self, row: Any) -> str:
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


@dataclass(frozen=True)
class Listing:
    """A paginated list of a tenant's rows.

    `select` makes a named `values_list` that includes the id and the order's field.
    """

    model: type[Model]
    order: Order
    select: "Callable[[QuerySet[Any]], QuerySet[Any, Any]]"

    def page(self, tenant_id: str, *, cursor: str, limit: float) -> ListPage:
        """Return up to `limit` (at most 200) of the tenant's rows, from the start or a cursor.

        Raises ProblemError (400) for a cursor that is invalid or of another kind of list.
        """
        size = page_size(limit)
        rows = self.model._default_manager.filter(tenant_id=tenant_id)
        if cursor:
            rows = rows.filter(self.order.after(*self.order.read_cursor(cursor)))
        selected = list(self.select(rows.order_by(*self.order.columns()))[: size + 1])
        # The tenant's own row may not exist yet.
        total_count = _row_count(self.model, tenant_id).first() or 0
        return paginate(selected, self.order, size=size, total_count=total_count)


def _row_count(model: type[Model], tenant_id: str) -> "QuerySet[Tenant, Any]":
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
    return tenant.values_list("total", flat=True)


def page_size(limit: float) -> int:
    return int(min(limit, MAX_LIMIT))


def paginate(rows: list[Any], order: Order, *, size: int, total_count: int) -> ListPage:
    """Return the first `size` of the ordered rows; any further row means that there are more."""
    has_more = len(rows) > size
    next_cursor = order.cursor_for(rows[size - 1]) if has_more else None
    return ListPage(rows[:size], total_count, has_more, next_cursor)
