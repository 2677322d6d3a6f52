"""Pre-flight checks: findings to consider before a version is published. Pure.

The spec does not show what publishing a live, queued or cancelled version does, so the findings
claim nothing about it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dashboard.approvals.rule import is_rollback
from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus, text_of
from dashboard.contract.conversations import Conversation
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.ledger.models import Publication
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.previews.content import PageContent
from dashboard.previews.findings import page_findings
from dashboard.review.decisions import version_digest
from dashboard.review.models import ChangeVerdict, ReviewDecision
from dashboard.review.verdicts import rejected_within
from dashboard.service.reading import AudienceLookup, ReadResult
from dashboard.texts import direction_overrides


class Severity(StrEnum):
    NOTE = "note"
    """For information."""
    RISK = "risk"
    """The user has to type the version number."""
    STOP = "stop"
    """Publishing is off."""


@dataclass(frozen=True)
class Finding:
    """One finding: a headline, its consequence, and a page with details."""

    severity: Severity
    headline: str
    detail: str = ""
    read_more: str = ""
    """`conversation`, `versions` or `preview`: the audience's page with details."""
    at: str = ""
    """When it happened, in ISO 8601; it is shown between headline and detail."""

    @property
    def sentence(self) -> str:
        if self.at:
            return f"{self.headline}: {self.detail}" if self.detail else f"{self.headline}."
        return f"{self.headline} {self.detail}".strip()


@dataclass(frozen=True)
class PageReading:
    """The page as read, or as last known."""

    page: PageItem | None
    problem: str = ""
    """The reason why it can't be read."""


@dataclass(frozen=True)
class PendingChanges:
    count: int | None = None
    """None if the conversation was not read."""
    problem: str = ""
    """The reason why it can't be read."""
    has_conversation: bool = True
    ids: tuple[str, ...] | None = None
    """Sorted ids of the changes; None if the conversation was not read."""
    conversation: Conversation | None = field(default=None, repr=False)
    rejected: int = 0
    """How many of the changes were rejected in Pressroom with their current text."""


@dataclass(frozen=True)
class VersionVerdicts:
    """Decisions in Pressroom on a version, and on changes whose text it may contain."""

    rejection: ReviewDecision | None = None
    changes: Sequence[ChangeVerdict] = ()
    """All verdicts on changes of its audience."""


NO_VERDICTS = VersionVerdicts()


def findings(
    reading: ReadResult[AudienceLookup],
    version: AudienceVersion | None,
    *,
    page: PageReading,
    pending: PendingChanges,
    others_in_flight: Iterable[int | None],
    rolled_back_by: Publication | None = None,
    with_content: bool = True,
    verdicts: VersionVerdicts = NO_VERDICTS,
) -> list[Finding]:
    """Return the findings, the most severe first.

    `version` is None if the service did not return it and it is not recorded. `others_in_flight`
    has the numbers of other versions of the audience with an open publish, and `rolled_back_by` is
    the publication that replaced the version by a rollback. `verdicts` are decisions in Pressroom.
    `with_content` adds problems of the page's content, which don't depend on the version.
    """
    audience = reading.value.audience
    findings = [
        *_reading_findings(reading),
        *_version_findings(version, audience),
        *_rollback_findings(version, rolled_back_by),
        *_verdict_findings(version, verdicts),
        *_context_findings(version, audience, page, others_in_flight),
        *_conversation_findings(version, pending),
        *(_content_findings(audience, page.page) if with_content and page.page else ()),
    ]
    order = list(reversed(Severity))
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def _reading_findings(reading: ReadResult[AudienceLookup]) -> Iterator[Finding]:
    if reading.error:
        yield Finding(
            Severity.STOP,
            "Couldn’t reach the service.",
            "Showing the last known state. Publishing is disabled until the service responds.",
        )
    elif not reading.value.is_as_listed:
        yield Finding(
            Severity.RISK,
            "The service’s data for this audience can’t be read."
            if reading.value.listed
            else "This audience isn’t in the service’s list.",
            "The live version shown is the last known one.",
        )


def _version_findings(version: AudienceVersion | None, audience: Audience) -> Iterator[Finding]:
    live, latest = audience.published_version, audience.latest_version
    if version is None:
        yield Finding(
            Severity.STOP,
            "This version isn’t recorded here.",
            "Its number and text are unknown, so it can’t be compared.",
            "versions",
        )
        return
    name = f"Version {version.version_number}"
    if live and live.version_id == version.version_id:
        yield Finding(
            Severity.RISK,
            f"{name} is already live.",
            "The API doesn’t document what publishing it again does.",
        )
    elif version.status in IN_FLIGHT:
        yield Finding(
            Severity.RISK,
            f"{name} is already {version.status}.",
            "It may already be going live.",
            "versions",
        )
    elif version.status == VersionStatus.CANCELLED:
        yield Finding(Severity.RISK, f"{name} was canceled.", "The service may reject it.")
    overrides = direction_overrides(text_of(version))
    if overrides:
        yield Finding(
            Severity.RISK,
            f"{name} has text in another order than it seems: {' and '.join(overrides)}.",
            "Part of it may read differently for visitors and for tools.",
        )
    # A rollback publishes an older version on purpose.
    if latest and latest.version_number > version.version_number and not is_rollback(version, live):
        yield Finding(
            Severity.RISK,
            f"Version {latest.version_number} is newer.",
            f"{name} would go live instead.",
            "versions",
        )


def _rollback_findings(
    version: AudienceVersion | None, rolled_back_by: Publication | None
) -> Iterator[Finding]:
    if version and rolled_back_by:
        name, by = f"version {version.version_number}", rolled_back_by.actor_name
        yield Finding(
            Severity.RISK,
            f"{by} rolled back {name}" if by else f"{name.capitalize()} was rolled back",
            rolled_back_by.note,
            "versions",
            at=rolled_back_by.started_at.isoformat(),
        )


def _verdict_findings(
    version: AudienceVersion | None, verdicts: VersionVerdicts
) -> Iterator[Finding]:
    if version is None:
        return
    rejection, number = verdicts.rejection, version.version_number
    if rejection:
        is_same = rejection.text_digest == version_digest(version)
        yield Finding(
            Severity.RISK if is_same else Severity.NOTE,
            f"{rejection.user_name} rejected version {number}"
            + ("" if is_same else " before its text changed"),
            rejection.reason,
            at=rejection.at.isoformat(),
        )
    for verdict in rejected_within(verdicts.changes, text_of(version)):
        yield Finding(
            Severity.RISK,
            f"{verdict.user_name} rejected a change, and its text appears in version {number}.",
            verdict.note,
            "conversation",
        )


def _context_findings(
    version: AudienceVersion | None,
    audience: Audience,
    page_reading: PageReading,
    others_in_flight: Iterable[int | None],
) -> Iterator[Finding]:
    latest, page = audience.latest_version, page_reading.page
    for number in others_in_flight:
        name = "another version" if number is None else f"version {number}"
        yield Finding(
            Severity.RISK,
            f"Publishing {name} hasn’t finished.",
            "Its outcome is unknown. The two may finish in either order.",
            "versions",
        )
    is_other = latest and version and latest.version_id != version.version_id
    if latest and is_other and latest.status in IN_FLIGHT:
        yield Finding(
            Severity.RISK,
            f"Version {latest.version_number} is already being published ({latest.status}).",
            "The two may finish in either order.",
            "versions",
        )
    if audience.archived_at:
        yield Finding(
            Severity.RISK,
            "This audience is archived.",
            "Visitors might not see the published version.",
        )
    if page and (page.archived_at or page.status == PageStatus.ARCHIVED):
        yield Finding(
            Severity.RISK, "This page is archived.", "Visitors might not see the published version."
        )
    if any(value.location == ("archivedAt",) for value in audience.unreadable):
        yield Finding(
            Severity.RISK,
            "Couldn’t read whether this audience is archived.",
            "Visitors might not see the published version.",
        )
    if page_reading.problem:
        yield Finding(
            Severity.RISK,
            "Couldn’t read the page, so its status wasn’t checked.",
            page_reading.problem,
        )


def _conversation_findings(
    version: AudienceVersion | None, pending: PendingChanges
) -> Iterator[Finding]:
    if pending.problem:
        yield Finding(
            Severity.NOTE,
            "Pending changes are unknown.",
            f"Couldn’t read the conversation. {pending.problem}",
        )
    if pending.count and version:
        are, they = ("change is", "It") if pending.count == 1 else ("changes are", "They")
        yield Finding(
            Severity.NOTE,
            f"{pending.count} pending {are} not in version {version.version_number}.",
            f"{they} won’t go live with this version.",
            "conversation",
        )
        if pending.rejected:
            were = "was" if pending.rejected == 1 else "were"
            yield Finding(
                Severity.NOTE,
                f"{pending.rejected} of {pending.count} pending changes {were} rejected.",
                "They aren’t in this version.",
                "conversation",
            )


def _content_findings(audience: Audience, page: PageItem) -> Iterator[Finding]:
    for finding in page_findings(PageContent(page, audience)):
        if finding.is_serious:
            yield Finding(Severity.NOTE, f"{finding.headline}.", finding.detail, "preview")
