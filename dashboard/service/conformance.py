"""Record how the service's responses deviate from the specification."""

import logging
import re
from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError

from dashboard.client import CallReport, InvalidResponseError
from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.pages import PageItem, PageStatus, PageType
from dashboard.contract.people import Person
from dashboard.contract.resource import ListEnvelope, Resource
from dashboard.contract.webhooks import EventName, WebhookSubscription
from dashboard.contract.wire import WireModel
from dashboard.ledger.deviations import (
    EVENTS,
    ContractDeviation,
    record_deviations,
    record_unknown_event,
)
from dashboard.observability.request_context import RequestNotes, current_notes

Finding = tuple[str, str, str]
"""Kind, place and description."""

UNREADABLE = "Unreadable response"
ITEM = "Unreadable item"
VALUE = "Unreadable value"
UNKNOWN = "Unknown name"
COUNT = "Contradictory counts"
DUPLICATE = "Duplicate ID"
EVENT = "Unknown event"
MAX_NAME = 60
"""Characters of a name that are recorded."""

ID_FIELDS: dict[type, str] = {PageItem: "page_id", Audience: "audience_id", Person: "person_id"}
"""Name of the ID field of each type of list item."""
PAGE_STATUSES, PAGE_TYPES = frozenset(PageStatus), frozenset(PageType)
VERSION_STATUSES, EVENT_NAMES = frozenset(VersionStatus), frozenset(EventName)
MAX_DEVIATIONS_PER_REQUEST = 100
"""Further deviations are dropped."""

_INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)")
_logger = logging.getLogger("dashboard.watch")


def find_deviations(report: CallReport) -> list[ContractDeviation]:
    findings: list[Finding] = []
    if isinstance(report.error, InvalidResponseError):
        findings.append((UNREADABLE, report.error.path, report.error.problem))
    if isinstance(report.response, ListEnvelope):
        findings += _list_deviations(report.response)
    elif isinstance(report.response, Resource):
        findings += _unreadable_values(report.response, "")
        findings += _unknown_names(report.response, "")
    return [
        ContractDeviation(report.operation, kind, _INDEX.sub("*", place), message, report.path)
        for kind, place, message in dict.fromkeys(findings)
    ]


def _list_deviations(response: ListEnvelope[Any]) -> Iterator[Finding]:
    yield from _unreadable_values(response, "")
    received = len(response.items) + len(response.unreadable_items)
    if response.total_count < received:
        yield COUNT, "totalCount", "less than the number of items returned"
    if response.has_more and not received:
        yield COUNT, "hasMore", "true, but no items were returned"
    ids = [
        identifier
        for item in response.items
        if (identifier := getattr(item, ID_FIELDS[type(item)]))
    ]
    if len(set(ids)) < len(ids):
        yield DUPLICATE, "items", "two items in a list have the same ID"
    for item in response.items:
        yield from _unreadable_values(item, "items.*.")
        yield from _unknown_names(item, "items.*.")


def _unreadable_values(resource: Resource, place: str) -> Iterator[Finding]:
    for value in resource.unreadable:
        is_item = isinstance(value.location[-1], int)
        yield ITEM if is_item else VALUE, f"{place}{value.path}", value.problem


def _unknown_names(item: WireModel | None, place: str) -> Iterator[Finding]:
    names: list[tuple[str, str | None, frozenset[str]]] = []
    match item:
        case PageItem():
            names = [
                ("status", item.status, PAGE_STATUSES),
                ("pageType", item.page_type, PAGE_TYPES),
            ]
        case AudienceVersion():
            names = [("status", item.status, VERSION_STATUSES)]
        case WebhookSubscription():
            names = [("events.*", event, EVENT_NAMES) for event in item.events or ()]
        case Audience():
            yield from _unknown_names(item.latest_version, f"{place}latestVersion.")
            yield from _unknown_names(item.published_version, f"{place}publishedVersion.")
    for field, name, spec_names in names:
        if name is not None and name not in spec_names:
            yield UNKNOWN, f"{place}{field}", f"“{name[:MAX_NAME]}”"


def collect_deviations(report: CallReport) -> None:
    """Collect the deviations of a call. Outside a request, record them at once."""
    deviations = find_deviations(report)
    if notes := current_notes():
        notes.differences.extend(deviations[: MAX_DEVIATIONS_PER_REQUEST - len(notes.differences)])
        if report.error:
            notes.failed = report
    elif deviations:
        _record(deviations)


def record_event_name(name: str) -> None:
    """Count a received event whose name is not in the specification."""
    if not name or name in EVENT_NAMES:
        return
    message = "the specification has no event of this name"
    try:
        record_unknown_event(ContractDeviation(EVENTS, EVENT, name[:MAX_NAME], message, ""))
    except DatabaseError:
        _logger.warning("An unknown event could not be recorded", exc_info=True)


def write_deviations(notes: RequestNotes) -> None:
    """Record the deviations collected during a request or a call of the crawl."""
    if notes.differences:
        _record(notes.differences)


def _record(deviations: list[ContractDeviation]) -> None:
    try:
        record_deviations(deviations)
    except DatabaseError:
        # The user's request must not fail because of this.
        _logger.warning("Deviations from the specification could not be recorded", exc_info=True)
