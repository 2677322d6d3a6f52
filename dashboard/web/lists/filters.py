"""Filters of a list, with their parameters, values and labels."""

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
"""Maximum number of values of a filter. Source: our choice."""


@dataclass(frozen=True)
class FilterOption:
    value: str
    count: int | None
    """Number of items with this value under the other filters; None if not counted."""
    is_chosen: bool


@dataclass(frozen=True, eq=False)
class Filter:
    """A filter that accepts any text."""

    param: str
    label: str = ""
    _: KW_ONLY
    several: bool = False
    """Whether several values can be chosen; the list then shows items with any of them."""
    max_length: int = MAX_TEXT_LENGTH
    column: str = ""
    """Database column of the values, if the list is a QuerySet."""
    where: Callable[[str], Q] | None = None
    """Returns the condition for a value, if it is more than a comparison with `column`."""
    chip_label: str = ""
    """Label above the list, if it differs from `label`."""
    missing_label: str = ""
    """Label in the note on a value that doesn't exist, if it differs from `label`."""

    def texts(self, params: QueryDict) -> tuple[str, ...]:
        """Return the filter's values in a query string, including values that don't exist."""
        texts = params.getlist(self.param)
        cleaned = dict.fromkeys(map(self.clean, texts if self.several else texts[-1:]))
        return tuple(filter(None, cleaned))[:MAX_VALUES]

    def parse(self, params: QueryDict) -> tuple[str, ...]:
        """Return the filter's values in a query string, without those that can't exist."""
        return self.texts(params)

    def clean(self, text: str) -> str:
        """Remove NUL, which PostgreSQL rejects, and truncate. Strip a filter's single value."""
        text = text.replace("\0", "")[: self.max_length]
        return text if self.several else text.strip()

    def condition(self, values: Collection[str]) -> Q:
        """Return the condition for rows with any of the values."""
        if self.where:
            return reduce(or_, map(self.where, values), Q())
        return Q(**{f"{self.column}__in": values}) if self.column and values else Q()

    def missing(self, texts: Iterable[str], seen: Collection[str] | None) -> list[str]:
        """Return the values that don't exist. `seen` holds existing values, if they were read."""
        return []

    def are_certain(self, texts: Iterable[str]) -> bool:
        """Return whether the values are sure to exist. True for filters without listed values."""
        return True

    def words(self, value: str) -> str:
        return value


class Day(Filter):
    """A filter by a day, such as `2026-03-12`. Any other text is ignored."""

    def parse(self, params: QueryDict) -> tuple[str, ...]:
        return tuple(text for text in self.texts(params) if parse_day(text))


@dataclass(frozen=True, eq=False)
class Choice(Filter):
    _: KW_ONLY
    values: Collection[str] = ()
    """Values that are always offered, in order."""
    others: Collection[str] = ()
    """Further valid values, which are offered only if an item has them."""
    is_open: bool = False
    """Whether any other value is valid, too."""
    find: Callable[[list[str]], Collection[str]] | None = None
    """Returns which of the given other values exist. Called only if there are any."""
    label_of: Callable[[str], str] = str
    badge_of: Callable[[str], str] | None = None
    """Returns the badge of a value, for a menu."""
    icon: str = "filter"
    """Icon of the button that opens the menu."""
    all_label: str = ""
    """Label of the option that chooses no value."""

    def parse(self, params: QueryDict) -> tuple[str, ...]:
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
        """Return whether all values are listed ones. True if the filter lists none."""
        return not self.values or {*texts} <= {*self.values, *self.others}

    def words(self, value: str) -> str:
        return self.label_of(value)

    def badge(self, value: str) -> str:
        """Return the badge of a value for a menu, or its label if it has no badge."""
        return (self.badge_of or self.label_of)(value)

    def options(self, counts: Mapping[str, int], chosen: Iterable[str]) -> list[FilterOption]:
        """Return the listed values, then other counted or chosen ones, with "not given" last."""
        values = dict.fromkeys([*map(str, self.values), *sorted(counts), *chosen])
        ordered = sorted(values, key=lambda value: value == NOT_GIVEN)
        return [FilterOption(value, counts.get(value, 0), value in {*chosen}) for value in ordered]


SEARCH = Filter("q")
"""The search of every list that has one."""


def choice_among(
    param: str, label: str, choices: Iterable[tuple[str, Any]], **options: Any
) -> Choice:
    """Return a filter with a fixed set of values and labels."""
    words = {str(value): str(words) for value, words in choices}
    return Choice(param, label, values=[*words], label_of=words.__getitem__, **options)


def parse_day(text: str) -> date | None:
    """Return a day such as `2026-03-12`; None if the text isn't one."""
    try:
        return parse_date(text)
    except ValueError:
        return None
