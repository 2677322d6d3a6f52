"""The events of a subscription as groups of checkboxes, by the service's own names."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from dashboard.contract.webhooks import EventName

OTHER = "other"


@dataclass(frozen=True)
class EventBox:
    """The checkbox of one event."""

    name: str
    is_chosen: bool


@dataclass(frozen=True)
class EventGroup:
    """Events with the common prefix `key`, or OTHER for names that are not in the spec."""

    key: str
    boxes: list[EventBox]

    @property
    def is_other(self) -> bool:
        """Whether its names are not in the spec."""
        return self.key == OTHER

    @property
    def is_all(self) -> bool:
        """Whether all its events are chosen."""
        return all(box.is_chosen for box in self.boxes)


def event_groups(chosen: Collection[str], others: Iterable[str]) -> list[EventGroup]:
    """Return the spec's events in groups, and all other names in one group."""
    groups: dict[str, list[EventBox]] = {}
    for name in pickable(others):
        groups.setdefault(_group(name), []).append(EventBox(name, name in chosen))
    return [EventGroup(key, boxes) for key, boxes in groups.items()]


def pickable(others: Iterable[str]) -> list[str]:
    """Return every event that can be chosen: the spec's, then others."""
    return list(dict.fromkeys([*(event.value for event in EventName), *others]))


def in_order(chosen: Collection[str], before: Sequence[str] | None) -> list[str]:
    """Return the chosen events: the old ones in their old order, then the new ones."""
    old = [name for name in dict.fromkeys(before or ()) if name in chosen]
    return old + [name for name in pickable(chosen) if name in chosen and name not in old]


def _group(name: str) -> str:
    return name.rpartition(".")[0] if name in set(EventName) else OTHER
