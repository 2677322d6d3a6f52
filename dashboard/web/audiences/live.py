"""The top of an audience's page: what is live, what would change, and the timeline."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.functional import cached_property

from dashboard import clock
from dashboard.contract.audiences import text_of
from dashboard.contract.wire import read_date
from dashboard.ledger.models import Publication
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.audiences import is_rollback, version_last_known
from dashboard.ledger.states import VersionState
from dashboard.releases.planning import releases_of_operations
from dashboard.text_diff import TextDifference, compare_texts
from dashboard.web.audiences.state import AudienceHead

MAX_PUBLICATIONS = 20
"""Maximum number of publications in the timeline. Source: our choice."""


@dataclass(frozen=True)
class TimelineRow:
    """A period in which a version was live, with the publication that it replaced."""

    publication: Publication
    before: Publication | None
    is_rolled_back: bool
    release: Any = None
    """Item of the release that sent it, from `releases_of_operations`; None without a release."""

    @property
    def state(self) -> VersionState:
        if self.publication.is_live:
            return VersionState.LIVE
        return VersionState.ROLLED_BACK if self.is_rolled_back else VersionState.SUPERSEDED

    @property
    def lasted(self) -> timedelta:
        until = self.publication.ended_at or clock.now()
        return max(until - self.publication.started_at, timedelta())

    @property
    def took(self) -> timedelta | None:
        """Time from the request until the version was live; None if either is unknown."""
        operation = self.publication.operation
        if operation is None or self.publication.is_start_seen:
            return None
        took = self.publication.started_at - operation.requested_at
        return took if took >= timedelta() else None

    @property
    def is_rollback(self) -> bool:
        return self.before is not None and self.publication.reason == PublicationReason.ROLLBACK

    @property
    def shape(self) -> tuple[str, str]:
        """Icon and tone: from the state if live or rolled back, otherwise from the reason."""
        if self.state != VersionState.SUPERSEDED:
            return self.state.icon, self.state.tone
        return REASON_SHAPES.get(self.publication.reason, ("publish", "plain"))


REASON_SHAPES = {
    PublicationReason.RELEASE.value: ("release", "plain"),
    PublicationReason.ROLLBACK.value: ("rollback", "plain"),
    PublicationReason.EMERGENCY.value: ("alert", "bad"),
    PublicationReason.OUTSIDE.value: ("external", "warn"),
    PublicationReason.FIRST_SEEN.value: ("eye", "plain"),
    PublicationReason.AFTER_RESTORE.value: ("eye", "plain"),
    PublicationReason.SEEN_AGAIN.value: ("eye", "plain"),
}


@dataclass(frozen=True)
class LiveView:
    head: AudienceHead
    timeline: list[TimelineRow]
    """Rows of the timeline, newest first, at most MAX_PUBLICATIONS."""

    @cached_property
    def row(self) -> TimelineRow | None:
        """The row of the live version; None if nothing is live or it isn't recorded."""
        live = self.head.live
        row = self.timeline[0] if self.timeline else None
        is_recorded = live and row and row.publication.version_id == live.version_id
        return row if is_recorded and row and row.publication.is_live else None

    @property
    def queued_at(self) -> datetime | None:
        """When the live version was queued; None if its row has the time from request to live.

        Also None if a date is missing or the dates are out of order.
        """
        live, row = self.head.live, self.row
        queued_at = read_date(live.queued_at) if live else None
        live_at = read_date(live.published_at) if live else None
        if queued_at is None or live_at is None or queued_at > live_at or (row and row.took):
            return None
        return queued_at

    @property
    def queue_time(self) -> timedelta | None:
        live_at = read_date(self.head.live.published_at) if self.head.live else None
        return live_at - self.queued_at if live_at and self.queued_at else None

    @property
    def is_again(self) -> bool:
        row = self.row
        return row is not None and any(
            earlier.publication.version_id == row.publication.version_id
            for earlier in self.timeline[1:]
        )

    @property
    def rolled_back(self) -> TimelineRow | None:
        newer = self.head.newer
        if newer is None or not self.head.is_rolled_back(newer):
            return None
        rows = (row for row in self.timeline if row.publication.version_id == newer.version_id)
        return next(rows, None)

    @cached_property
    def difference(self) -> TextDifference:
        return compare_texts(text_of(self.head.live), text_of(self.head.newer))

    @property
    def outside(self) -> TimelineRow | None:
        is_outside = self.row and self.row.publication.reason == PublicationReason.OUTSIDE
        return self.row if is_outside else None

    @cached_property
    def outside_difference(self) -> TextDifference | None:
        """The difference made outside Pressroom; None if the earlier text isn't known.

        Makes one query.
        """
        before = self.outside.before if self.outside else None
        if before is None:
            return None
        ids = (self.head.page_id, self.head.audience_id, before.version_id)
        record = version_last_known(*ids)
        return compare_texts(text_of(record.version), text_of(self.head.live)) if record else None


def live_view(head: AudienceHead) -> LiveView:
    """Return the top of an audience's page. Makes one query if releases sent something."""
    publications = head.publications[: MAX_PUBLICATIONS + 1]
    of_releases = [
        publication.operation_id
        for publication in publications
        if publication.reason == PublicationReason.RELEASE and publication.operation_id
    ]
    releases = releases_of_operations(of_releases) if of_releases else {}
    rows = [
        TimelineRow(
            publication=publication,
            before=before,
            is_rolled_back=after is not None
            and is_rollback(after, list(reversed(head.publications[place:]))),
            release=releases.get(publication.operation_id or 0),
        )
        for place, (publication, before, after) in enumerate(
            zip(publications, [*head.publications[1:], None], [None, *publications], strict=False)
        )
    ]
    return LiveView(head, rows[:MAX_PUBLICATIONS])
