"""How an answer differs from the specification: pure. Nothing breaks on it; it is counted.

What is told of a difference is its place and its kind, and of an enumeration the unknown name:
never what else an answer holds.
"""

import re
from collections.abc import Iterator, Sequence, Set
from enum import StrEnum
from functools import cache
from typing import Any

from dashboard.client import BadAnswerError, CallReport
from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem, PageStatus, PageType
from dashboard.contract.people import Person
from dashboard.contract.webhooks import EventName, WebhookSubscription
from dashboard.ledger.sightings import Sighting

Found = tuple[str, str, str]
"""Kind, place, and what was found."""

UNREADABLE = "An answer that can't be read"
ITEM = "An item that can't be read"
UNKNOWN = "An unknown name"
COUNT = "Counts that contradict each other"
TWICE = "An id that comes twice"

_INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)")


def sightings_in(report: CallReport) -> list[Sighting]:
    """Return the differences that a call brought to light."""
    found = dict.fromkeys(_of_call(report))
    return [
        Sighting(report.operation, kind, _INDEX.sub("*", place), said, report.path)
        for kind, place, said in found
    ]


def _of_call(report: CallReport) -> Iterator[Found]:
    if isinstance(report.error, BadAnswerError):
        yield UNREADABLE, report.error.path, report.error.problem
    if isinstance(report.answer, ListEnvelope):
        yield from _of_list(report.answer)
    elif report.answer is not None:
        yield from _of_things([report.answer], "")


def _of_list(found: ListEnvelope[Any]) -> Iterator[Found]:
    for item in found.unreadable:
        yield ITEM, item.path, item.problem
    brought = len(found.items) + len(found.unreadable)
    if found.total_count < brought:
        yield COUNT, "totalCount", "less than the items that came with it"
    if found.has_more and not brought:
        yield COUNT, "hasMore", "true where no item came"
    ids = [each for each in _ids(found.items) if each]
    if len(set(ids)) < len(ids):
        yield TWICE, "items", "two items of one list have the same id"
    yield from _of_things(found.items, "items.*.")


def _ids(items: Sequence[Any]) -> list[str | None]:
    match items:
        case [PageItem(), *_]:
            return [page.page_id for page in items]
        case [Audience(), *_]:
            return [audience.audience_id for audience in items]
        case [Person(), *_]:
            return [person.person_id for person in items]
    return []


def _of_things(things: Sequence[Any], place: str) -> Iterator[Found]:
    """Look at things of one kind, at each name that they give once."""
    match things:
        case [PageItem(), *_]:
            yield from _unknown({one.status for one in things}, PageStatus, f"{place}status")
            yield from _unknown({one.page_type for one in things}, PageType, f"{place}pageType")
        case [AudienceVersion(), *_]:
            yield from _unknown({one.status for one in things}, VersionStatus, f"{place}status")
        case [Audience(), *_]:
            latest = [one.latest_version for one in things if one.latest_version]
            yield from _of_things(latest, f"{place}latestVersion.")
            published = [one.published_version for one in things if one.published_version]
            yield from _of_things(published, f"{place}publishedVersion.")
        case [WebhookSubscription(), *_]:
            events = {event for one in things for event in one.events or ()}
            yield from _unknown(events, EventName, f"{place}events.*")


def _unknown(values: Set[str | None], names: type[StrEnum], place: str) -> Iterator[Found]:
    for value in sorted(each for each in values - _names(names) if each is not None):
        yield UNKNOWN, place, f"“{value[:60]}”"


@cache
def _names(of: type[StrEnum]) -> frozenset[str]:
    return frozenset(of)
