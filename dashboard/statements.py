"""Queries whose SQL is written once. What each page asks costs Django more to write than to ask.

Shared by the rooms that keep tables. A query is written for stand-ins, and asked with the texts
that come in their places.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import Func, IntegerField, QuerySet

SHAPES_KEPT = 100
"""Of a query: one for each number of texts in its lists, and for each fixed argument."""

HOW_MANY = Func(function="COUNT", template="%(function)s(*)", output_field=IntegerField())
"""How many rows are selected. Django groups nothing by it, and SQLite counts any index's entries:
its `Count` of a column looks at each one's value."""

Texts = str | Sequence[str]


class _StandIn(str):
    """Stands for a text that is asked for later. Each is another text: of equal ones in a list
    Django would keep one."""

    __slots__ = ("place",)
    place: int

    @classmethod
    def at(cls, place: int) -> "_StandIn":
        made = cls(f"stand-in {place}")
        made.place = place
        return made


@dataclass(frozen=True)
class _Written:
    """The SQL of a query, and how its rows are read."""

    sql: str
    parameters: tuple[Any, ...]
    read: Callable[[Iterable[Any]], list[Any]]


class Statement:
    """A query that is asked again and again with other texts.

    `write` makes it: a named `values_list`. Its positional arguments are texts to be compared, or
    lists of them for `__in`; all else that it depends on are its keyword arguments.
    """

    def __init__(self, write: Callable[..., "QuerySet[Any, Any]"]) -> None:
        self._write = write
        self._written = lru_cache(maxsize=SHAPES_KEPT)(self._written_for)

    def rows(self, *texts: Texts, **fixed: Any) -> list[Any]:
        """Return the rows, as named tuples; one query."""
        shape = tuple(None if isinstance(text, str) else len(text) for text in texts)
        if 0 in shape:
            # SQL has no empty list; Django knows without asking what is among nothing.
            return list(self._write(*texts, **fixed))
        written = self._written(shape, **fixed)
        asked = [each for text in texts for each in ([text] if isinstance(text, str) else [*text])]
        parameters = [
            asked[each.place] if isinstance(each, _StandIn) else each for each in written.parameters
        ]
        with connection.cursor() as cursor:
            cursor.execute(written.sql, parameters)
            return written.read(cursor.fetchall())

    def first(self, *texts: Texts, **fixed: Any) -> Any:
        """Return the first of the rows, or None; one query."""
        return next(iter(self.rows(*texts, **fixed)), None)

    def _written_for(self, shape: tuple[int | None, ...], **fixed: Any) -> _Written:
        place = 0
        stand_ins: list[Texts] = []
        for length in shape:
            made = [_StandIn.at(place + number) for number in range(length or 1)]
            stand_ins.append(made[0] if length is None else made)
            place += len(made)
        query = self._write(*stand_ins, **fixed).query
        compiler = query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        converters = compiler.get_converters([column for column, _, _ in compiler.select])
        row: Any = namedtuple("Row", query.selected or ())  # type: ignore[misc]  # told by Django

        def read(found: Iterable[Any]) -> list[Any]:
            converted = compiler.apply_converters(found, converters) if converters else found
            return [row._make(each) for each in converted]

        return _Written(sql, tuple(parameters), read)
