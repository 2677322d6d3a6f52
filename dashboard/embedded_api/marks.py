"""Marks and ids: texts that carry a moment and sort by it.

Every date is kept in the tables as the mark the wire shows (`accountlog_` and a UUIDv7), so one
date is the same text each time it is read, and the database sorts and compares it as it is.
"""

from datetime import datetime
from functools import lru_cache

from django.utils import timezone

from dashboard.contract.dates import MARK_PREFIX, write_mark

MARK_LENGTH = len(MARK_PREFIX) + 26
_RANDOM_LETTERS = 16  # of the 26; the first ten hold the milliseconds


def mark_now() -> str:
    """Return a fresh mark of this moment."""
    return write_mark(timezone.now())


@lru_cache(maxsize=8)  # a list asks it of one moment for each of its rows
def last_mark_of(moment: datetime) -> str:
    """Return the highest text a mark of that millisecond can be: `mark <= it` means "has come"."""
    return write_mark(moment)[:-_RANDOM_LETTERS] + "z" * _RANDOM_LETTERS


def new_id(kind: str, moment: datetime | None = None) -> str:
    """Return an id such as `page_` and a UUIDv7 of that moment, by default now."""
    return f"{kind}_{write_mark(moment or timezone.now()).removeprefix(MARK_PREFIX)}"
