"""Limit the size of a response: cut its rows or text, and return a cursor to the rest."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import TypeVar

from django.core.signing import BadSignature, Signer
from pydantic import BaseModel

from dashboard.machine.errors import ActError

MAX_BYTES = 16_000
"""Size of the rows or text as MCP sends them, JSON within JSON. Its responses stay below 25 KB."""

RowT = TypeVar("RowT", bound=BaseModel)


def cut(rows: Sequence[RowT], start: int = 0, limit: int = 1_000) -> tuple[list[RowT], int | None]:
    """Return the rows that fit, at least one, and the index of the next; None after the last."""
    size, fitting = 0, list[RowT]()
    for row in rows[start : start + limit]:
        size += _size(row.model_dump_json())
        if fitting and size > MAX_BYTES:
            break
        fitting.append(row)
    end = start + len(fitting)
    return fitting, end if end < len(rows) else None


def cut_text(text: str, start: int) -> tuple[str, int | None]:
    """Return the part of a text that fits, and the index of the rest; None at the end."""
    part = text[start : start + MAX_BYTES]
    while _size(json.dumps(part, ensure_ascii=False)) > MAX_BYTES:
        part = part[: len(part) * 3 // 4]
    end = start + len(part)
    return part, end if end < len(text) else None


def _size(as_json: str) -> int:
    return len(json.dumps(as_json, ensure_ascii=False).encode(errors="replace"))


def to_cursor(place: int | None, what: str) -> str | None:
    return None if place is None else Signer(salt=f"machine.{what}").sign_object(place)


def from_cursor(cursor: str, what: str) -> int:
    """Return the position in a cursor; 0 if it is empty. Raises ActError (400)."""
    if not cursor:
        return 0
    try:
        return int(Signer(salt=f"machine.{what}").unsign_object(cursor))
    except BadSignature:
        detail = "The cursor is invalid for this list."
        raise ActError(HTTPStatus.BAD_REQUEST, detail) from None
