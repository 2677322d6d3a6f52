"""Marks and ids: texts that contain a time and sort by that time.

The tables store every date as the mark that the API returns (`accountlog_` and a UUIDv7). So a date
is always the same text, and the database can sort and compare it.
"""

from datetime import datetime
from functools import lru_cache, partial
from typing import Any

from django.db import models

from dashboard import clock
from dashboard.contract.wire import MARK_PREFIX, write_mark

MARK_LENGTH = len(MARK_PREFIX) + 26
ID_LENGTH = 255
_RANDOM_LETTERS = 16  # of the 26; the first ten hold the milliseconds


def uuid7_now() -> str:
    return write_mark(clock.now())


@lru_cache(maxsize=8)
def last_uuid7_of(moment: datetime) -> str:
    """Return the highest possible mark of a millisecond, for `mark <= last_uuid7_of(now)`."""
    return write_mark(moment)[:-_RANDOM_LETTERS] + "z" * _RANDOM_LETTERS


def new_id(kind: str) -> str:
    """Return an id for the current time, such as `page_` and a UUIDv7."""
    return f"{kind}_{uuid7_now().removeprefix(MARK_PREFIX)}"


def id_column(kind: str) -> "models.CharField[Any, str]":
    """Return a primary key column with a default such as `page_…`. Other texts are allowed."""
    return models.CharField(
        verbose_name="ID",
        primary_key=True,
        max_length=ID_LENGTH,
        default=partial(new_id, kind),
        editable=False,
    )
