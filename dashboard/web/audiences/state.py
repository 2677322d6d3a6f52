"""The state of an audience and its versions, and the head of its pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q
from django.utils.functional import cached_property

from dashboard import clock
from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.resource import UnreadableValue
from dashboard.ledger.models import PageRecord, Publication
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.audiences import (
    audience_last_known,
    list_publications,
    rollback_of,
    target_in,
    versions_seen,
)
from dashboard.ledger.queries.pages import page_last_known
from dashboard.ledger.states import state_label, version_state
from dashboard.releases.models import ReleaseState
from dashboard.releases.planning import planned_publishes
from dashboard.releases.worker import is_running
from dashboard.service.reading import AudienceLookup

MAX_HISTORY = 500
"""How many publications are read to find rolled back versions. Source: our choice."""
ROLLBACK_OFFERED_FOR = timedelta(hours=1)
"""How long the rollback stays next to a new live version. Later it is in the menu."""


@dataclass(frozen=True)
class AudienceState:
    page_id: str
    audience_id: str
    audience: Audience
    is_page_archived: bool = False
    is_latest_rolled_back: bool = False
    """Whether the latest version was live and was rolled back to an older one."""
    is_latest_rejected: bool = False
    planned: Sequence[Any] = ()
    """Versions that wait in releases, from `planned_publishes`."""

    @property
    def title(self) -> str:
        return self.audience.name or "Unnamed audience"

    @property
    def live(self) -> AudienceVersion | None:
        return self.audience.published_version

    @property
    def latest(self) -> AudienceVersion | None:
        return self.audience.latest_version

    @property
    def newer(self) -> AudienceVersion | None:
        return None if self.is_live(self.latest) else self.latest

    @property
    def in_flight(self) -> AudienceVersion | None:
        newer = self.newer
        return newer if newer and newer.status in IN_FLIGHT else None

    @property
    def is_archived(self) -> bool:
        """Whether the audience or its page is archived. Then no publish is offered."""
        return bool(self.audience.archived_at) or self.is_page_archived

    @property
    def candidate(self) -> AudienceVersion | None:
        """The latest version if it is offered for publishing, or None.

        A version that is live, in flight, canceled or rolled back is not offered.
        """
        newer = self.newer
        if newer is None or self.is_archived or self.is_rolled_back(newer):
            return None
        return None if newer.status in (*IN_FLIGHT, VersionStatus.CANCELLED) else newer

    def waits_for_approval(self, version: AudienceVersion | None) -> Any:
        """Return the version's item in a release that waits for approval, or None."""
        for item in self.planned:
            is_waiting = item.release_state == ReleaseState.WAITING_FOR_APPROVAL
            if is_waiting and version and item.version_id == version.version_id:
                return item
        return None

    @property
    def live_label(self) -> str:
        return f"Version {self.live.version_number} live" if self.live else ""

    @property
    def newer_state(self) -> str:
        newer = self.newer
        return self.state_of(newer) if newer else ""

    @property
    def newer_label(self) -> str:
        newer = self.newer
        if newer is None:
            return ""
        return f"Version {newer.version_number} {state_label(self.newer_state).lower()}"

    def state_of(self, version: AudienceVersion) -> str:
        return version_state(
            version.status,
            is_live=self.is_live(version),
            was_live=self.was_live(version),
            is_rolled_back=self.is_rolled_back(version),
        )

    def was_live(self, version: AudienceVersion) -> bool:
        """Return whether the version was ever live, judged by its date."""
        return bool(version.published_at)

    def version_of_text(self, text: str | None) -> str:
        """Return the version that has this supplementary context, such as `version 5, live`.

        Only the live and the latest version are compared, the live one first.
        """
        for version in filter(None, (self.live, self.latest)):
            if text and version.supplementary_context == text:
                state = state_label(self.state_of(version)).lower()
                return f"version {version.version_number}, {state}"
        return "of neither the live nor the latest version"

    def is_rolled_back(self, version: AudienceVersion) -> bool:
        return self.is_latest_rolled_back and self.is_latest(version)

    def is_latest(self, version: AudienceVersion) -> bool:
        return self.latest is not None and version.version_id == self.latest.version_id

    def is_live(self, version: AudienceVersion | None) -> bool:
        return bool(version and self.live and version.version_id == self.live.version_id)


@dataclass(frozen=True, kw_only=True)
class AudienceHead(AudienceState):
    """The context of `audiences/_live_head.html` and `audiences/_tabs.html`, as `head`."""

    page: PageRecord | None
    """Page as last seen; None if it was never seen."""
    versions_count: int
    has_version_in_flight: bool
    listed: bool
    unreadable: UnreadableValue | None
    """Item of the audience in the list, if it can't be parsed."""

    @property
    def page_name(self) -> str:
        return (self.page.name if self.page else "") or self.page_id

    @cached_property
    def publications(self) -> list[Publication]:
        """The last publications, newest first. Makes one query."""
        return list_publications(self.page_id, self.audience_id, limit=MAX_HISTORY)

    def was_live(self, version: AudienceVersion) -> bool:
        """Return whether the version was ever live, by its date or by the ledger."""
        ids = {publication.version_id for publication in self.publications}
        return super().was_live(version) or version.version_id in ids

    @cached_property
    def rollback(self) -> Publication | None:
        return target_in(self.publications[::-1])

    @property
    def just_went_live(self) -> bool:
        """Whether the live version went live within the last hour, but not by a rollback."""
        live = self.publications[0] if self.publications else None
        if live is None or not live.is_live or live.reason == PublicationReason.ROLLBACK:
            return False
        return clock.now() - live.started_at < ROLLBACK_OFFERED_FOR

    def is_rolled_back(self, version: AudienceVersion) -> bool:
        if self.is_live(version) or version.status in IN_FLIGHT:
            return False
        return self.was_rolled_back(version.version_id)

    def was_rolled_back(self, version_id: str) -> bool:
        """Return whether the version's last publication ended with a rollback."""
        return rollback_of(self.publications[::-1], version_id) is not None

    @cached_property
    def lacks_worker(self) -> bool:
        """Whether a release needs a worker but none is running. Makes at most one query."""
        needed = (ReleaseState.SCHEDULED, ReleaseState.RUNNING)
        is_needed = any(release.release_state in needed for release in self.planned)
        return is_needed and not is_running(clock.now())


def head_of(
    page_id: str, audience_id: str, lookup: AudienceLookup, *, page: PageRecord | None = None
) -> AudienceHead:
    """Return the head of an audience's pages. Makes three queries, and no call to the service.

    `audience_id` comes from the URL, because the service may send an audience without its id.
    `page` is the page as last seen, if it was read already.
    """
    page = page or page_last_known(page_id)
    versions = versions_seen(page_id, audience_id).aggregate(
        count=Count("pk"), in_flight=Count("pk", filter=Q(status__in=IN_FLIGHT))
    )
    return AudienceHead(
        page_id=page_id,
        audience_id=audience_id,
        audience=lookup.audience,
        is_page_archived=page is not None and page.is_archived,
        planned=planned_publishes([page_id]).get((page_id, audience_id), ()),
        page=page,
        versions_count=versions["count"],
        has_version_in_flight=versions["in_flight"] > 0,
        listed=lookup.listed,
        unreadable=lookup.unreadable,
    )


def head_last_known(page_id: str, audience_id: str) -> AudienceHead | None:
    """Return the head of an audience from the ledger; None if it was never seen."""
    record = audience_last_known(page_id, audience_id)
    return head_of(page_id, audience_id, AudienceLookup(record.audience)) if record else None
