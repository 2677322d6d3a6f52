"""Queries whose SQL is written once. What each page asks costs Django more to write than to ask.

Shared by the rooms that keep tables. A query is written for stand-ins, and asked with the texts
and numbers that come in their places.
"""

import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Func, IntegerField, QuerySet

SHAPES_KEPT = 100
"""Of a query: one for each number of texts in its lists, and for each fixed argument."""

HOW_MANY = Func(function="COUNT", template="%(function)s(*)", output_field=IntegerField())
"""How many rows are selected. Django groups nothing by it, and SQLite counts any index's entries:
its `Count` of a column looks at each one's value."""

Asked = str | int | Sequence[str]

_NUMBERS_FROM = -2_147_483_000
"""Stand-ins for numbers begin here: no key is as low, and every column of numbers takes them."""


class _StandIn(str):
    """Stands for a text that is asked for later. Each is another text: of equal ones in a list
    Django would keep one."""

    __slots__ = ()


@dataclass(frozen=True)
class _Written:
    """The SQL of a query, and how its rows are read."""

    sql: str
    """With `%(name)s` where something comes: for `%s` Django would search all of it each time."""
    places: Mapping[str, int]
    """What comes under a name, among all that is asked for."""
    held: Mapping[str, int]
    """What of it is a text that is to be held somewhere in another."""
    fixed: Mapping[str, Any]
    """What comes under the other names."""
    read: Callable[[Iterable[Any]], list[Any]]


@dataclass(frozen=True)
class Told:
    """Rows as a database tells them: to be compared as they came, and read where they differ."""

    rows: Sequence[tuple[Any, ...]]
    _read: Callable[[Iterable[Any]], list[Any]] = field(compare=False, repr=False)

    def read(self) -> list[Any]:
        """Return the rows, as named tuples."""
        return self._read(self.rows)


class Statement:
    """A query that is asked again and again with other texts.

    `write` makes it: a named `values_list`. Its positional arguments are texts or numbers to be
    compared, texts for `__contains` or `__icontains`, or lists of texts; all else that it depends
    on are its keyword arguments.
    """

    def __init__(self, write: Callable[..., "QuerySet[Any, Any]"]) -> None:
        self._write = write
        self._written = lru_cache(maxsize=SHAPES_KEPT)(self._written_for)

    def rows(self, *asked: Asked, **fixed: Any) -> list[Any]:
        """Return the rows, as named tuples; one query."""
        return self.told(*asked, **fixed).read()

    def told(self, *asked: Asked, **fixed: Any) -> Told:
        """Return the rows as they come; one query."""
        shape = tuple(type(one) if isinstance(one, str | int) else len(one) for one in asked)
        try:
            written = self._written(shape, **fixed)
        except EmptyResultSet:
            # Django knows without asking what is among nothing.
            return Told([], list)
        given = [one for some in asked for one in ([some] if isinstance(some, str | int) else some)]
        coming = {name: given[place] for name, place in written.places.items()}
        held = {name: _holding(given[place]) for name, place in written.held.items()}
        with connection.cursor() as cursor:
            cursor.execute(written.sql, {**written.fixed, **coming, **held})
            return Told(cursor.fetchall(), written.read)

    def first(self, *asked: Asked, **fixed: Any) -> Any:
        """Return the first of the rows, or None; one query."""
        return next(iter(self.rows(*asked, **fixed)), None)

    def _written_for(self, shape: tuple[type | int, ...], **fixed: Any) -> _Written:
        places: dict[str | int, int] = {}

        def stand_in(kind: type) -> Any:
            place = len(places)
            made = _NUMBERS_FROM + place if kind is int else _StandIn(f"stand-in {place}")
            places[made] = place
            return made

        stand_ins = [
            stand_in(one) if isinstance(one, type) else [stand_in(str) for _ in range(one)]
            for one in shape
        ]
        query = self._write(*stand_ins, **fixed).query
        compiler = query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        converters = compiler.get_converters([column for column, _, _ in compiler.select])
        row: Any = namedtuple("Row", query.selected or ())  # type: ignore[misc]  # told by Django

        def read(found: Iterable[Any]) -> list[Any]:
            converted = compiler.apply_converters(found, converters) if converters else found
            return [row._make(each) for each in converted]

        names = {f"p{number}": one for number, one in enumerate(parameters)}
        comes = {
            name: places[one]
            for name, one in names.items()
            if isinstance(one, _StandIn | int) and one in places
        }
        holding = {_holding(one): place for one, place in places.items() if isinstance(one, str)}
        held = {name: holding[one] for name, one in names.items() if one in holding}
        fixed_ones = {name: one for name, one in names.items() if name not in {**comes, **held}}
        return _Written(_named(sql, names), comes, held, fixed_ones, read)


def _holding(text: Any) -> str:
    """Return the pattern of texts that hold this one, as Django gives it to LIKE."""
    return f"%{connection.ops.prep_for_like_query(text)}%"


def _named(sql: str, names: Iterable[str]) -> str:
    """Return the SQL with a name in each place, in their order."""
    given = iter(names)
    return re.sub("%[%s]", lambda mark: "%%" if mark[0] == "%%" else f"%({next(given)})s", sql)
