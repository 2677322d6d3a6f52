"""Counting what differs: gathered while a request is answered, written down at its end.

A call may be made by a thread beside the request's; the ledger is written by the request's own.
"""

import logging

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from dashboard.client import CallReport
from dashboard.ledger.differences import note_differences
from dashboard.ledger.sightings import Sighting
from dashboard.web.contract_watch import sightings_in
from dashboard.web.middleware import Handler
from dashboard.web.request_notes import current_notes

MOST = 100
"""Kept of one request."""

_logger = logging.getLogger("dashboard.watch")


def watch(report: CallReport) -> None:
    """Look at a call; outside of a request what differs is written down at once."""
    found = sightings_in(report)
    if notes := current_notes():
        notes.differences.extend(found[: MOST - len(notes.differences)])
        if report.error:
            notes.failed = report
    elif found:
        _write(found)


def watched(get_response: Handler) -> Handler:
    """Write down what differed in the answers that a request brought."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        notes = current_notes()
        if notes and notes.differences:
            _write(notes.differences)
        return response

    return middleware


def _write(found: list[Sighting]) -> None:
    try:
        note_differences(found)
    except DatabaseError:
        # What a person asked for counts more than this.
        _logger.warning("Differences from the specification could not be counted", exc_info=True)
