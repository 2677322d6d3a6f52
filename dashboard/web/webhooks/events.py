"""The events of a subscription as groups of checkboxes, by the service's own names."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from dashboard.contract.webhooks import EventName


@dataclass(frozen=True)
class EventGroup:
    """The checkboxes of the events with the common prefix `key`."""

    key: str
    """Empty for names that are not in the spec."""
    boxes: dict[str, bool]
    """Whether each event is chosen, by its name."""

    @property
    def is_all(self) -> bool:
        """Whether all its events are chosen."""
        return all(self.boxes.values())


def event_groups(chosen: Collection[str], others: Iterable[str]) -> list[EventGroup]:
    """Return the spec's events in groups, and all other names in one group."""
    groups: dict[str, dict[str, bool]] = {}
    for name in pickable(others):
        key = name.rpartition(".")[0] if name in set(EventName) else ""
        groups.setdefault(key, {})[name] = name in chosen
    return [EventGroup(key, boxes) for key, boxes in groups.items()]


def pickable(others: Iterable[str]) -> list[str]:
    """Return every event that can be chosen: the spec's, then others."""
    return list(dict.fromkeys([*(event.value for event in EventName), *others]))


def in_order(chosen: Collection[str], before: Sequence[str] | None) -> list[str]:
    """Return the chosen events: the old ones in their old order, then the new ones."""
    old = [name for name in dict.fromkeys(before or ()) if name in chosen]
    return old + [name for name in pickable(chosen) if name in chosen and name not in old]
