"""The audiences of a page as rows: filtered, sorted, each with the next step it offers."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.contract.audiences import Audience, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.contract.envelope import ListEnvelope
from dashboard.itself import Itself
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audiences import STANDINGS
from dashboard.ledger.queries.pages import NOT_GIVEN
from dashboard.web.asked import count_in, kept, words_in
from dashboard.web.audience_head import AudienceState
from dashboard.web.list_headings import Heading, heading
from dashboard.web.page_filters import Choice, choices
from dashboard.web.unread import Unread, unread

PART = 50
ROWS_KEPT = 500
"""As many as the ledger keeps digests of: they hold the same audiences."""
TABLES_KEPT = 16
"""Of as many answers as the client keeps."""
AUDIENCES_KEPT = 250
"""In a table at most: a longer answer is not kept by the client, and never seen again."""
SORTS = ("name", "-latest", "-published")
"""The columns that can be sorted by, each as it is sorted first."""
TURNED_SORTS = ("-name", "latest", "published")


class Step(StrEnum):
    """What a row offers next."""

    PUBLISH = "publish"
    WATCH = "watch"
    CHECK = "check"
    RETRY = "retry"
    UP_TO_DATE = "up to date"
    NOTHING = "nothing"


@dataclass(frozen=True, eq=False)
class AudienceRow:
    """One audience of a page. Rows are kept: what many looks ask of one is worked out once."""

    state: AudienceState
    last_publish: Outcome | None = None
    """How the last publish of its latest version went that was asked for here."""

    @cached_property
    def name(self) -> str:
        """Its name, or its id where the service gave none."""
        return self.state.audience.name or self.state.audience_id or "Name not given"

    @property
    def name_source(self) -> str:
        """Which of its names this is."""
        audience = self.state.audience
        if not audience.name:
            return "No name sent"
        if audience.name == audience.custom_name:
            return "Custom name"
        return "Computed name" if audience.name == audience.computed_name else "Effective name"

    @property
    def computed_name(self) -> str:
        """The computed name where another is shown; a filter finds by it too."""
        computed = self.state.audience.computed_name or ""
        return computed if computed != self.name else ""

    @cached_property
    def words(self) -> str:
        """What a filter finds it by, casefolded."""
        audience = self.state.audience
        names = (audience.effective_name, audience.custom_name, audience.computed_name)
        return " ".join(filter(None, (*names, audience.audience_id))).casefold()

    @cached_property
    def status(self) -> str:
        """The status of its latest version, or that there is none."""
        return self.state.latest.status if self.state.latest else NOT_GIVEN

    @cached_property
    def standings(self) -> tuple[str, ...]:
        """How it stands: those of STANDINGS that are so."""
        state = self.state
        ways = {
            "live": state.live,
            "not-live": not state.live,
            "changed": state.live and state.newer,
            "in-flight": state.in_flight,
        }
        return tuple(way for way, is_so in ways.items() if is_so)

    @property
    def step(self) -> Step:
        """The next step, from its versions and from what was asked for here."""
        if self.last_publish == Outcome.UNKNOWN and self.state.newer:
            return Step.CHECK
        if self.state.in_flight or (self.last_publish == Outcome.SENDING and self.state.newer):
            return Step.WATCH
        # An archived version can be published again, from its own page: that is a roll back.
        if self.state.candidate and self.state.candidate.status != VersionStatus.ARCHIVED:
            return Step.RETRY if self.last_publish == Outcome.REJECTED else Step.PUBLISH
        return Step.UP_TO_DATE if self.state.latest and not self.state.newer else Step.NOTHING


@dataclass(frozen=True)
class DrawnRow:
    """What a row shows of an audience."""

    page_id: str
    audience_id: str
    name: str
    name_source: str
    computed_name: str
    is_archived: bool
    is_new_page_agent: bool | None
    latest_id: str
    latest_number: int | None
    """None where no version was sent."""
    latest_status: str
    live_number: int | None
    """None where none is live."""
    live_since: str | None
    is_live_latest: bool
    step: Step
    may_publish: bool
    is_held_back: bool
    """Whether publishing waits for the service to answer."""


@dataclass(frozen=True)
class AudienceQuery:
    """What a page's audiences are narrowed and sorted by: `?q= status= standing= sort= show=`."""

    words: str = ""
    status: str = ""
    """Of the latest version."""
    standing: str = ""
    """One of STANDINGS, or empty."""
    sort: str = ""
    show: int = PART

    @classmethod
    def of(cls, address: QueryDict) -> "AudienceQuery":
        """Read the address; what is not known there is left out."""
        sort = address.get("sort", "")
        standing = address.get("standing", "")
        return cls(
            words=words_in(address),
            status=kept(address.get("status", "")),
            standing=standing if standing in STANDINGS else "",
            sort=sort if sort in (*SORTS, *TURNED_SORTS) else "",
            show=max(count_in(address.get("show", "")), PART),
        )

    @property
    def narrows(self) -> bool:
        """Whether audiences are left out."""
        return bool(self.words or self.status or self.standing)

    @property
    def address(self) -> str:
        """The query string that asks for this."""
        said = {
            "q": self.words,
            "status": self.status,
            "standing": self.standing,
            "sort": self.sort,
        }
        given: dict[str, Any] = {name: value for name, value in said.items() if value}
        return "?" + urlencode(given | ({"show": self.show} if self.show > PART else {}))

    @property
    def more_address(self) -> str:
        """The query string that shows another part."""
        return replace(self, show=self.show + PART).address

    @cached_property
    def headings(self) -> dict[str, Heading]:
        """The columns that can be sorted by: `name`, `latest`, `published`."""

        def sorted_by(sort: str) -> str:
            return replace(self, sort=sort).address

        return {sort.removeprefix("-"): heading(self.sort, sort, sorted_by) for sort in SORTS}


@dataclass(frozen=True)
class AudienceView:
    """What a page's audiences are shown by."""

    page_id: str
    address: str
    """Of the page."""
    query: AudienceQuery
    may_publish: bool
    is_held_back: bool
    """Whether publishing waits for the service to answer."""
    last_publishes: tuple[tuple[tuple[str, str], Outcome], ...]
    """How the last publish of a version of an audience went that was asked for here."""


@dataclass(frozen=True, eq=False)
class AudienceTable:
    """The audiences to show, and how many there are. Tables are kept: each is drawn once."""

    query: AudienceQuery
    address: str
    rows: tuple[DrawnRow, ...]
    matching: int
    sent: int
    """How many the service sent."""
    total: int
    """How many the service says there are."""
    statuses: tuple[Choice, ...]
    standings: tuple[Choice, ...]
    unreadable: tuple[Unread, ...]
    """Which items of the list can't be read."""

    @property
    def not_sent(self) -> int:
        """How many the service has beyond those it sent."""
        return max(self.total - self.sent, 0)

    @property
    def hidden(self) -> int:
        """How many match beyond those shown."""
        return self.matching - len(self.rows)

    @property
    def next_count(self) -> int:
        """How many more the next part shows."""
        return min(PART, self.hidden)


def audience_table(found: ListEnvelope[Audience], view: AudienceView) -> AudienceTable:
    """Return the audiences that match, in order, at most `query.show` of them."""
    is_short = len(found.items) <= AUDIENCES_KEPT
    return (_kept_table if is_short else _table)(Itself(found), view)


def _table(listed: Itself[ListEnvelope[Audience]], view: AudienceView) -> AudienceTable:
    found, query, publishes = listed.thing, view.query, dict(view.last_publishes)
    rows = [audience_row(view.page_id, audience, publishes) for audience in found.items]
    named = _named(rows, query.words)
    of_status = [row for row in named if query.status in ("", row.status)]
    standing_so = [row for row in named if query.standing in ("", *row.standings)]
    matching = [row for row in of_status if query.standing in ("", *row.standings)]
    statuses = Counter(row.status for row in standing_so)
    standings = Counter(way for row in of_status for way in row.standings)
    return AudienceTable(
        query=query,
        address=view.address,
        rows=tuple(
            _drawn_row(row, may_publish=view.may_publish, is_held_back=view.is_held_back)
            for row in _sorted(matching, query.sort)[: query.show]
        ),
        matching=len(matching),
        sent=len(rows),
        total=max(found.total_count, len(rows)),
        statuses=tuple(choices(VersionStatus, statuses, [query.status] if query.status else [])),
        standings=tuple(Choice(way, standings[way], way == query.standing) for way in STANDINGS),
        unreadable=unread(found.unreadable),
    )


_kept_table = lru_cache(maxsize=TABLES_KEPT)(_table)


def audience_row(
    page_id: str, audience: Audience, publishes: Mapping[tuple[str, str], Outcome]
) -> AudienceRow:
    """Return one row, the one that there was of this very audience; it need not carry an id."""
    latest = audience.latest_version
    asked = publishes.get((audience.audience_id or "", latest.version_id)) if latest else None
    return _kept_row(page_id, Itself(audience), asked)


@lru_cache(maxsize=ROWS_KEPT)
def _kept_row(
    page_id: str, audience: Itself[Audience], last_publish: Outcome | None
) -> AudienceRow:
    # Without an id nothing leads to it.
    audience_id = audience.thing.audience_id or ""
    return AudienceRow(AudienceState(page_id, audience_id, audience.thing), last_publish)


def last_outcomes(publishes: Iterable[Any]) -> tuple[tuple[tuple[str, str], Outcome], ...]:
    """Return the outcome of the last publish of each version; `publishes` come newest first."""
    outcomes: dict[tuple[str, str], Outcome] = {}
    for operation in publishes:
        key = (operation.audience_id, operation.version_id)
        outcomes.setdefault(key, Outcome(operation.outcome))
    return tuple(outcomes.items())


@lru_cache(maxsize=ROWS_KEPT)
def _drawn_row(row: AudienceRow, *, may_publish: bool, is_held_back: bool) -> DrawnRow:
    state = row.state
    latest, live = state.latest, state.live
    return DrawnRow(
        page_id=state.page_id,
        audience_id=state.audience_id,
        name=row.name,
        name_source=row.name_source,
        computed_name=row.computed_name,
        is_archived=bool(state.audience.archived_at),
        is_new_page_agent=state.audience.is_new_page_agent,
        latest_id=latest.version_id if latest else "",
        latest_number=latest.version_number if latest else None,
        latest_status=latest.status if latest else "",
        live_number=live.version_number if live else None,
        live_since=live.published_at if live else None,
        is_live_latest=not state.newer,
        step=row.step,
        may_publish=may_publish,
        is_held_back=is_held_back,
    )


def _named(rows: list[AudienceRow], words: str) -> list[AudienceRow]:
    """Return the rows whose names and id hold every word."""
    wanted = words.casefold().split()
    return [row for row in rows if all(word in row.words for word in wanted)] if wanted else rows


def _sorted(rows: list[AudienceRow], sort: str) -> list[AudienceRow]:
    """Return the rows in order; those without a value come last either way."""
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
