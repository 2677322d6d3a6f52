"""The metadata fields of a page, as the detail page shows them."""

import re
from dataclasses import dataclass
from typing import Any

from dashboard.contract.metadata import FIELDS, Metadata

LINKS = {name for name in FIELDS if name.endswith("Url")}

_COLOR = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)


@dataclass(frozen=True)
class MetadataField:
    """One field: its name on the wire and the value sent for it."""

    name: str
    value: Any
    was_sent: bool

    @property
    def is_set(self) -> bool:
        """Whether it has a value."""
        return self.value not in (None, "", [])

    @property
    def is_list(self) -> bool:
        """Whether it has several values."""
        return isinstance(self.value, list)

    @property
    def is_link(self) -> bool:
        """Whether its value is a URL, judged from its name."""
        return self.name in LINKS

    @property
    def color(self) -> str:
        """A color that is safe to render; empty if there is none."""
        is_color = self.name == "themeColor" and _COLOR.fullmatch(str(self.value))
        return str(self.value) if is_color else ""


def metadata_fields(metadata: Metadata | None) -> list[MetadataField]:
    """Return every field of the spec in its order, including those not sent."""
    sent = metadata.to_wire() if metadata else {}
    return [MetadataField(name, sent.get(name), name in sent) for name in FIELDS]
