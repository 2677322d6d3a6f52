"""Lists in parts: a cursor names the last row seen, so rows that come and go shift nothing.

Source: DESIGN.md (the spec gives `cursor` and `limit`, and not what they hold).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from django.core.signing import BadSignature, Signer
from django.db.models import Case, Exists, Model, Q, QuerySet, Subquery, When

from dashboard.embedded_api.models import Tenant
from dashboard.embedded_api.problems import ProblemError
from dashboard.statements import HOW_MANY, Statement

MAX_LIMIT = 200


@dataclass(frozen=True)
class Order:
    """An order of rows: by a field, then by the id, which settles ties."""

    field: str
    descending: bool

    def after(self, value: str, row_id: str) -> Q:
        """Return what holds of the rows after the one of that id, whose field has that value."""
        way = "lt" if self.descending else "gt"
        # The first condition alone bounds the index; the other two settle the tie.
        return Q(**{f"{self.field}__{way}e": value}) & (
            Q(**{f"{self.field}__{way}": value}) | Q(**{f"id__{way}": row_id})
        )

    def columns(self) -> tuple[str, str]:
        """Return the names to order by."""
        return (f"-{self.field}", "-id") if self.descending else (self.field, "id")

    def cursor_at(self, row: Any) -> str:
        """Return the cursor that names a row: signed, so that none is made up."""
        return self._signer.sign_object([getattr(row, self.field), row.id])

    def read(self, cursor: str) -> Any:
        """Return the field and the id of the row that a cursor names. Raises a 400."""
        try:
            return self._signer.unsign_object(cursor)
        except BadSignature:
            detail = "The cursor is none that a list of this kind gave."
            raise ProblemError(HTTPStatus.BAD_REQUEST, detail) from None

    @property
    def _signer(self) -> Signer:
        return Signer(salt=f"{__name__}.{self.field}")


NEWEST_FIRST = Order("created_at", descending=True)
BY_NAME = Order("name", descending=False)


@dataclass(frozen=True)
class Part:
    """One part of a list. There may be more without a way to it: then no cursor is given."""

    rows: list[Any]
    total_count: int
    has_more: bool
    next_cursor: str | None = None


class Listing:
    """A list that each tenant has of its own rows, in an order.

    `shown` makes a named `values_list` of a model's rows, the id and the order's field among it.
    """

    def __init__(
        self,
        model: type[Model],
        order: Order,
        shown: "Callable[[QuerySet[Any]], QuerySet[Any, Any]]",
    ) -> None:
        def rows_of(tenant_id: str) -> "QuerySet[Any]":
            return model._default_manager.filter(tenant_id=tenant_id)

        def ordered(rows: "QuerySet[Any]", size: int) -> "QuerySet[Any, Any]":
            return shown(rows.order_by(*order.columns()))[:size]

        self._order = order
        self._first = Statement(lambda tenant_id, *, size: ordered(rows_of(tenant_id), size))
        self._after = Statement(
            lambda tenant_id, value, row_id, *, size: ordered(
                rows_of(tenant_id).filter(order.after(value, row_id)), size
            )
        )
        self._count = Statement(partial(_counted, model))

    def part(
        self, tenant_id: str, *, cursor: str = "", limit: float = 50, total_count: int | None = None
    ) -> Part:
        """Return the tenant's rows after the cursor, or the first ones: `limit`, 200 at most.

        The rows are counted unless the count is known.
        Raises ProblemError (400) for a cursor of another kind of list, or of nobody's making.
        """
        size = size_of(limit)
        if cursor:
            found = self._after.rows(tenant_id, *self._order.read(cursor), size=size + 1)
        else:
            found = self._first.rows(tenant_id, size=size + 1)
        if total_count is None:
            # A tenant who has never made anything may not be there itself.
            counted = self._count.first(tenant_id)
            total_count = counted.total if counted else 0
        return cut(found, self._order, size=size, total_count=total_count)


def _counted(model: type[Model], tenant_id: str) -> "QuerySet[Tenant, Any]":
    """Return how many rows a tenant has.

    SQLite knows how many a table has with hardly a look, and mostly there is but one tenant.
    """
    rows = model._default_manager.order_by()
    own = rows.filter(tenant_id=tenant_id)
    # By two looks at an index: there is none for "another than".
    of_others = rows.filter(Q(tenant_id__lt=tenant_id) | Q(tenant_id__gt=tenant_id))
    total = Case(
        When(Exists(of_others), then=Subquery(own.values(total=HOW_MANY))),
        default=Subquery(rows.values(total=HOW_MANY)),
    )
    tenant = Tenant.objects.filter(id=tenant_id).annotate(total=total)
    return tenant.values_list("total", named=True)


def size_of(limit: float) -> int:
    """Return how many rows a part has at most."""
    return int(min(limit, MAX_LIMIT))


def cut(found: list[Any], order: Order, *, size: int, total_count: int) -> Part:
    """Return a part of rows found in order, of which one too many says that there are more."""
    has_more = len(found) > size
    next_cursor = order.cursor_at(found[size - 1]) if has_more else None
    return Part(found[:size], total_count, has_more, next_cursor)
