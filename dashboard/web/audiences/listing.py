"""Rows of the list of all audiences, from the ledger, and polling those in progress.

The service lists the audiences of one page, without filters or order, so the list is the ledger's,
and the page shows its coverage.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from dashboard.client import APIError
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageStatus
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audience_list import (
    AudienceTally,
    audience_coverage,
    audiences_by_key,
    list_audiences,
    tally_audiences,
)
from dashboard.ledger.queries.operations import last_publishes
from dashboard.operations.publish_progress import POLLING_PERIOD
from dashboard.releases.queries import planned_publishes
from dashboard.service.reading import read_audiences
from dashboard.web.audiences.filters import AudienceListQuery
from dashboard.web.audiences.polling import RowPoll, next_poll, row_poll, shown_marks
from dashboard.web.audiences.table import AudienceRow
from dashboard.web.ui.load_more import MAX_SHOWN, PAGE_SIZE
from dashboard.web.ui.query_params import int_param

FAILED = (Outcome.REJECTED, Outcome.UNKNOWN)
MAX_PAGES_PER_POLL = 3
"""The maximum number of pages that one poll reads, one after another. Our choice."""
FRESH = timedelta(seconds=4)
"""A page read this recently, perhaps for another user, is not read again."""


@dataclass(frozen=True, kw_only=True)
class ListedAudience(AudienceRow):
    """One audience of any page, as a row of the list."""

    pk: int
    page_name: str
    last_seen_at: datetime
    updated_at: datetime | None
    seen_in_flight_at: datetime | None
    """When any of its versions was last seen in flight: the latest, or an older one."""
    publish: Any
    """Our last publish of its latest version (a row of `last_publishes`), or None."""

    @property
    def key(self) -> str:
        """Identifies the row in the list, in an HTML id and in the URL of a poll."""
        return str(self.pk)

    @property
    def failed_publish(self) -> Any:
        """Our last publish of its latest version, if it failed or its outcome is unknown."""
        return self.publish if self.newer and self.last_publish in FAILED else None


@dataclass(frozen=True)
class AudienceRows:
    """One window of the list."""

    items: list[ListedAudience]
    total: int
    """The number of matches."""
    before: int
    """The number of rows before these."""
    next_url: str = ""
    """The query string of the next rows; empty if there are none."""

    @property
    def shown(self) -> int:
        """The number of rows shown, including those before these."""
        return self.before + len(self.items)

    @property
    def next_count(self) -> int:
        """The maximum number of rows that "load more" adds."""
        return min(PAGE_SIZE, max(self.total - self.shown, 1))


def rows_of(
    query: AudienceListQuery, tally: AudienceTally, *, start: int, size: int
) -> AudienceRows:
    """Return a window of the matching audiences; three queries."""
    total = tally.total(query.filters)
    found = list_audiences(
        query.filters,
        sort=query.order,
        start=start,
        size=size,
        total=total,
        known=sum(tally.counts.values()),
    )
    shown = start + len(found)
    next_url = query.url(after=shown) if found and shown < total else ""
    return AudienceRows(listed_audiences(found), total, start, next_url)


def listed_audiences(found: Sequence[Any]) -> list[ListedAudience]:
    """Return a row for each of `list_audiences`; two queries."""
    page_ids = sorted({record.page_id for record in found})
    publishes = {
        (one.page_id, one.audience_id, one.version_id): one
        for one in last_publishes(page_ids, [record.audience_id for record in found])
    }
    planned = planned_publishes(page_ids)
    rows = []
    for record in found:
        audience = Audience.from_json(record.body)
        latest = audience.latest_version
        version_id = latest.version_id if latest else ""
        publish = publishes.get((record.page_id, record.audience_id, version_id))
        row = ListedAudience(
            page_id=record.page_id,
            audience_id=record.audience_id,
            audience=audience,
            is_page_archived=record.page_status == PageStatus.ARCHIVED,
            last_publish=publish.outcome if publish else None,
            pk=record.pk,
            page_name=record.page_name or record.page_id,
            last_seen_at=record.last_seen_at,
            updated_at=record.updated_at,
            seen_in_flight_at=record.seen_in_flight_at,
            publish=publish,
            planned=planned.get((record.page_id, record.audience_id), ()),
        )
        rows.append(row)
    return rows


def list_poll(rows: Iterable[ListedAudience]) -> RowPoll:
    """Return the poll of the rows in progress; the others are not polled."""
    now = timezone.now()
    in_progress = _in_progress(rows, now)
    polled: list[AudienceRow] = [
        row for row in rows if row.is_in_progress or row.key in in_progress
    ]
    return row_poll(polled, in_progress, now=now)


def poll_rows(shown: str, polls: int) -> tuple[RowPoll, APIError | None]:
    """Read some of the pages of the rows `shown` again; return the next poll, and why one failed.

    The rows are named by their keys, as in `RowPoll.marks`.
    """
    keys = [int_param(key) for key in shown_marks(shown)][:MAX_SHOWN]
    error = _read_again(audiences_by_key(keys))
    rows, now = listed_audiences(audiences_by_key(keys)), timezone.now()
    return next_poll(rows, _in_progress(rows, now), shown=shown, polls=polls, now=now), error


def _in_progress(rows: Iterable[ListedAudience], now: datetime) -> dict[str, datetime]:
    since = now - POLLING_PERIOD
    return {
        row.key: row.seen_in_flight_at
        for row in rows
        if row.seen_in_flight_at and row.seen_in_flight_at > since
    }


def _read_again(records: Sequence[Any]) -> APIError | None:
    """Read the pages of some of these audiences; return the error that stopped it, if any."""
    fresh = timezone.now() - FRESH
    due = sorted({record.page_id for record in records if record.last_seen_at < fresh})
    # In random order, so that a page that can't be read does not block the others.
    for page_id in random.sample(due, min(len(due), MAX_PAGES_PER_POLL)):
        try:
            reading = read_audiences(page_id)
        except APIError:
            continue
        if reading.error:
            return reading.error
    return None


def list_context(query: AudienceListQuery, *, start: int, size: int) -> dict[str, Any]:
    """Return the rows, the tally and the coverage of the list; five queries."""
    tally = tally_audiences(query.filters)
    rows = rows_of(query, tally, start=start, size=size)
    return {"tally": tally, "rows": rows, "coverage": audience_coverage()}
