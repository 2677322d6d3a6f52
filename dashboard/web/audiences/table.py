"""The audience table of a page, with filters, sorting and the next action of each row."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils.functional import cached_property

from dashboard.contract.audiences import Audience, VersionStatus
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.contract.resource import ListEnvelope, UnreadableValue
from dashboard.ledger.models.objects import REJECTED_AS, LiveStatus, live_status
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audiences import audience_states
from dashboard.ledger.queries.operations import publishes_of_page
from dashboard.ledger.queries.pages import AUDIENCE_FLAGS, NOT_GIVEN, is_page_archived
from dashboard.releases.planning import planned_publishes
from dashboard.texts import fold
from dashboard.web.audiences.markup import latest_status_label, live_status_label
from dashboard.web.audiences.state import AudienceState
from dashboard.web.lists.columns import Column, Columns
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import SEARCH, Choice, Filter
from dashboard.web.lists.state import ListState
from dashboard.web.ui.query_params import MAX_COUNT

INITIAL_ROWS = 10
"""Number of rows at first. It is small because on a phone the page's fields come below."""
ROWS_PER_STEP = 50
"""Number of rows that each step adds."""


class NextAction(StrEnum):
    PUBLISH = "publish"
    WATCH = "watch"
    CHECK = "check"
    RETRY = "retry"
    UP_TO_DATE = "up to date"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class AudienceRow(AudienceState):
    last_publish: str | None
    """Outcome of our last publish of the latest version."""
    live_since: datetime | None
    is_live_since_seen: bool | None
    """Whether `live_since` is when Pressroom first saw it live."""
    seen_in_flight_at: datetime | None
    """When any version, latest or older, was last seen in flight."""

    @property
    def name(self) -> str:
        return self.audience.name or self.audience_id or "Unnamed audience"

    @property
    def name_note(self) -> str:
        """The text below the name; empty if the computed name is shown."""
        audience = self.audience
        if not audience.name:
            return "Unnamed audience"
        # The search includes the computed name, so a match has to show it.
        if audience.computed_name and audience.computed_name != audience.name:
            return f"Computed name: {audience.computed_name}"
        return "Custom name" if audience.name == audience.custom_name else ""

    @property
    def key(self) -> str:
        """Key of the row on its page, for an HTML id and for the URL of a poll."""
        return hashlib.blake2b(repr(self.audience_id).encode(), digest_size=4).hexdigest()

    @cached_property
    def words(self) -> str:
        audience = self.audience
        names = (audience.effective_name, audience.custom_name, audience.computed_name)
        return fold(" ".join(filter(None, (*names, audience.audience_id))))

    @property
    def latest_state(self) -> str:
        return self.state_of(self.latest) if self.latest else ""

    @property
    def is_in_progress(self) -> bool:
        return bool(self.in_flight or self.last_publish == Outcome.SENDING)

    @property
    def filter_status(self) -> str:
        return self.latest.status if self.latest else NOT_GIVEN

    @property
    def flags(self) -> list[str]:
        flags = {
            "live": self.live,
            "not-live": self.live_status == LiveStatus.NOT_LIVE,
            "changed": self.live_status == LiveStatus.CHANGED,
            "rolled-back": self.live_status == LiveStatus.ROLLED_BACK,
            "in-flight": self.in_flight,
        }
        return [flag for flag, applies in flags.items() if applies]

    @property
    def live_status(self) -> LiveStatus:
        status = live_status(self.audience, is_rolled_back=self.is_latest_rolled_back)
        return REJECTED_AS.get(status, status) if self.is_latest_rejected else status

    @property
    def step(self) -> NextAction:
        """The next action, derived from the versions and our last publish."""
        newer, candidate = self.newer, self.candidate
        if self.last_publish == Outcome.UNKNOWN and newer:
            return NextAction.CHECK
        if self.in_flight or (self.last_publish == Outcome.SENDING and newer):
            return NextAction.WATCH
        # Publishing an archived version is a rollback, which the audience's page offers.
        if candidate and candidate.status != VersionStatus.ARCHIVED:
            return NextAction.RETRY if self.last_publish == Outcome.REJECTED else NextAction.PUBLISH
        return NextAction.UP_TO_DATE if self.latest and not newer else NextAction.NOTHING


SORT_VALUES: dict[str, Callable[[AudienceRow], Any]] = {
    "name": lambda row: row.name.casefold(),
    "latest": lambda row: row.latest and row.latest.version_number,
    "published": lambda row: row.live_since,
}
"""Functions that return the value to sort by, or None."""


STATUS = Choice(
    "status",
    "Status of the latest version",
    values=[*VersionStatus],
    is_open=True,
    label_of=latest_status_label,
    all_label="All statuses",
)
FLAG = Choice(
    "flag",
    "Live status",
    values=[*AUDIENCE_FLAGS],
    label_of=live_status_label,
    all_label="Live status",
)
AUDIENCES_OF_PAGE = ListDefinition(
    search=SEARCH,
    filters=(STATUS, FLAG),
    columns=Columns(
        (
            Column("name", "Name", sort="name"),
            Column("latest", "Latest version", sort="-latest"),
            Column("live", "Live version", sort="-published"),
        ),
        default=("name", "latest", "live"),
    ),
    sizes=(INITIAL_ROWS, MAX_COUNT),
    keeps_size=True,
)


@dataclass(frozen=True)
class AudienceTable:
    state: ListState
    rows: list[AudienceRow]
    matching: int
    returned: int
    """Number of audiences that the service returned."""
    total: int
    """Total number of audiences according to the service."""
    status_counts: Mapping[str, int]
    flag_counts: Mapping[str, int]
    unreadable: list[UnreadableValue]
    """Items in the list that can't be parsed."""

    @property
    def not_returned(self) -> int:
        return max(self.total - self.returned, 0)

    @property
    def statuses(self) -> list[str]:
        """The statuses to choose from: those that an audience has, and the chosen one."""
        options = STATUS.options(self.status_counts, self.state.values(STATUS))
        return [option.value for option in options if option.count or option.is_chosen]

    def url_showing(self, count: int) -> str:
        return replace(self.state, size=count).url()

    @property
    def more_url(self) -> str:
        return self.url_showing(self.state.size + ROWS_PER_STEP)

    @property
    def hidden(self) -> int:
        return self.matching - len(self.rows)

    @property
    def next_count(self) -> int:
        return min(ROWS_PER_STEP, self.hidden)


def audience_rows(
    page_id: str, audiences: Iterable[Audience], *, page: PageItem | None = None
) -> list[AudienceRow]:
    """Return a row for each audience, with data from the ledger. Makes at most four queries.

    Without `page`, the ledger says whether the page is archived.
    """
    is_archived = page.status == PageStatus.ARCHIVED if page else is_page_archived(page_id)
    states, planned = audience_states(page_id), planned_publishes([page_id])
    outcomes = {
        (publish.audience_id, publish.version_id): publish.outcome
        for publish in reversed(publishes_of_page(page_id))
    }
    rows = []
    for audience in audiences:
        audience_id, latest = audience.audience_id or "", audience.latest_version
        state = states.get(audience_id)
        row = AudienceRow(
            *(page_id, audience_id, audience, is_archived),
            is_latest_rolled_back=bool(state and state.live_status == LiveStatus.ROLLED_BACK),
            is_latest_rejected=bool(state and state.live_status in REJECTED_AS.values()),
            live_since=state.live_since if state else None,
            is_live_since_seen=state.is_live_since_seen if state else None,
            seen_in_flight_at=state.seen_in_flight_at if state else None,
            planned=planned.get((page_id, audience_id), ()),
            last_publish=outcomes.get((audience_id, latest.version_id)) if latest else None,
        )
        rows.append(row)
    return rows


def audience_table(
    audiences: ListEnvelope[Audience], rows: list[AudienceRow], state: ListState
) -> AudienceTable:
    """Return the table with the matching audiences in order, at most `state.size` of them."""
    of_status = [row for row in rows if _matches(row, state, FLAG)]
    of_flag = [row for row in rows if _matches(row, state, STATUS)]
    matching = matching_rows(rows, state)
    return AudienceTable(
        state=state,
        rows=matching[: state.size],
        matching=len(matching),
        returned=len(rows),
        total=max(audiences.total_count, len(rows)),
        status_counts=Counter(row.filter_status for row in of_flag),
        flag_counts=Counter(flag for row in of_status for flag in row.flags),
        unreadable=audiences.unreadable_items,
    )


def matching_rows(rows: Iterable[AudienceRow], state: ListState) -> list[AudienceRow]:
    """Return the matching rows in order. Rows without a value come last in both directions."""
    matches = [row for row in rows if _matches(row, state)]
    value_of = SORT_VALUES.get(state.sort.removeprefix("-"))
    if value_of is None:
        return matches
    with_value = [row for row in matches if value_of(row) is not None]
    unknown = [row for row in matches if value_of(row) is None]
    return sorted(with_value, key=value_of, reverse=state.sort.startswith("-")) + unknown


def _matches(row: AudienceRow, state: ListState, but: Filter | None = None) -> bool:
    """Return whether a row matches the search and all filters except `but`."""
    return (
        all(word in row.words for word in fold(state.words).split())
        and (but is STATUS or state.value(STATUS) in ("", row.filter_status))
        and (but is FLAG or state.value(FLAG) in ("", *row.flags))
    )
