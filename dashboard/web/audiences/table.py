"""The audience table of a page: filters, sorting, and the next action of each row."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.contract.audiences import Audience, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.contract.envelope import ListEnvelope, UnreadableItem
from dashboard.folding import fold
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.page_flags import AUDIENCE_FLAGS
from dashboard.ledger.queries.audiences import in_progress_since
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
REVERSED_SORTS = ("-name", "latest", "published")


class NextAction(StrEnum):
    """The next action that a row offers."""

    PUBLISH = "publish"
    WATCH = "watch"
    CHECK = "check"
    RETRY = "retry"
    UP_TO_DATE = "up to date"
    NOTHING = "nothing"


@dataclass(frozen=True, eq=False)
class AudienceRow:
    """One audience of a page."""

    state: AudienceState
    last_publish: Outcome | None = None
    """The outcome of our last publish of its latest version."""

    @cached_property
    def name(self) -> str:
        """Its name, or its id if it has none."""
        return self.state.audience.name or self.state.audience_id or "Unnamed audience"

    @property
    def name_note(self) -> str:
        """The text below the name; empty if the computed name is shown."""
        audience = self.state.audience
        if not audience.name:
            return "Unnamed audience"
        # The search covers the computed name, so a match has to show it.
        if audience.computed_name and audience.computed_name != audience.name:
            return f"Computed name: {audience.computed_name}"
        return "Custom name" if audience.name == audience.custom_name else ""

    @cached_property
    def words(self) -> str:
        """The searchable text, folded."""
        audience = self.state.audience
        names = (audience.effective_name, audience.custom_name, audience.computed_name)
        return fold(" ".join(filter(None, (*names, audience.audience_id))))

    @cached_property
    def status(self) -> str:
        """The status of its latest version, or NOT_GIVEN."""
        return self.state.latest.status if self.state.latest else NOT_GIVEN

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """Its flags: those of AUDIENCE_FLAGS that apply."""
        state = self.state
        flags = {
            "live": state.live,
            "not-live": not state.live,
            "changed": state.live and state.newer,
            "in-flight": state.in_flight,
        }
        return tuple(flag for flag, applies in flags.items() if applies)

    @property
    def step(self) -> NextAction:
        """The next action, judged from its versions and our last publish."""
        if self.last_publish == Outcome.UNKNOWN and self.state.newer:
            return NextAction.CHECK
        if self.state.in_flight or (self.last_publish == Outcome.SENDING and self.state.newer):
            return NextAction.WATCH
        # Publishing an archived version is a rollback, which its own page offers.
        if self.state.candidate and self.state.candidate.status != VersionStatus.ARCHIVED:
            return NextAction.RETRY if self.last_publish == Outcome.REJECTED else NextAction.PUBLISH
        return (
            NextAction.UP_TO_DATE
            if self.state.latest and not self.state.newer
            else NextAction.NOTHING
        )


@dataclass(frozen=True)
class AudienceRowContext:
    """One row of the audience table."""

    page_id: str
    audience_id: str
    name: str
    name_note: str
    is_archived: bool
    is_new_page_agent: bool | None
    latest_id: str
    latest_number: int | None
    """None if no version was sent."""
    latest_status: str
    live_number: int | None
    """None if none is live."""
    live_since: str | None
    step: NextAction
    key: str
    """Identifies the row on its page, in an HTML id and in the URL of a poll."""
    is_in_progress: bool
    """Whether a publish of its latest version is in progress."""
    in_progress_since: datetime | None
    """None without a date."""
    may_publish: bool
    is_disabled: bool
    """Whether publishing is disabled until the service responds."""


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
            sort=sort if sort in (*SORTS, *REVERSED_SORTS) else "",
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
        return replace(self, show=self.show + ROWS_PER_STEP).url

    @cached_property
    def headings(self) -> dict[str, Heading]:
        """The columns that can be sorted by: `name`, `latest`, `published`."""

        def sorted_by(sort: str) -> str:
            return replace(self, sort=sort).url

        return {sort.removeprefix("-"): heading(self.sort, sort, sorted_by) for sort in SORTS}


@dataclass(frozen=True)
class AudienceView:
    """What the table depends on besides the audiences."""

    page_id: str
    url: str
    """The page's URL path."""
    query: AudienceQuery
    may_publish: bool
    is_page_archived: bool
    is_disabled: bool
    """Whether publishing is disabled until the service responds."""
    last_publishes: tuple[tuple[tuple[str, str], Outcome], ...]
    """The outcome of our last publish of each version, by audience id and version id."""


@dataclass(frozen=True, eq=False)
class AudienceTable:
    """The rows to show, and how many there are."""

    query: AudienceQuery
    url: str
    rows: tuple[AudienceRowContext, ...]
    matching: int
    returned: int
    """The number of audiences sent."""
    total: int
    """The number of audiences according to the service."""
    statuses: tuple[FilterOption, ...]
    flags: tuple[FilterOption, ...]
    unreadable: list[UnreadableItem]
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


def audience_table(found: ListEnvelope[Audience], view: AudienceView) -> AudienceTable:
    """Return the matching audiences in order, at most `query.show` of them."""
    query, publishes = view.query, dict(view.last_publishes)
    rows = [_audience_row(view, audience, publishes) for audience in found.items]
    named = _matching_words(rows, query.words)
    of_status = [row for row in named if query.status in ("", row.status)]
    of_flag = [row for row in named if query.flag in ("", *row.flags)]
    matching = [row for row in of_status if query.flag in ("", *row.flags)]
    statuses = Counter(row.status for row in of_flag)
    flags = Counter(flag for row in of_status for flag in row.flags)
    return AudienceTable(
        query=query,
        url=view.url,
        rows=tuple(
            _row_context(row, may_publish=view.may_publish, is_disabled=view.is_disabled)
            for row in _sorted(matching, query.sort)[: query.show]
        ),
        matching=len(matching),
        returned=len(rows),
        total=max(found.total_count, len(rows)),
        statuses=tuple(choices(VersionStatus, statuses, [query.status] if query.status else [])),
        flags=tuple(FilterOption(flag, flags[flag], flag == query.flag) for flag in AUDIENCE_FLAGS),
        unreadable=found.unreadable,
    )


def _audience_row(
    view: AudienceView, audience: Audience, publishes: Mapping[tuple[str, str], Outcome]
) -> AudienceRow:
    latest = audience.latest_version
    audience_id = audience.audience_id or ""
    last_publish = publishes.get((audience_id, latest.version_id)) if latest else None
    state = AudienceState(view.page_id, audience_id, audience, view.is_page_archived)
    return AudienceRow(state, last_publish)


def last_outcomes(publishes: Iterable[Any]) -> tuple[tuple[tuple[str, str], Outcome], ...]:
    """Return the outcome of the last publish of each version; `publishes` come newest first."""
    outcomes: dict[tuple[str, str], Outcome] = {}
    for operation in publishes:
        key = (operation.audience_id, operation.version_id)
        outcomes.setdefault(key, Outcome(operation.outcome))
    return tuple(outcomes.items())


def _row_context(row: AudienceRow, *, may_publish: bool, is_disabled: bool) -> AudienceRowContext:
    state = row.state
    latest, live = state.latest, state.live
    return AudienceRowContext(
        page_id=state.page_id,
        audience_id=state.audience_id,
        name=row.name,
        name_note=row.name_note,
        is_archived=bool(state.audience.archived_at),
        is_new_page_agent=state.audience.is_new_page_agent,
        latest_id=latest.version_id if latest else "",
        latest_number=latest.version_number if latest else None,
        latest_status=state.newer_status or latest.status if latest else "",
        live_number=live.version_number if live else None,
        live_since=live.published_at if live else None,
        step=row.step,
        key=short_hash(state.audience_id, size=4),
        is_in_progress=bool(state.in_flight or row.last_publish == Outcome.SENDING),
        in_progress_since=in_progress_since(state.in_flight),
        may_publish=may_publish,
        is_disabled=is_disabled,
    )


def audience_rows(audiences: Iterable[Audience], view: AudienceView) -> list[AudienceRowContext]:
    """Return the rows of all these audiences, as `audience_table` shows them."""
    publishes = dict(view.last_publishes)
    return [
        _row_context(
            _audience_row(view, audience, publishes),
            may_publish=view.may_publish,
            is_disabled=view.is_disabled,
        )
        for audience in audiences
    ]


def short_hash(*parts: object, size: int) -> str:
    """Return a short hash of the parts."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=size).hexdigest()


def _matching_words(rows: list[AudienceRow], words: str) -> list[AudienceRow]:
    """Return the rows whose names and id contain every word."""
    wanted = fold(words).split()
    return [row for row in rows if all(word in row.words for word in wanted)] if wanted else rows


def _sorted(rows: list[AudienceRow], sort: str) -> list[AudienceRow]:
    """Return the rows in order; those without a value come last in both directions."""
    column = sort.removeprefix("-")
    if not column:
        return rows
    known = [row for row in rows if _sort_value(row, column) is not None]
    unknown = [row for row in rows if _sort_value(row, column) is None]
    known.sort(key=lambda row: _sort_value(row, column), reverse=sort.startswith("-"))
    return known + unknown


def _sort_value(row: AudienceRow, column: str) -> Any:
    state = row.state
    if column == "name":
        return row.name.casefold()
    if column == "latest":
        return state.latest.version_number if state.latest else None
    return read_date(state.live.published_at) if state.live else None
