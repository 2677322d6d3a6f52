"""Limit the size of a response: cut its rows or text, and return a cursor to the rest."""

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db.models import Model, QuerySet
from pydantic import BaseModel

from dashboard.json_api.cursors import sign_cursor, unsign_cursor
from dashboard.machine.shapes import ItemList, ListOptions

MAX_BYTES = 16_000
"""Size of the rows or text as MCP sends them, JSON within JSON. Its responses stay below 25 KB."""

RowT = TypeVar("RowT", bound=BaseModel)
AnyRow = TypeVar("AnyRow", bound=Model)


def page(
    rows: "QuerySet[AnyRow]",
    arguments: ListOptions,
    what: str,
    shape: Callable[[list[AnyRow]], list[RowT]],
) -> ItemList[RowT]:
    """Return a page of rows and the cursor of the next one; None after the last.

    The newest is first, by primary key: reads don't change it, so no row moves past a cursor.
    """
    if start := _place(arguments.cursor, what):
        rows = rows.filter(pk__lt=start)
    read = list(rows.order_by("-pk")[: arguments.limit + 1])
    fitting = _fitting(shape(read[: arguments.limit]))
    is_more = len(fitting) < len(read)
    last = read[len(fitting) - 1].pk if is_more else None
    return ItemList(items=fitting, next_cursor=_cursor(last, what))


def cut(rows: Sequence[RowT], cursor: str, what: str) -> tuple[list[RowT], str | None]:
    """Return the rows from a cursor on that fit, and the cursor of the rest."""
    start = _place(cursor, what)
    fitting = _fitting(rows[start:])
    end = start + len(fitting)
    return fitting, _cursor(end if end < len(rows) else None, what)


def _fitting(rows: Sequence[RowT]) -> list[RowT]:
    """Return the rows that fit into a response, at least one."""
    size, fitting = 0, list[RowT]()
    for row in rows:
        size += _size(row.model_dump_json())
        if fitting and size > MAX_BYTES:
            break
        fitting.append(row)
    return fitting


def cut_text(text: str, cursor: str, what: str) -> tuple[str, str | None]:
    """Return the part of a text from a cursor on that fits, and the cursor of the rest."""
    start = _place(cursor, what)
    part = text[start : start + MAX_BYTES]
    while _size(json.dumps(part, ensure_ascii=False)) > MAX_BYTES:
        part = part[: len(part) * 3 // 4]
    end = start + len(part)
    return part, _cursor(end if end < len(text) else None, what)


def _size(as_json: str) -> int:
    return len(json.dumps(as_json, ensure_ascii=False).encode(errors="replace"))


def _cursor(place: int | None, what: str) -> str | None:
    return None if place is None else sign_cursor(place, f"machine.{what}")


def _place(cursor: str, what: str) -> int:
    """Return the place in a cursor; 0 if it is empty. Raises ProblemError (400)."""
    return int(unsign_cursor(cursor, f"machine.{what}")) if cursor else 0
