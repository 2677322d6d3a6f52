"""The fields of two versions side by side."""

from dataclasses import dataclass
from typing import Any

from dashboard.contract.audiences import AudienceVersion
from dashboard.web.lifecycles import DATES

_DATE_FIELDS = tuple(field for field, _, _ in DATES)
_FIELDS = ("status", "version_id", *_DATE_FIELDS, "queue_duration_ms", "is_new_page_agent")


@dataclass(frozen=True)
class FactRow:
    """One field of two versions, by its name on the wire."""

    name: str
    old: Any
    new: Any
    kind: str
    """How to draw it: status, id, date, number or value."""

    @property
    def differs(self) -> bool:
        """Whether both came otherwise."""
        return bool(self.old != self.new)


def fact_rows(old: AudienceVersion, new: AudienceVersion) -> list[FactRow]:
    """Return the spec's fields but the context, and whatever else the service sent."""
    extra = {**(old.model_extra or {}), **(new.model_extra or {})}
    return [
        FactRow(_wire_name(name), getattr(old, name, None), getattr(new, name, None), _kind(name))
        for name in (*_FIELDS, *extra)
    ]


def _wire_name(name: str) -> str:
    field = AudienceVersion.model_fields.get(name)
    return field.alias or name if field else name


def _kind(name: str) -> str:
    if name in _DATE_FIELDS:
        return "date"
    return {"status": "status", "version_id": "id", "queue_duration_ms": "number"}.get(
        name, "value"
    )
