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

    weight: Severity
    headline: str
    detail: str = ""
    read_more: str = ""
    """`conversation` or `versions`: the audience's page with details."""


@dataclass(frozen=True, kw_only=True)
class PreflightInput:
    """All that the checks need."""

    version: AudienceVersion | None
    """None if the service did not return it and it was never seen."""
    latest: AudienceVersion | None
    live: AudienceVersion | None
    page: PageItem | None
    """None if it can't be read and was never seen."""
    page_problem: str = ""
    """The reason why the page can't be read; then it is as last known."""
    is_last_known: bool
    """The service did not respond: the data is as last known."""
    is_listed: bool
    """Whether the service's list has the audience."""
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


def findings(known: PreflightInput) -> list[Finding]:
    """Return the findings, the most severe first."""
    found = [
        *_about_what_is_known(known),
        *_about_the_version(known),
        *_about_its_surroundings(known),
        *_about_the_conversation(known),
    ]
    order = list(reversed(Severity))
    return sorted(found, key=lambda finding: order.index(finding.weight))


def is_off(found: list[Finding]) -> bool:
    """Return whether publishing is off."""
    return any(finding.weight is Severity.STOP for finding in found)


def asks_for_number(found: list[Finding]) -> bool:
    """Return whether the version number has to be typed."""
    return any(finding.weight is Severity.RISK for finding in found)


def _about_what_is_known(known: PreflightInput) -> Iterator[Finding]:
    if known.is_last_known:
        yield Finding(
            Severity.STOP,
            "The service does not answer.",
            "What you see was last known. Publishing is off until it answers.",
        )
    elif not known.is_listed:
        yield Finding(
            Severity.RISK,
            "The service’s list does not hold this audience.",
            "What is live now is as it was last seen.",
        )
    elif not known.is_readable:
        yield Finding(
            Severity.RISK,
            "What the service says of this audience can’t be read.",
            "What is live now is as it was last seen.",
        )
    if known.version is None:
        yield Finding(
            Severity.STOP,
            "This version was never seen here.",
            "Its number and its text are not known, so nothing can be compared.",
            "versions",
        )


def _about_the_version(known: PreflightInput) -> Iterator[Finding]:
    version, live, latest = known.version, known.live, known.latest
    if version is None:
        return
    name = f"Version {version.version_number}"
    if live and live.version_id == version.version_id:
        yield Finding(
            Severity.RISK,
            f"{name} is live already.",
            "The service does not say what publishing it again does.",
        )
    elif version.status in IN_FLIGHT:
        yield Finding(
            Severity.RISK,
            f"{name} is {version.status} already.",
            "It may go live without you.",
            "versions",
        )
    elif version.status == VersionStatus.CANCELLED:
        yield Finding(Severity.RISK, f"{name} was cancelled.", "The service may refuse it.")
    if latest and latest.version_number > version.version_number:
        yield Finding(
            Severity.RISK,
            f"Version {latest.version_number} is newer.",
            f"{name} would go live in its place.",
            "versions",
        )


def _about_its_surroundings(known: PreflightInput) -> Iterator[Finding]:
    version, latest, page = known.version, known.latest, known.page
    for number in known.others_in_flight:
        yield Finding(
            Severity.RISK,
            f"Publishing {_version(number)} is not finished.",
            "Its outcome is still open. The two may overtake each other.",
            "versions",
        )
    is_other = latest and version and latest.version_id != version.version_id
    if latest and is_other and latest.status in IN_FLIGHT:
        yield Finding(
            Severity.RISK,
            f"Version {latest.version_number} is on its way to go live ({latest.status}).",
            "The two may overtake each other.",
            "versions",
        )
    if known.is_archived:
        yield Finding(
            Severity.RISK, "The audience is archived.", "Nobody may see what you publish."
        )
    if page and (page.archived_at or page.status == PageStatus.ARCHIVED):
        yield Finding(Severity.RISK, "The page is archived.", "Nobody may see what you publish.")
    if known.page_problem:
        yield Finding(
            Severity.RISK,
            "The page couldn’t be read, so its status wasn’t checked.",
            known.page_problem,
        )


def _about_the_conversation(known: PreflightInput) -> Iterator[Finding]:
    pending, version = known.pending_changes, known.version
    if known.conversation_problem:
        yield Finding(
            Severity.NOTE,
            "Pending changes are not known.",
            f"The conversation can’t be read. {known.conversation_problem}",
        )
    if pending and version:
        are, they = ("change is", "It was") if pending == 1 else ("changes are", "They were")
        yield Finding(
            Severity.NOTE,
            f"{pending} pending {are} not in {_version(version.version_number)}.",
            f"{they} made in the conversation and would not go live.",
            "conversation",
        )


def _version(number: int | None) -> str:
    return "another version" if number is None else f"version {number}"
