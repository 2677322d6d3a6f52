"""Rows of the list of all audiences, read from the ledger.

The service lists the audiences of one page at a time, without filters or order. So the list comes
from the ledger and says how much of the service it covers.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote

from django.contrib.auth.models import AnonymousUser, User
from django.http import QueryDict

from dashboard import clock
from dashboard.client import APIError
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageStatus
from dashboard.ledger.models.objects import REJECTED_AS, LiveStatus
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audience_list import (
    AudienceTally,
    ListedColumns,
    audience_coverage,
    audiences_by_key,
    iterate_audiences,
    list_audiences,
    matching_keys,
    tally_audiences,
)
from dashboard.ledger.queries.audiences import audiences_last_known
from dashboard.ledger.queries.operations import PublishRow, last_publishes
from dashboard.releases.models import MAX_ITEMS
from dashboard.releases.planning import planned_publishes
from dashboard.service.reading import READ_LASTS_MOVING, read_audiences
from dashboard.web.audiences.filters import AUDIENCES, ExportedAudience, filters_of
from dashboard.web.audiences.progress import is_moving
from dashboard.web.audiences.state import AudienceState
from dashboard.web.audiences.table import (
    AUDIENCES_OF_PAGE,
    AudienceRow,
    audience_rows,
    matching_rows,
)
from dashboard.web.lists.state import ListState
from dashboard.web.lists.window import Window
from dashboard.web.ui.htmx import TOPICS, Request, keys_on_screen
from dashboard.web.ui.query_params import rows_gone
from dashboard.webhooks.hints import followed_pages

FAILED = (Outcome.REJECTED, Outcome.UNKNOWN)
MAX_PAGES = 3
"""Maximum number of pages that one request reads. Source: our choice."""
RENDERED = timedelta(hours=1)
"""How long each refresh renders a published row: it may say who published it. Our choice."""


@dataclass(frozen=True, kw_only=True)
class ListedAudience(AudienceRow):
    pk: int
    page_name: str
    last_seen_at: datetime
    updated_at: datetime | None
    assignee_name: str | None
    """Username of the assignee, or None."""
    publish: PublishRow | None
    """Our last publish of the latest version, or None."""

    @property
    def key(self) -> str:
        return str(self.pk)

    @property
    def failed_publish(self) -> PublishRow | None:
        """Our last publish of the latest version, if it failed or its outcome is unknown."""
        return self.publish if self.newer and self.last_publish in FAILED else None


def records_of(state: ListState, tally: AudienceTally) -> Window[ListedColumns]:
    """Return a window of the matching audiences. Makes one query."""
    filters = filters_of(state)
    total = tally.total(filters)
    records = list_audiences(
        filters,
        sort=state.order,
        start=state.start,
        size=state.size,
        total=total,
        recorded=sum(tally.counts.values()),
    )
    end = state.start + len(records)
    next_url = state.url_from(end) if records and end < total else ""
    return Window(records, total, state.start, next_url)


def unchanged_audiences(request: Request, records: Iterable[ListedColumns]) -> set[int]:
    """Return the primary keys of the rows that an open list already shows correctly.

    They are sent without content: building and rendering all rows is most of the cost of a refresh.
    """
    changed = set(request.headers.get(TOPICS, "").split())
    # A topic without ids, or of another kind, may be about any row.
    if not changed or not all(name.startswith(("page:", "audience:")) for name in changed):
        return set()
    on_screen, rendered_since = set(keys_on_screen(request, "audience-")), clock.now() - RENDERED
    ids = {tuple(map(unquote, name.split(":")[1:])) for name in changed}
    return {
        record.pk
        for record in records
        if str(record.pk) in on_screen
        and not (record.live_since and record.live_since > rendered_since)
        and ids.isdisjoint([(record.page_id,), (record.page_id, record.audience_id)])
    }


def listed_audiences(records: Sequence[ListedColumns]) -> list[ListedAudience]:
    """Return a row for each record from `list_audiences`. Makes two queries."""
    page_ids = sorted({record.page_id for record in records})
    publishes = {
        (publish.page_id, publish.audience_id, publish.version_id): publish
        for publish in last_publishes(page_ids, [record.audience_id for record in records])
    }
    planned = planned_publishes(page_ids)
    rows = []
    for record in records:
        audience = Audience.from_json(record.body)
        latest = audience.latest_version
        version_id = latest.version_id if latest else ""
        publish = publishes.get((record.page_id, record.audience_id, version_id))
        row = ListedAudience(
            page_id=record.page_id,
            audience_id=record.audience_id,
            audience=audience,
            is_page_archived=record.page_status == PageStatus.ARCHIVED,
            is_latest_rolled_back=record.live_status == LiveStatus.ROLLED_BACK,
            is_latest_rejected=record.live_status in REJECTED_AS.values(),
            last_publish=publish.outcome if publish else None,
            live_since=record.live_since,
            is_live_since_seen=record.is_live_since_seen,
            pk=record.pk,
            page_name=record.page_name or record.page_id,
            last_seen_at=record.last_seen_at,
            updated_at=record.updated_at,
            seen_in_flight_at=record.seen_in_flight_at,
            assignee_name=record.assignee_name,
            publish=publish,
            planned=planned.get((record.page_id, record.audience_id), ()),
        )
        rows.append(row)
    return rows


def read_in_progress(rows: Iterable[ListedAudience]) -> bool:
    """Read some pages with a version in progress again; return whether any were due."""
    now = clock.now()
    due = {
        row.page_id
        for row in rows
        if is_moving(row, now=now) and now - row.last_seen_at >= READ_LASTS_MOVING
    }
    due -= followed_pages(due, now).keys()
    # In random order, so that a page that can't be read does not block the others.
    for page_id in random.sample(sorted(due), min(len(due), MAX_PAGES)):
        with suppress(APIError):  # The banner reports an outage.
            read_audiences(page_id)
    return bool(due)


def rows_left(request: Request, records: Iterable[ListedColumns]) -> list[ListedAudience]:
    """Return the audiences that an open page shows but the list no longer contains."""
    gone = rows_gone(request, "audience-", [record.pk for record in records])
    return listed_audiences(audiences_by_key(gone)) if gone else []


def list_context(request: Request, state: ListState) -> dict[str, Any]:
    """Return the rows, the tally and the coverage of the list. Makes five queries."""
    tally = tally_audiences(filters_of(state))
    rows = records_of(state, tally)
    unchanged = unchanged_audiences(request, rows.items)
    changed = [record for record in rows.items if record.pk not in unchanged]
    return {
        "tally": tally,
        "rows": rows,
        "listed": {row.pk: row for row in listed_audiences(changed)},
        "left": rows_left(request, rows.items),
        "coverage": audience_coverage(),
    }


def exported_audiences(state: ListState) -> Iterator[ExportedAudience | str]:
    """Yield each matching audience as last seen, then a note if pages were never read."""
    coverage = audience_coverage()
    for record in iterate_audiences(filters_of(state), sort=state.order):
        audience_state = AudienceState(
            *(record.page_id, record.audience_id, Audience.from_json(record.body)),
            is_latest_rolled_back=record.live_status == LiveStatus.ROLLED_BACK,
        )
        yield ExportedAudience(record, audience_state)
    if not coverage.is_full:
        read, total = f"{coverage.pages_read:,}", f"{coverage.pages_in_all:,}"
        yield f"Not complete: audiences of {read} of {total} pages are loaded."


ON_PAGE = "in"
"""Query parameter with the page whose table the other parameters filter."""

Selected = tuple[str, str]
"""Ids of the page and the audience."""


def matching_audiences(
    query: QueryDict, viewer: User | AnonymousUser, *, limit: int = MAX_ITEMS + 1
) -> list[Selected]:
    """Return the audiences that match the query string of a list, in the list's order.

    The list is the list of all audiences, or a page's table with `in=`. The default `limit` is one
    more than a release may have, which is enough to say "more than 500".
    """
    if page_id := query.get(ON_PAGE, "").replace("\0", ""):
        rows = audience_rows(page_id, [record.audience for record in audiences_last_known(page_id)])
        matching = matching_rows(rows, ListState.parse(AUDIENCES_OF_PAGE, query))
        return [(page_id, row.audience_id) for row in matching if row.audience_id][:limit]
    state = ListState.parse(AUDIENCES, query, viewer)
    return matching_keys(filters_of(state), sort=state.order, limit=limit)
