"""Pre-flight: what speaks for a second thought before a version is published.

Pure: given what is known, it names what it finds. Source: DESIGN.md, What the dashboard makes of
the silences. What publishing does to a version that is live, queued or cancelled is not shown in
the spec, so nothing is claimed of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.ledger.queries.audiences import IN_FLIGHT


class Weight(StrEnum):
    """What a finding asks for."""

    NOTE = "note"
    """Worth knowing."""
    RISK = "risk"
    """The version number has to be typed."""
    STOP = "stop"
    """Publishing is off."""


@dataclass(frozen=True)
class Finding:
    """One thing found: a headline, what follows from it, and where to read more."""

    weight: Weight
    headline: str
    detail: str = ""
    read_more: str = ""
    """`conversation` or `versions`: which page of the audience tells more."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What is known at the moment of asking."""

    version: AudienceVersion | None
    """None where the service did not name it and it was never seen here."""
    latest: AudienceVersion | None
    live: AudienceVersion | None
    page: PageItem | None
    """None where it can't be read and was never seen."""
    is_last_known: bool
    """The service did not answer: this is what was seen last."""
    is_listed: bool
    """The service's list holds the audience."""
    is_readable: bool
    """What the list holds of it can be read."""
    is_archived: bool
    """The audience is."""
    others_under_way: tuple[int | None, ...]
    """Numbers of other versions of the audience with an open operation on record."""
    pending_changes: int | None
    """None where the conversation was not read."""
    conversation_problem: str = ""
    """Why the conversation can't be read."""


def findings(situation: Situation) -> list[Finding]:
    """Return what is found, the gravest first."""
    found = [
        *_about_what_is_known(situation),
        *_about_the_version(situation),
        *_about_its_surroundings(situation),
        *_about_the_conversation(situation),
    ]
    order = list(reversed(Weight))
    return sorted(found, key=lambda finding: order.index(finding.weight))


def is_off(found: list[Finding]) -> bool:
    """Tell whether publishing is off."""
    return any(finding.weight is Weight.STOP for finding in found)


def asks_for_number(found: list[Finding]) -> bool:
    """Tell whether the version number has to be typed."""
    return any(finding.weight is Weight.RISK for finding in found)


def _about_what_is_known(situation: Situation) -> Iterator[Finding]:
    if situation.is_last_known:
        yield Finding(
            Weight.STOP,
            "The service does not answer.",
            "What you see was last known. Publishing is off until it answers.",
        )
    elif not situation.is_listed:
        yield Finding(
            Weight.RISK,
            "The service’s list does not hold this audience.",
            "What is live now is as it was last seen.",
        )
    elif not situation.is_readable:
        yield Finding(
            Weight.RISK,
            "What the service says of this audience can’t be read.",
            "What is live now is as it was last seen.",
        )
    if situation.version is None:
        yield Finding(
            Weight.STOP,
            "This version was never seen here.",
            "Its number and its text are not known, so nothing can be compared.",
            "versions",
        )


def _about_the_version(situation: Situation) -> Iterator[Finding]:
    version, live, latest = situation.version, situation.live, situation.latest
    if version is None:
        return
    name = f"Version {version.version_number}"
    if live and live.version_id == version.version_id:
        yield Finding(
            Weight.RISK,
            f"{name} is live already.",
            "The service does not say what publishing it again does.",
        )
    elif version.status in IN_FLIGHT:
        yield Finding(
            Weight.RISK,
            f"{name} is {version.status} already.",
            "It may go live without you.",
            "versions",
        )
    elif version.status == VersionStatus.CANCELLED:
        yield Finding(Weight.RISK, f"{name} was cancelled.", "The service may refuse it.")
    if latest and latest.version_number > version.version_number:
        yield Finding(
            Weight.RISK,
            f"Version {latest.version_number} is newer.",
            f"{name} would go live in its place.",
            "versions",
        )


def _about_its_surroundings(situation: Situation) -> Iterator[Finding]:
    version, latest, page = situation.version, situation.latest, situation.page
    for number in situation.others_under_way:
        yield Finding(
            Weight.RISK,
            f"Publishing {_version(number)} is not finished.",
            "Its outcome is still open. The two may overtake each other.",
            "versions",
        )
    is_other = latest and version and latest.version_id != version.version_id
    if latest and is_other and latest.status in IN_FLIGHT:
        yield Finding(
            Weight.RISK,
            f"Version {latest.version_number} is on its way to go live ({latest.status}).",
            "The two may overtake each other.",
            "versions",
        )
    if situation.is_archived:
        yield Finding(Weight.RISK, "The audience is archived.", "Nobody may see what you publish.")
    if page and (page.archived_at or page.status == PageStatus.ARCHIVED):
        yield Finding(Weight.RISK, "The page is archived.", "Nobody may see what you publish.")


def _about_the_conversation(situation: Situation) -> Iterator[Finding]:
    waiting, version = situation.pending_changes, situation.version
    if situation.conversation_problem:
        yield Finding(
            Weight.NOTE,
            "Pending changes are not known.",
            f"The conversation can’t be read. {situation.conversation_problem}",
        )
    if waiting and version:
        are, they = ("change is", "It was") if waiting == 1 else ("changes are", "They were")
        yield Finding(
            Weight.NOTE,
            f"{waiting} pending {are} not in {_version(version.version_number)}.",
            f"{they} made in the conversation and would not go live.",
            "conversation",
        )


def _version(number: int | None) -> str:
    return "another version" if number is None else f"version {number}"
