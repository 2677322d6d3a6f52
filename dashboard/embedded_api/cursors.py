"""Lists in parts: a cursor names the last row seen, so rows that come and go shift nothing.

Source: DESIGN.md (the spec gives `cursor` and `limit`, and not what they hold).
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Generic, TypeVar

from django.core.signing import BadSignature, Signer
from django.db.models import Model, Q, QuerySet

from dashboard.embedded_api.problems import ProblemError

MAX_LIMIT = 200
RowT = TypeVar("RowT", bound=Model)


@dataclass(frozen=True)
class Order:
    """An order of rows: by a field, then by the id, which settles ties."""

    field: str
    descending: bool

    def after(self, cursor: str) -> Q:
        """Return what holds of the rows after the one the cursor names. Raises a 400."""
        value, row_id = self.read(cursor)
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
        return self._signer.sign_object([getattr(row, self.field), row.pk])

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
class Part(Generic[RowT]):
    """One part of a list. There may be more without a way to it: then no cursor is given."""

    rows: list[RowT]
    total_count: int
    has_more: bool
    next_cursor: str | None = None


def part_of(
    rows: "QuerySet[RowT]",
    order: Order,
    *,
    cursor: str = "",
    limit: float = 50,
    total_count: int | None = None,
) -> Part[RowT]:
    """Return the rows after the cursor, or the first ones: `limit` of them, 200 at most.

    The rows are counted unless the count is known.
    Raises ProblemError (400) for a cursor of another kind of list, or of nobody's making.
    """
    size = size_of(limit)
    after = rows.filter(order.after(cursor)) if cursor else rows
    found = list(after.order_by(*order.columns())[: size + 1])
    total_count = rows.count() if total_count is None else total_count
    return cut(found, order, size=size, total_count=total_count)


def size_of(limit: float) -> int:
    """Return how many rows a part has at most."""
    return int(min(limit, MAX_LIMIT))


def cut(found: list[RowT], order: Order, *, size: int, total_count: int) -> Part[RowT]:
    """Return a part of rows found in order, of which one too many says that there are more."""
    has_more = len(found) > size
    next_cursor = order.cursor_at(found[size - 1]) if has_more else None
    return Part(found[:size], total_count, has_more, next_cursor)
