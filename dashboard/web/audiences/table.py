"""The audience table of a page: filters, sorting, and the next action of each row."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.contract.audiences import Audience, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.resource import UnreadableValue
from dashboard.folding import fold
from dashboard.ledger.models.audiences import LiveStatus, live_status
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.page_flags import AUDIENCE_FLAGS
from dashboard.ledger.queries.pages import NOT_GIVEN
from dashboard.web.audiences.state import AudienceState
from dashboard.web.ui.query_params import clean_param, int_param, search_param
from dashboard.web.ui.tables import (
    FilterOption,
    Heading,
    choices,
    heading,
)

INITIAL_ROWS = 10
"""Rows at first: on a phone, the page's own fields come below them."""
ROWS_PER_STEP = 50
"""Rows that each step adds."""
SORTS = ("name", "-latest", "-published")
"""The sortable columns, in the direction of the first click."""


class NextAction(StrEnum):
    """The next action that a row offers."""

    PUBLISH = "publish"
    WATCH = "watch"
    CHECK = "check"
    RETRY = "retry"
    UP_TO_DATE = "up to date"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class AudienceRow(AudienceState):
    """One audience of a page, as a row of its table."""

    last_publish: Outcome | None
    """The outcome of our last publish of its latest version."""

    @property
    def name(self) -> str:
        """Its name, or its id if it has none."""
        return self.audience.name or self.audience_id or "Unnamed audience"

    @property
    def name_note(self) -> str:
        """The text below the name; empty if the computed name is shown."""
        audience = self.audience
        if not audience.name:
            return "Unnamed audience"
        # The search covers the computed name, so a match has to show it.
        if audience.computed_name and audience.computed_name != audience.name:
            return f"Computed name: {audience.computed_name}"
        return "Custom name" if audience.name == audience.custom_name else ""

    @property
    def key(self) -> str:
        """Identifies the row on its page, in an HTML id and in the URL of a poll."""
        return short_hash(self.audience_id, size=4)

    @cached_property
    def words(self) -> str:
        """The searchable text, folded."""
        audience = self.audience
        names = (audience.effective_name, audience.custom_name, audience.computed_name)
        return fold(" ".join(filter(None, (*names, audience.audience_id))))

    @property
    def latest_status(self) -> str:
        """The status to show of its latest version; empty if it has none."""
        return self.newer_status or self.latest.status if self.latest else ""

    @property
    def is_in_progress(self) -> bool:
        """Whether a publish of its latest version is in progress."""
        return bool(self.in_flight or self.last_publish == Outcome.SENDING)

    @property
    def filter_status(self) -> str:
        """The status of its latest version as sent, or NOT_GIVEN."""
        return self.latest.status if self.latest else NOT_GIVEN

    @property
    def flags(self) -> list[str]:
        """Its flags: those of AUDIENCE_FLAGS that apply."""
        flags = {
            "live": self.live,
            "not-live": not self.live,
            "changed": self.live_status == LiveStatus.CHANGED,
            "in-flight": self.in_flight,
        }
        return [flag for flag, applies in flags.items() if applies]

    @property
    def live_status(self) -> LiveStatus:
        """How its live version and its latest one relate."""
        return live_status(self.audience)

    @property
    def step(self) -> NextAction:
        """The next action, judged from its versions and our last publish."""
        newer, candidate = self.newer, self.candidate
        if self.last_publish == Outcome.UNKNOWN and newer:
            return NextAction.CHECK
        if self.in_flight or (self.last_publish == Outcome.SENDING and newer):
            return NextAction.WATCH
        # Publishing an archived version is a rollback, which its own page offers.
        if candidate and candidate.status != VersionStatus.ARCHIVED:
            return NextAction.RETRY if self.last_publish == Outcome.REJECTED else NextAction.PUBLISH
        return NextAction.UP_TO_DATE if self.latest and not newer else NextAction.NOTHING


SORT_VALUES: dict[str, Callable[[AudienceRow], Any]] = {
    "name": lambda row: row.name.casefold(),
    "latest": lambda row: row.latest and row.latest.version_number,
    "published": lambda row: row.live and read_date(row.live.published_at),
}
"""The value that a column is sorted by, or None."""


@dataclass(frozen=True)
class AudienceQuery:
    """Search, filters and sort order of the table: `?q= status= flag= sort= show=`."""

    words: str = ""
    status: str = ""
    """Of the latest version."""
    flag: str = ""
    """One of AUDIENCE_FLAGS, or empty."""
    sort: str = ""
    show: int = INITIAL_ROWS

    @classmethod
    def from_params(cls, params: QueryDict) -> "AudienceQuery":
        """Parse the query string; unknown flags and sort orders are dropped."""
        sort = params.get("sort", "")
        flag = params.get("flag", "")
        return cls(
            words=search_param(params),
            status=clean_param(params.get("status", "")),
            flag=flag if flag in AUDIENCE_FLAGS else "",
            sort=sort if sort.removeprefix("-") in SORT_VALUES else "",
            show=max(int_param(params.get("show", "")), INITIAL_ROWS),
        )

    @property
    def is_filtered(self) -> bool:
        """Whether audiences are filtered out."""
        return bool(self.words or self.status or self.flag)

    @property
    def url(self) -> str:
        """The query string of this query."""
        params = {
            "q": self.words,
            "status": self.status,
            "flag": self.flag,
            "sort": self.sort,
        }
        given: dict[str, Any] = {name: value for name, value in params.items() if value}
        return "?" + urlencode(given | ({"show": self.show} if self.show > INITIAL_ROWS else {}))

    @property
    def more_url(self) -> str:
        """The query string that shows more rows."""
        return self.url_showing(self.show + ROWS_PER_STEP)

    def url_showing(self, count: int) -> str:
        """Return the query string that shows so many rows."""
        return replace(self, show=count).url

    @cached_property
    def headings(self) -> dict[str, Heading]:
        """The columns that can be sorted by: `name`, `latest`, `published`."""

        def sorted_by(sort: str) -> str:
            return replace(self, sort=sort).url

        return {sort.removeprefix("-"): heading(self.sort, sort, sorted_by) for sort in SORTS}


@dataclass(frozen=True)
class AudienceTable:
    """The rows to show, and how many there are."""

    query: AudienceQuery
    rows: list[AudienceRow]
    matching: int
    returned: int
    """The number of audiences sent."""
    total: int
    """The number of audiences according to the service."""
    statuses: tuple[FilterOption, ...]
    flags: tuple[FilterOption, ...]
    unreadable: list[UnreadableValue]
    """Items of the list that can't be parsed."""

    @property
    def not_returned(self) -> int:
        """The number of audiences that the service has, but did not send."""
        return max(self.total - self.returned, 0)

    @property
    def hidden(self) -> int:
        """The number of matches not shown."""
        return self.matching - len(self.rows)

    @property
    def next_count(self) -> int:
        """The number of rows that the next step adds."""
        return min(ROWS_PER_STEP, self.hidden)


def audience_rows(
    page_id: str,
    audiences: Iterable[Audience],
    *,
    is_page_archived: bool,
    publishes: Sequence[Any],
    planned: Mapping[tuple[str, str], Sequence[Any]],
) -> list[AudienceRow]:
    """Return a row for each audience.

    `publishes` are those of the page, newest first; `planned` is of `planned_publishes`.
    """
    outcomes = {(one.audience_id, one.version_id): one.outcome for one in reversed(publishes)}
    rows = []
    for audience in audiences:
        audience_id, latest = audience.audience_id or "", audience.latest_version
        last_publish = outcomes.get((audience_id, latest.version_id)) if latest else None
        row = AudienceRow(
            *(page_id, audience_id, audience, is_page_archived),
            planned=planned.get((page_id, audience_id), ()),
            last_publish=last_publish,
        )
        rows.append(row)
    return rows


def audience_table(
    found: ListEnvelope[Audience], rows: list[AudienceRow], query: AudienceQuery
) -> AudienceTable:
    """Return the matching ones of the `found` audiences in order, at most `query.show` of them."""
    of_status = matching_rows(rows, replace(query, flag=""))
    of_flag = matching_rows(rows, replace(query, status=""))
    matching = matching_rows(of_status, query)
    statuses = Counter(row.filter_status for row in of_flag)
    flags = Counter(flag for row in of_status for flag in row.flags)
    return AudienceTable(
        query=query,
        rows=matching[: query.show],
        matching=len(matching),
        returned=len(rows),
        total=max(found.total_count, len(rows)),
        statuses=tuple(choices(VersionStatus, statuses, [query.status] if query.status else [])),
        flags=tuple(FilterOption(flag, flags[flag], flag == query.flag) for flag in AUDIENCE_FLAGS),
        unreadable=found.unreadable_items,
    )


def matching_rows(rows: Iterable[AudienceRow], query: AudienceQuery) -> list[AudienceRow]:
    """Return the rows that match the search and the filters, in the order of the query."""
    words = fold(query.words).split()
    matching = [
        row
        for row in rows
        if all(word in row.words for word in words)
        and query.status in ("", row.filter_status)
        and (not query.flag or query.flag in row.flags)
    ]
    return _sorted(matching, query.sort)


def short_hash(*parts: object, size: int) -> str:
    """Return a short hash of the parts."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=size).hexdigest()


def _sorted(rows: list[AudienceRow], sort: str) -> list[AudienceRow]:
    """Return the rows in order; those without a value come last in both directions."""
    value_of = SORT_VALUES.get(sort.removeprefix("-"))
    if value_of is None:
        return rows
    known = [row for row in rows if value_of(row) is not None]
    unknown = [row for row in rows if value_of(row) is None]
    return sorted(known, key=value_of, reverse=sort.startswith("-")) + unknown
