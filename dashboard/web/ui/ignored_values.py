"""Values of a list's URL that nothing has, or has no longer: the list is shown without them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from django.http import QueryDict

from dashboard.web.ui.columns import ShownColumns

PAGING = ("after", "after_page", "back", "cursor", "read", "show")
"""Parameters of a place in a list, which another list does not have."""
MAX_LENGTH = 200
"""Characters of a value that are shown."""


@dataclass(frozen=True)
class KnownValues:
    """The values that a filter may have."""

    label: str
    """The name of the filter in a sentence."""
    fixed: Collection[str] = ()
    """Those that always exist, such as the specification's."""
    find: Callable[[list[str]], Collection[str]] | None = None
    """Returns which of some other values exist; called only if there are any."""

    def missing(self, values: Iterable[str]) -> list[str]:
        """Return the values that do not exist."""
        others = [value for value in values if value and value not in self.fixed]
        found = {*self.find(others)} if others and self.find else set()
        return [value for value in others if value not in found]


@dataclass(frozen=True)
class IgnoredValue:
    """A value that the list ignores; `url` is the list without it."""

    label: str
    value: str
    url: str


@dataclass(frozen=True)
class CheckedParams:
    """The parameters of a list without those values, and the values."""

    params: QueryDict
    ignored: list[IgnoredValue]


def check_params(
    params: QueryDict, known: Mapping[str, KnownValues], columns: ShownColumns | None = None
) -> CheckedParams:
    """Find the values of a list's URL that do not exist; `known` are its filters by parameter."""
    rest, ignored = params.copy(), []
    for name, values in known.items():
        given = [value.replace("\0", "") for value in params.getlist(name)]
        missing = values.missing(dict.fromkeys(given))
        ignored += [
            IgnoredValue(values.label, value[:MAX_LENGTH], _without(params, name, value))
            for value in missing
        ]
        if missing:
            rest.setlist(name, [value for value in given if value not in missing])
    if columns and columns.unknown:
        url = _with(params, "columns", [columns.param] if columns.param else [])
        names = ", ".join(columns.unknown)[:MAX_LENGTH]
        ignored.append(IgnoredValue("Column", names, url))
    return CheckedParams(rest, ignored)


def _without(params: QueryDict, name: str, value: str) -> str:
    """Return the query string of the list without this value."""
    rest = [one for one in params.getlist(name) if one.replace("\0", "") != value]
    return _with(params, name, rest)


def _with(params: QueryDict, name: str, values: list[str]) -> str:
    changed = params.copy()
    changed.setlist(name, values)
    for paging in PAGING:
        changed.pop(paging, None)
    return f"?{changed.urlencode()}"
