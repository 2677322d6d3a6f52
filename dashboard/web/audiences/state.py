"""The state of an audience and its versions, and the head of every audience page."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils import timezone

from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.resource import UnreadableValue
from dashboard.ledger.models.audiences import IN_FLIGHT
from dashboard.ledger.queries.audiences import audience_last_known, versions_seen
from dashboard.ledger.queries.pages import page_last_known
from dashboard.releases.models import ReleaseState
from dashboard.releases.queries import planned_publishes
from dashboard.releases.worker import is_running
from dashboard.service.reading import AudienceLookup
from dashboard.web.ui.version_status import version_status


@dataclass(frozen=True)
class AudienceState:
    """An audience of a page, and the states of its versions."""

    page_id: str
    audience_id: str
    audience: Audience
    is_page_archived: bool = False
    planned: Sequence[Any] = ()
    """Its versions that wait in releases: rows of `planned_publishes`."""

    @property
    def title(self) -> str:
        """The audience's name, or a placeholder."""
        return self.audience.name or "Unnamed audience"

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
        """The latest version, unless it is live."""
        return None if self.is_live(self.latest) else self.latest

    @property
    def in_flight(self) -> AudienceVersion | None:
        """The latest version, if its publish is in progress."""
        newer = self.newer
        return newer if newer and newer.status in IN_FLIGHT else None

    @property
    def is_archived(self) -> bool:
        """Whether the audience or its page is archived, so that no publish is offered."""
        return bool(self.audience.archived_at) or self.is_page_archived

    @property
    def candidate(self) -> AudienceVersion | None:
        """The version offered for publishing: the latest, unless live, in flight or cancelled."""
        newer = self.newer
        if newer is None or self.is_archived:
            return None
        return None if newer.status in (*IN_FLIGHT, VersionStatus.CANCELLED) else newer

    @property
    def live_label(self) -> str:
        """The label of the live version's pill."""
        return f"Version {self.live.version_number} live" if self.live else ""

    @property
    def newer_status(self) -> str:
        """The status of the latest version, unless it is live."""
        newer = self.newer
        return self.status_of(newer) if newer else ""

    @property
    def newer_label(self) -> str:
        """The label of the latest version's pill, with the service's own status."""
        newer = self.newer
        return f"Version {newer.version_number} {self.status_of(newer)}" if newer else ""

    def status_of(self, version: AudienceVersion) -> str:
        """Return `live`, `superseded`, or the version's own status."""
        return version_status(
            version.version_id,
            version.status,
            was_published=bool(version.published_at),
            live_version_id=self.live.version_id if self.live else None,
        )

    def is_latest(self, version: AudienceVersion) -> bool:
        """Return whether this is the newest version."""
        return self.latest is not None and version.version_id == self.latest.version_id

    def is_live(self, version: AudienceVersion | None) -> bool:
        """Return whether this is the live version."""
        return bool(version and self.live and version.version_id == self.live.version_id)


@dataclass(frozen=True, kw_only=True)
class AudienceHead(AudienceState):
    """The context of `audiences/_head.html` and `audiences/_tabs.html`, as `head`."""

    page_name: str
    versions_count: int
    """The number of versions in the ledger."""
    listed: bool
    """Whether the service still lists it."""
    unreadable: UnreadableValue | None
    """Its item in the list, if that can't be parsed."""

    @cached_property
    def lacks_worker(self) -> bool:
        """Whether a version is to be sent, and no worker runs. One query, if any is."""
        needed = (ReleaseState.SCHEDULED, ReleaseState.RUNNING)
        is_needed = any(each.release_state in needed for each in self.planned)
        return is_needed and not is_running(timezone.now())


def head_of(page_id: str, audience_id: str, found: AudienceLookup) -> AudienceHead:
    """Return the head of an audience's pages. Three queries, no request to the service.

    `audience_id` is that of the URL: an audience may be sent without its id.
    """
    page = page_last_known(page_id)
    return AudienceHead(
        page_id=page_id,
        audience_id=audience_id,
        audience=found.audience,
        is_page_archived=page is not None and page.is_archived,
        planned=planned_publishes([page_id]).get((page_id, audience_id), ()),
        page_name=page.name if page else page_id,
        versions_count=versions_seen(page_id, audience_id).count(),
        listed=found.listed,
        unreadable=found.unreadable,
    )


def head_last_known(page_id: str, audience_id: str) -> AudienceHead | None:
    """Return the head of an audience from the ledger, or None if it was never seen."""
    record = audience_last_known(page_id, audience_id)
    return head_of(page_id, audience_id, AudienceLookup(record.audience)) if record else None
