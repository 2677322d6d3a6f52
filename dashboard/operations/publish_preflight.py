"""Pre-flight checks: findings to consider before a version is published. Pure.

The spec does not show what publishing a live, queued or cancelled version does, so the findings
claim nothing about it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from dashboard.approvals.rule import is_rollback
from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.ledger.models import Publication
from dashboard.ledger.models.objects import IN_FLIGHT
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
    """`conversation` or `versions`: the audience's page with details."""
    at: str = ""
    """When it happened, in ISO 8601; it is shown between headline and detail."""

    @property
    def sentence(self) -> str:
        if self.at:
            return f"{self.headline}: {self.detail}" if self.detail else f"{self.headline}."
        return f"{self.headline} {self.detail}".strip()


@dataclass(frozen=True)
class FoundPage:
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
    """Of the changes, sorted; None if the conversation was not read."""


def findings(
    reading: ReadResult[AudienceLookup],
    version: AudienceVersion | None,
    *,
    page: FoundPage,
    pending: PendingChanges,
    others_in_flight: Iterable[int | None],
    taken_back_by: Publication | None = None,
) -> list[Finding]:
    """Return the findings, the most severe first.

    `version` is None if the service did not return it and it is not recorded. `others_in_flight`
    has the numbers of other versions of the audience with an open publish, and `taken_back_by` is
    the publication for which the version was rolled back.
    """
    audience = reading.value.audience
    findings = [
        *_reading_findings(reading),
        *_version_findings(version, audience),
        *_rollback_findings(version, taken_back_by),
        *_context_findings(version, audience, page, others_in_flight),
        *_conversation_findings(version, pending),
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
    overrides = direction_overrides(version.supplementary_context or "")
    if overrides:
        yield Finding(
            Severity.RISK,
            f"{name} has text in another order than it seems: {' and '.join(overrides)}.",
            "Part of it may read differently for visitors and for tools.",
        )
    # Rolling back is for that.
    if latest and latest.version_number > version.version_number and not is_rollback(version, live):
        yield Finding(
            Severity.RISK,
            f"Version {latest.version_number} is newer.",
            f"{name} would go live instead.",
            "versions",
        )


def _rollback_findings(
    version: AudienceVersion | None, taken_back_by: Publication | None
) -> Iterator[Finding]:
    if version and taken_back_by:
        name, by = f"version {version.version_number}", taken_back_by.actor_name
        yield Finding(
            Severity.RISK,
            f"{by} rolled back {name}" if by else f"{name.capitalize()} was rolled back",
            taken_back_by.note,
            "versions",
            at=taken_back_by.started_at.isoformat(),
        )


def _context_findings(
    version: AudienceVersion | None,
    audience: Audience,
    found_page: FoundPage,
    others_in_flight: Iterable[int | None],
) -> Iterator[Finding]:
    latest, page = audience.latest_version, found_page.page
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
    if found_page.problem:
        yield Finding(
            Severity.RISK,
            "Couldn’t read the page, so its status wasn’t checked.",
            found_page.problem,
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
