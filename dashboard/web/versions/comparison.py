"""The selection of two versions to compare, and the rows of their fields."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q
from pydantic.alias_generators import to_camel

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.queries.audiences import version_last_known, versions_seen
from dashboard.ledger.states import state_label, version_state
from dashboard.web.audiences.state import AudienceHead
from dashboard.web.versions.history import DATES, previous_to

NAMES = {"live": "Live version", "latest": "Latest version", "previous": "Previous version"}
MAX_OFFERED = 200
"""Maximum number of versions to choose from. The history leads to older ones."""


@dataclass(frozen=True)
class VersionOption:
    version_id: str
    number: int
    state: str

    @property
    def label(self) -> str:
        return f"{self.number}, {state_label(self.state).lower()}"


@dataclass(frozen=True)
class ChosenVersion:
    param: str
    version: AudienceVersion | None
    problem: str = ""
    """Reason why there is no version."""
    seen_at: datetime | None = None
    """When the version was last seen, if the service doesn't show it now."""

    @property
    def label(self) -> str:
        return f"Version {self.version.version_number}" if self.version else ""


def choose(
    head: AudienceHead, *, from_param: str, to_param: str
) -> tuple[ChosenVersion, ChosenVersion]:
    """Return the two versions to compare, by default the live and the latest one.

    If the latest version is live, it is compared with the version before it. `previous` is the
    version before the one on the other side.
    """
    new_param = to_param or "latest"
    old_param = from_param or ("live" if head.live and head.newer else "previous")
    if new_param == "previous":
        old = _find(head, "latest" if old_param == "previous" else old_param)
        return old, _previous(head, old)
    new = _find(head, new_param)
    return (_previous(head, new) if old_param == "previous" else _find(head, old_param)), new


def choices(head: AudienceHead, *chosen: ChosenVersion) -> list[VersionOption]:
    """Return the newest versions in the ledger, newest first, then other chosen ones."""
    # Search the stored JSON, as the texts of 200 versions may be too long to read.
    was_published = ~Q(body__contains='"publishedAt":null')
    seen = versions_seen(head.page_id, head.audience_id).annotate(was_published=was_published)
    rows = seen.values_list("version_id", "version_number", "status", "was_published")
    live_version_id = head.live.version_id if head.live else None
    offered = {
        version_id: VersionOption(
            version_id,
            number,
            version_state(
                status,
                is_live=version_id == live_version_id,
                was_live=was_published,
                is_rolled_back=status not in IN_FLIGHT and head.was_rolled_back(version_id),
            ),
        )
        for version_id, number, status, was_published in rows[:MAX_OFFERED]
    }
    for version in (side.version for side in chosen if side.version):
        option = VersionOption(version.version_id, version.version_number, head.state_of(version))
        offered.setdefault(version.version_id, option)
    return list(offered.values())


def names(head: AudienceHead, offered: list[VersionOption], other: ChosenVersion) -> dict[str, str]:
    """Return the label of each name for one side, with the number of its current version.

    `other` is the other side. `offered` holds versions, newest first.
    """
    ids = [choice.version_id for choice in offered]
    place = ids.index(other.version.version_id) if other.version else len(ids)
    before = offered[place + 1 : place + 2]
    numbers = {
        "live": head.live.version_number if head.live else None,
        "latest": head.latest.version_number if head.latest else None,
        "previous": before[0].number if before else None,
    }
    return {
        name: label if numbers[name] is None else f"{label} ({numbers[name]})"
        for name, label in NAMES.items()
    }


def _find(head: AudienceHead, param: str, *, shown_param: str = "") -> ChosenVersion:
    if param == "live":
        return ChosenVersion(param, head.live, "" if head.live else "Nothing is live.")
    if param == "latest":
        return ChosenVersion(
            param, head.latest, "" if head.latest else "This audience has no versions."
        )
    for fresh in (head.live, head.latest):
        if fresh and fresh.version_id == param:
            return ChosenVersion(shown_param or param, fresh)
    record = version_last_known(head.page_id, head.audience_id, param)
    if record is None:
        return ChosenVersion(param, None, f"No version {param[:80]} is recorded for this audience.")
    return ChosenVersion(shown_param or param, record.version, seen_at=record.last_seen_at)


def _previous(head: AudienceHead, other: ChosenVersion) -> ChosenVersion:
    if other.version is None:
        return ChosenVersion("previous", None, "")
    record = previous_to(head.page_id, head.audience_id, other.version.version_id)
    if record is None:
        number = other.version.version_number
        return ChosenVersion("previous", None, f"No version before {number} is recorded.")
    return _find(head, record.version_id, shown_param="previous")


_KINDS = {
    "version_id": "id",
    **{field: "date" for field, _, _ in DATES},
    "queue_duration_ms": "number",
    "is_new_page_agent": "value",
}
"""How to render the fields of the spec, in order. Status and context are not included."""


@dataclass(frozen=True)
class FactRow:
    """A field of two versions, with its name in the API."""

    name: str
    old: Any
    new: Any
    kind: str
    """How to render the values: status, id, date, number or value."""

    @property
    def differs(self) -> bool:
        return bool(self.old != self.new)


def fact_rows(head: AudienceHead, old: AudienceVersion, new: AudienceVersion) -> list[FactRow]:
    """Return the fields of the spec except the context, and other fields that were sent.

    The status comes from `AudienceState.state_of`.
    """
    extra = {**(old.model_extra or {}), **(new.model_extra or {})}
    status = FactRow("status", head.state_of(old), head.state_of(new), "status")
    others = [
        FactRow(
            to_camel(name) if name in _KINDS else name,
            getattr(old, name, None),
            getattr(new, name, None),
            _KINDS.get(name, "value"),
        )
        for name in (*_KINDS, *extra)
    ]
    return [status, *others]
