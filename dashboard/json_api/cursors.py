"""Keyset pagination: a cursor names the last row, so added or removed rows don't shift pages.

Source: our choice; the spec names `cursor` and `limit` but doesn't show what they contain.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.core.signing import BadSignature, Signer
from django.db.models import Q

from dashboard.json_api.problems import ProblemError

MAX_LIMIT = 200


def sign_cursor(position: Any, salt: str) -> str:
    return Signer(salt=salt).sign_object(position)


def unsign_cursor(cursor: str, salt: str) -> Any:
    """Return the position in a cursor of the list with this salt. Raises ProblemError (400)."""
    try:
        return Signer(salt=salt).unsign_object(cursor)
    except BadSignature:
        detail = "The cursor is invalid for this list."
        raise ProblemError(HTTPStatus.BAD_REQUEST, detail) from None


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
        position = [getattr(row, self.field), getattr(row, self.id_field)]
        return sign_cursor(position, self._salt)

    def read_cursor(self, cursor: str) -> Any:
        """Return the value and the id that a cursor contains. Raises ProblemError (400)."""
        return unsign_cursor(cursor, self._salt)

    @property
    def _salt(self) -> str:
        # Never change it: issued cursors are signed with it.
        return f"dashboard.embedded_api.cursors.{self.field}"


NEWEST_FIRST = Order("created_at", descending=True)
BY_NAME = Order("name", descending=False, id_field="person_id")


@dataclass(frozen=True)
class ListPage:
    """One page of results. `has_more` may be true without a `next_cursor`."""

    rows: list[Any]
    total_count: int
    has_more: bool
    next_cursor: str | None = None


def page_size(limit: float) -> int:
    return int(min(limit, MAX_LIMIT))


def paginate(rows: list[Any], order: Order, *, size: int, total_count: int) -> ListPage:
    """Return the first `size` ordered rows as a page; any further row sets `has_more`."""
    has_more = len(rows) > size
    next_cursor = order.cursor_for(rows[size - 1]) if has_more else None
    return ListPage(rows[:size], total_count, has_more, next_cursor)
