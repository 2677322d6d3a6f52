"""What stands above every page of one audience: its name, its versions, what can be done."""

from dataclasses import dataclass

from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.envelope import UnreadableItem
from dashboard.ledger.queries.audiences import IN_FLIGHT, audience_last_known, versions_seen
from dashboard.web.readings import FoundAudience, page_name


@dataclass(frozen=True)
class AudienceState:
    """An audience of a page, and how its versions stand."""

    page_id: str
    audience_id: str
    audience: Audience

    @property
    def title(self) -> str:
        """The audience's name, or that it has none."""
        return self.audience.name or "Name not given"

    @property
    def live(self) -> AudienceVersion | None:
        """The version that is live now."""
        return self.audience.published_version

    @property
    def latest(self) -> AudienceVersion | None:
        """The newest version, live or not."""
        return self.audience.latest_version

    @property
    def newer(self) -> AudienceVersion | None:
        """The latest version where it is another than the live one."""
        return None if self.is_live(self.latest) else self.latest

    @property
    def in_flight(self) -> AudienceVersion | None:
        """The latest version where it is on its way to live."""
        return self.newer if self.newer and self.newer.status in IN_FLIGHT else None

    @property
    def candidate(self) -> AudienceVersion | None:
        """The version to offer for publishing: the latest, unless live, on its way or cancelled."""
        if self.newer is None or self.newer.status in (*IN_FLIGHT, VersionStatus.CANCELLED):
            return None
        return self.newer

    @property
    def live_label(self) -> str:
        """The live version in a pill."""
        return f"Version {self.live.version_number} live" if self.live else ""

    @property
    def newer_label(self) -> str:
        """The latest version in a pill, its status by the service's own name."""
        newer = self.newer
        return f"Version {newer.version_number} {newer.status}" if newer else ""

    def is_latest(self, version: AudienceVersion) -> bool:
        """Tell whether this is the newest version."""
        return self.latest is not None and version.version_id == self.latest.version_id

    def is_live(self, version: AudienceVersion | None) -> bool:
        """Tell whether this is the version that is live now."""
        return (
            version is not None
            and self.live is not None
            and (version.version_id == self.live.version_id)
        )


@dataclass(frozen=True)
class AudienceHead(AudienceState):
    """The context of `audiences/_head.html` and `audiences/_tabs.html`, as `head`."""

    page_name: str
    versions_count: int
    """Versions ever seen here."""
    listed: bool
    """Whether the service's list has it (still)."""
    unreadable: UnreadableItem | None
    """Its place in the list, where what stands there can't be read."""


def head_of(page_id: str, audience_id: str, found: FoundAudience) -> AudienceHead:
    """Return the head of an audience's pages. Two queries, no call.

    `audience_id` is the one in the address: an audience need not carry its own.
    """
    return AudienceHead(
        page_id=page_id,
        audience_id=audience_id,
        audience=found.audience,
        page_name=page_name(page_id),
        versions_count=versions_seen(page_id, audience_id).count(),
        listed=found.listed,
        unreadable=found.unreadable,
    )


def head_last_known(page_id: str, audience_id: str) -> AudienceHead | None:
    """Return the head of an audience as last seen, where nobody asks the service for it."""
    record = audience_last_known(page_id, audience_id)
    return head_of(page_id, audience_id, FoundAudience(record.audience)) if record else None
