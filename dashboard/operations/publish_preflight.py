"""Pre-flight checks: findings to consider before a version is published. Pure.

Source: DESIGN.md, What the dashboard makes of the silences. The spec does not show what publishing
a live, queued or cancelled version does, so the findings claim nothing about it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.ledger.queries.audiences import IN_FLIGHT


class Severity(StrEnum):
    """The severity of a finding."""

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


@dataclass(frozen=True, kw_only=True)
class PreflightInput:
    """The input of the checks."""

    version: AudienceVersion | None
    """None if the service did not return it and it is not recorded."""
    latest: AudienceVersion | None
    live: AudienceVersion | None
    page: PageItem | None
    """None if it can't be read and is not recorded."""
    page_problem: str = ""
    """The reason why the page can't be read; then it is as last known."""
    is_last_known: bool
    """The service did not respond: the data is as last known."""
    is_listed: bool
    """Whether the audience is in the service's list."""
    is_readable: bool
    """Whether its item in the list can be read."""
    is_archived: bool
    """Whether the audience is archived."""
    others_in_flight: tuple[int | None, ...]
    """Numbers of other versions of the audience with an open operation."""
    pending_changes: int | None
    """None if the conversation was not read."""
    conversation_problem: str = ""
    """The reason why the conversation can't be read."""


def findings(data: PreflightInput) -> list[Finding]:
    """Return the findings, the most severe first."""
    found = [
        *_data_findings(data),
        *_version_findings(data),
        *_context_findings(data),
        *_conversation_findings(data),
    ]
    order = list(reversed(Severity))
    return sorted(found, key=lambda finding: order.index(finding.severity))


def is_off(found: list[Finding]) -> bool:
    """Return whether publishing is off."""
    return any(finding.severity is Severity.STOP for finding in found)


def asks_for_number(found: list[Finding]) -> bool:
    """Return whether the version number has to be typed."""
    return any(finding.severity is Severity.RISK for finding in found)


def _data_findings(data: PreflightInput) -> Iterator[Finding]:
    if data.is_last_known:
        yield Finding(
            Severity.STOP,
            "Couldn’t reach the service.",
            "Showing the last known state. Publishing is disabled until the service responds.",
        )
    elif not data.is_listed:
        yield Finding(
            Severity.RISK,
            "This audience isn’t in the service’s list.",
            "The live version shown is the last known one.",
        )
    elif not data.is_readable:
        yield Finding(
            Severity.RISK,
            "The service’s data for this audience can’t be read.",
            "The live version shown is the last known one.",
        )
    if data.version is None:
        yield Finding(
            Severity.STOP,
            "This version isn’t recorded here.",
            "Its number and text are unknown, so it can’t be compared.",
            "versions",
        )


def _version_findings(data: PreflightInput) -> Iterator[Finding]:
    version, live, latest = data.version, data.live, data.latest
    if version is None:
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
    if latest and latest.version_number > version.version_number:
        yield Finding(
            Severity.RISK,
            f"Version {latest.version_number} is newer.",
            f"{name} would go live instead.",
            "versions",
        )


def _context_findings(data: PreflightInput) -> Iterator[Finding]:
    version, latest, page = data.version, data.latest, data.page
    for number in data.others_in_flight:
        yield Finding(
            Severity.RISK,
            f"Publishing {_version(number)} hasn’t finished.",
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
    if data.is_archived:
        yield Finding(
            Severity.RISK,
            "This audience is archived.",
            "Visitors might not see the published version.",
        )
    if page and (page.archived_at or page.status == PageStatus.ARCHIVED):
        yield Finding(
            Severity.RISK, "This page is archived.", "Visitors might not see the published version."
        )
    if data.page_problem:
        yield Finding(
            Severity.RISK,
            "Couldn’t read the page, so its status wasn’t checked.",
            data.page_problem,
        )


def _conversation_findings(data: PreflightInput) -> Iterator[Finding]:
    pending, version = data.pending_changes, data.version
    if data.conversation_problem:
        yield Finding(
            Severity.NOTE,
            "Pending changes are unknown.",
            f"Couldn’t read the conversation. {data.conversation_problem}",
        )
    if pending and version:
        are, they = ("change is", "It") if pending == 1 else ("changes are", "They")
        yield Finding(
            Severity.NOTE,
            f"{pending} pending {are} not in {_version(version.version_number)}.",
            f"{they} won’t go live with this version.",
            "conversation",
        )


def _version(number: int | None) -> str:
    return "another version" if number is None else f"version {number}"
