"""Which two versions to compare: by id, or as `live`, `latest` and `previous`."""

from dataclasses import dataclass
from datetime import datetime

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.queries.audiences import version_last_known, versions_seen
from dashboard.web.audience_head import AudienceHead
from dashboard.web.version_history import previous_to

NAMES = {"live": "The live version", "latest": "The latest version", "previous": "The one before"}
OFFERED = 200
"""Versions to choose from: more than these are reached through the history."""


@dataclass(frozen=True)
class Choice:
    """A version that can be chosen."""

    version_id: str
    number: int
    status: str
    is_live: bool

    @property
    def label(self) -> str:
        """The version as an option says it: `5, live now`."""
        return f"{self.number}, {'live now' if self.is_live else self.status}"


@dataclass(frozen=True)
class Chosen:
    """What was asked for on one side, and the version it names."""

    asked: str
    version: AudienceVersion | None
    problem: str = ""
    """Why there is no version, in a sentence."""
    seen_at: datetime | None = None
    """When it was last seen, where the service does not show it now."""

    @property
    def label(self) -> str:
        """The version by its number."""
        return f"Version {self.version.version_number}" if self.version else ""


def choose(head: AudienceHead, *, asked_from: str, asked_to: str) -> tuple[Chosen, Chosen]:
    """Return the two sides; left open, they are the live and the latest version.

    Where the latest is live, it is compared with the one before it. `previous` is the version
    seen before the other side's.
    """
    to_asked = asked_to or "latest"
    from_asked = asked_from or ("live" if head.live and head.newer else "previous")
    if to_asked == "previous":
        old = _named(head, "latest" if from_asked == "previous" else from_asked)
        return old, _previous(head, old)
    new = _named(head, to_asked)
    return (_previous(head, new) if from_asked == "previous" else _named(head, from_asked)), new


def choices(head: AudienceHead, *chosen: Chosen) -> list[Choice]:
    """Return the newest versions seen, and those chosen, newest first."""
    fields = ("version_id", "version_number", "status")
    seen = versions_seen(head.page_id, head.audience_id).values_list(*fields)[:OFFERED]
    found = dict.fromkeys(seen)
    found |= {
        (one.version.version_id, one.version.version_number, one.version.status): None
        for one in chosen
        if one.version and one.version.version_id not in {row[0] for row in found}
    }
    live_id = head.live.version_id if head.live else ""
    return [
        Choice(version_id, number, status, is_live=version_id == live_id)
        for version_id, number, status in found
    ]


def _named(head: AudienceHead, asked: str, *, asked_as: str = "") -> Chosen:
    if asked == "live":
        return Chosen(asked, head.live, "" if head.live else "Nothing of this audience is live.")
    if asked == "latest":
        return Chosen(asked, head.latest, "" if head.latest else "The audience has no version.")
    for fresh in (head.live, head.latest):
        if fresh and fresh.version_id == asked:
            return Chosen(asked_as or asked, fresh)
    record = version_last_known(head.page_id, head.audience_id, asked)
    if record is None:
        return Chosen(asked, None, f"No version {asked[:80]} of this audience was ever seen here.")
    return Chosen(asked_as or asked, record.version, seen_at=record.last_seen_at)


def _previous(head: AudienceHead, other: Chosen) -> Chosen:
    if other.version is None:
        return Chosen("previous", None, "")
    record = previous_to(head.page_id, head.audience_id, other.version.version_id)
    if record is None:
        number = other.version.version_number
        return Chosen("previous", None, f"No version before {number} was ever seen here.")
    return _named(head, record.version_id, asked_as="previous")
