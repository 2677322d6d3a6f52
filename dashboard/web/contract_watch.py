"""How an answer differs from the specification: pure. Nothing breaks on it; it is counted.

What is told of a difference is its place and its kind, and of an enumeration the unknown name:
never what else an answer holds.
"""

import re
from collections.abc import Iterator
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
        yield from _of_thing(report.answer, "")


def _of_list(found: ListEnvelope[Any]) -> Iterator[Found]:
    for item in found.unreadable:
        yield ITEM, item.path, item.problem
    brought = len(found.items) + len(found.unreadable)
    if found.total_count < brought:
        yield COUNT, "totalCount", "less than the items that came with it"
    if found.has_more and not brought:
        yield COUNT, "hasMore", "true where no item came"
    ids = [each for item in found.items if (each := _id(item))]
    if len(set(ids)) < len(ids):
        yield TWICE, "items", "two items of one list have the same id"
    for item in found.items:
        yield from _of_thing(item, "items.*.")


def _id(item: Any) -> str | None:
    match item:
        case PageItem():
            return item.page_id
        case Audience():
            return item.audience_id
        case Person():
            return item.person_id
    return None


def _of_thing(thing: Any, place: str) -> Iterator[Found]:
    match thing:
        case PageItem():
            yield from _unknown(thing.status, PageStatus, f"{place}status")
            yield from _unknown(thing.page_type, PageType, f"{place}pageType")
        case AudienceVersion():
            yield from _unknown(thing.status, VersionStatus, f"{place}status")
        case Audience():
            for name, version in (
                ("latestVersion", thing.latest_version),
                ("publishedVersion", thing.published_version),
            ):
                if version:
                    yield from _of_thing(version, f"{place}{name}.")
        case WebhookSubscription():
            for event in thing.events or ():
                yield from _unknown(event, EventName, f"{place}events.*")


def _unknown(value: str | None, names: type[StrEnum], place: str) -> Iterator[Found]:
    if value is not None and value not in _names(names):
        yield UNKNOWN, place, f"“{value[:60]}”"


@cache
def _names(of: type[StrEnum]) -> frozenset[str]:
    return frozenset(of)
