"""Filters of a list: the parameter of each, its values, and what is said of them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import date
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q
from django.http import QueryDict
from django.utils.dateparse import parse_date

from dashboard.ledger.queries.pages import NOT_GIVEN
from dashboard.web.ui.query_params import MAX_TEXT_LENGTH

MAX_VALUES = 50
"""Of one filter. Our choice."""


@dataclass(frozen=True)
class FilterOption:
    value: str
    count: int | None
    """Items with this value, with the other filters applied; None if not counted."""
    is_chosen: bool

    @property
    def is_not_given(self) -> bool:
        """Whether it selects the items for which the service gave no value."""
        return self.value == NOT_GIVEN


@dataclass(frozen=True, eq=False)
class Filter:
    """A filter by any text."""

    param: str
    label: str = ""
    _: KW_ONLY
    several: bool = False
    """Whether the list shows what has any of several values."""
    max_length: int = MAX_TEXT_LENGTH
    column: str = ""
    """The column with its values, of a list that is a QuerySet."""
    where: Callable[[str], Q] | None = None
    """Returns the condition of a value, if it is not simply that of a column."""
    chip_label: str = ""
    """Its label above the list, if that is another one."""
    missing_label: str = ""
    """Its label where a value that does not exist is named, if that is another one."""

    def texts(self, params: QueryDict) -> tuple[str, ...]:
        """Return its values in a query string, also those that nothing has."""
        texts = params.getlist(self.param)
        cleaned = dict.fromkeys(map(self.clean, texts if self.several else texts[-1:]))
        return tuple(filter(None, cleaned))[:MAX_VALUES]

    def parse(self, params: QueryDict) -> tuple[str, ...]:
        """Return its values in a query string, without those that can't exist."""
        return self.texts(params)

    def clean(self, text: str) -> str:
        """Return a value without NUL, which PostgreSQL rejects; a single one without blanks."""
        text = text.replace("\0", "")[: self.max_length]
        return text if self.several else text.strip()

    def condition(self, values: Collection[str]) -> Q:
        """Return the condition of rows with any of the values."""
        if self.where:
            return reduce(or_, map(self.where, values), Q())
        return Q(**{f"{self.column}__in": values}) if self.column and values else Q()

    def missing(self, texts: Iterable[str], seen: Collection[str] | None) -> list[str]:
        """Return the values that do not exist; `seen` are values that exist, if they were read."""
        return []

    def are_certain(self, texts: Iterable[str]) -> bool:
        """Return whether the values are known to exist, as far as some are."""
        return True

    def words(self, value: str) -> str:
        return value


class Day(Filter):
    """A filter by a day, such as `2026-03-12`; any other text filters nothing."""

    def parse(self, params: QueryDict) -> tuple[str, ...]:
        return tuple(text for text in self.texts(params) if parse_day(text))


@dataclass(frozen=True, eq=False)
class Choice(Filter):
    _: KW_ONLY
    values: Collection[str] = ()
    """Those that are always offered, in order."""
    others: Collection[str] = ()
    """More that always exist, but are offered only if something has them."""
    is_open: bool = False
    """Whether there may be any other value."""
    find: Callable[[list[str]], Collection[str]] | None = None
    """Returns which of some other values exist; called only if there are any."""
    label_of: Callable[[str], str] = str
    """Returns a value in words."""
    badge_of: Callable[[str], str] | None = None
    """Returns a value as a badge, for a menu."""
    icon: str = "filter"
    """Of the button that opens its menu."""
    all_label: str = ""
    """The option that chooses no value."""

    def parse(self, params: QueryDict) -> tuple[str, ...]:
        """Return the chosen values; those that can't exist are dropped."""
        texts = self.texts(params)
        if self.is_open or self.find:
            return texts
        return tuple(text for text in texts if text in self.values or text in self.others)

    def missing(self, texts: Iterable[str], seen: Collection[str] | None) -> list[str]:
        if self.is_open and seen is None:
            return []
        possible = {*self.values, *self.others, *(seen or ())}
        others = [text for text in texts if text not in possible]
        existing = {*self.find(others)} if others and self.find else set()
        return [text for text in others if text not in existing]

    def are_certain(self, texts: Iterable[str]) -> bool:
        """Return whether the values are among those that always exist, if any do."""
        return not self.values or {*texts} <= {*self.values, *self.others}

    def words(self, value: str) -> str:
        return self.label_of(value)

    def badge(self, value: str) -> str:
        """Return a value for a menu: as a badge, or in words."""
        return (self.badge_of or self.label_of)(value)

    def options(self, counts: Mapping[str, int], chosen: Iterable[str]) -> list[FilterOption]:
        """Return the values to choose from, then others seen or chosen; "not given" last."""
        values = dict.fromkeys([*map(str, self.values), *sorted(counts), *chosen])
        ordered = sorted(values, key=lambda value: value == NOT_GIVEN)
        return [FilterOption(value, counts.get(value, 0), value in {*chosen}) for value in ordered]


SEARCH = Filter("q")
"""The search of every list that has one."""


def choice_among(
    param: str, label: str, choices: Iterable[tuple[str, Any]], **options: Any
) -> Choice:
    """Return a filter whose values are all known, each with its words."""
    words = {str(value): str(words) for value, words in choices}
    return Choice(param, label, values=[*words], label_of=words.__getitem__, **options)


def parse_day(text: str) -> date | None:
    """Return a day such as `2026-03-12`; None if the text is none."""
    try:
        return parse_date(text)
    except ValueError:
        return None
