"""Options of a filter, with counts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboard.ledger.queries.pages import NOT_GIVEN


@dataclass(frozen=True)
class FilterOption:
    """One value of a filter."""

    value: str
    count: int | None
    """Items with this value, with the other filters applied; None if not counted."""
    is_chosen: bool

    @property
    def is_not_given(self) -> bool:
        """Whether it selects the items for which the service gave no value."""
        return self.value == NOT_GIVEN


def choices(
    known: Iterable[str], counts: Mapping[str, int], chosen: Iterable[str]
) -> list[FilterOption]:
    """Return options for the spec's values, then for others seen or chosen; "not given" last."""
    values = dict.fromkeys([*map(str, known), *sorted(counts), *chosen])
    ordered = sorted(values, key=lambda value: value == NOT_GIVEN)
    return [FilterOption(value, counts.get(value, 0), value in {*chosen}) for value in ordered]
