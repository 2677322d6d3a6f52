"""The list of audiences: its search, filters, columns and orders."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from django.contrib.auth.models import User

from dashboard.contract.audiences import VersionStatus
from dashboard.contract.wire import MAX_IDENTIFIER_BYTES
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.objects import LIVE, NOTHING_LIVE, LiveStatus
from dashboard.ledger.queries.audience_list import (
    DEFAULT_AUDIENCE_SORT,
    AudienceFilters,
    AudienceTally,
    ListedColumns,
    find_audiences,
    page_options,
)
from dashboard.ledger.queries.pages import NOT_GIVEN
from dashboard.ledger.queries.rows import existing_values
from dashboard.ledger.states import state_label
from dashboard.saved_views.models import ListName
from dashboard.web.audiences.markup import (
    agent_label,
    latest_status_label,
    live_status_badge,
    live_status_label,
    state_of_status,
)
from dashboard.web.audiences.state import AudienceState
from dashboard.web.lists.columns import Column, Columns
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import SEARCH, Choice, FilterOption
from dashboard.web.lists.state import ListState
from dashboard.web.ui.csv import Cell, date_of
from dashboard.web.ui.markup import status_badge


class ExportedAudience(NamedTuple):
    record: ListedColumns
    state: AudienceState


def _latest_status(state: AudienceState) -> str | None:
    return state_label(state.state_of(state.latest)) if state.latest else None


def _agent(row: ExportedAudience) -> str | None:
    return {True: "yes", False: "no", None: None}[row.state.audience.is_new_page_agent]


PAGE = Choice(
    "page",
    "Page",
    several=True,
    find=partial(existing_values, PageRecord, "page_id"),
    max_length=MAX_IDENTIFIER_BYTES,
)
LIVE_STATUS = Choice(
    "live",
    "Live status",
    several=True,
    values=[LIVE, *(status for status in LiveStatus if status != LiveStatus.REJECTED_FIRST)],
    label_of=live_status_label,
    badge_of=live_status_badge,
    icon="audience",
)
LATEST_STATUS = Choice(
    "status",
    "Latest status",
    several=True,
    values=[*VersionStatus],
    others=[NOT_GIVEN],
    find=partial(existing_values, AudienceRecord, "latest_status"),
    label_of=latest_status_label,
    badge_of=lambda status: (
        latest_status_label(status)
        if status == NOT_GIVEN
        else status_badge(state_of_status(status))
    ),
    chip_label="Latest",
)
AGENT = Choice(
    "agent",
    "New page agent",
    several=True,
    values=("yes", "no", NOT_GIVEN),
    label_of=agent_label,
    icon="agent",
)
ME = "me"
"""Assignee that means the viewer, so that a team's view works for everyone."""
USER = "@"
"""Comes before a username, as there may be users named "me" and "none"."""


def _existing_users(values: list[str]) -> set[str]:
    names = [value.removeprefix(USER) for value in values if value.startswith(USER)]
    return {f"{USER}{name}" for name in existing_values(User, "username", names)}


ASSIGNEE = Choice(
    "assignee",
    "Assignee",
    several=True,
    values=(ME, NOT_GIVEN),
    find=_existing_users,
    label_of=lambda value: (
        {ME: "You", NOT_GIVEN: "Unassigned"}.get(value) or value.removeprefix(USER)
    ),
    icon="person",
)
AUDIENCES = ListDefinition(
    name=ListName.AUDIENCES,
    search=SEARCH,
    filters=(PAGE, LIVE_STATUS, LATEST_STATUS, AGENT, ASSIGNEE),
    columns=Columns(
        (
            Column("name", "Audience", sort="name", heading="Name", value="state.audience.name"),
            Column("latest", "Latest version", value="state.latest.version_number"),
            Column("live", "Live version", sort="-live", value="state.live.version_number"),
            Column(
                *("status", "Live status"),
                value=lambda row: live_status_label(row.record.live_status),
            ),
            Column("agent", "New page agent", classes="hide-when-medium", value=_agent),
            Column("assignee", "Assignee", value="record.assignee_name"),
            Column("updated", "Updated", "-updated", "numeric", value="record.updated_at"),
            Column(
                "created", "Created", classes="numeric", value=date_of("state.audience.created_at")
            ),
            Column(
                *("seen", "Last checked"),
                classes="numeric",
                heading="Last seen",
                value="record.last_seen_at",
            ),
            Column("id", "Audience ID", heading="Audience", value="record.audience_id"),
        ),
        default=("name", "latest", "live", "status", "agent", "updated"),
    ),
    csv=(
        Cell("Page", "record.page_id"),
        Cell("Page name", "record.page_name"),
        *("id", "name", "latest"),
        Cell("Latest status", lambda row: _latest_status(row.state)),
        "live",
        Cell("Live since", "record.live_since"),
        *("status", "agent", "assignee", "created", "updated"),
        Cell("Archived", date_of("state.audience.archived_at")),
        "seen",
    ),
    default_sort=DEFAULT_AUDIENCE_SORT,
    start="after",
    progress=("cursor", "after_page"),
    find=lambda state: find_audiences(filters_of(state)),
)


def filters_of(state: ListState) -> AudienceFilters:
    names = {ME: state.viewer_name or ME, NOT_GIVEN: ""}
    return AudienceFilters(
        words=state.words,
        pages=state.values(PAGE),
        live=state.values(LIVE_STATUS),
        statuses=state.values(LATEST_STATUS),
        agents=state.values(AGENT),
        assignees=tuple(
            names.get(value, value.removeprefix(USER)) for value in state.values(ASSIGNEE)
        ),
    )


@dataclass(frozen=True)
class PageOption:
    page_id: str
    name: str
    is_chosen: bool


def filter_options(state: ListState, tally: AudienceTally) -> dict[str, list[FilterOption]]:
    """Return the options of each filter except the page, with their numbers of audiences.

    The options for the assignee are the viewer, the chosen users and nobody. They aren't counted.
    """
    filters = filters_of(state)
    live = tally.by("live_status", filters)
    live[LIVE] = sum(live.values()) - sum(live.get(status, 0) for status in NOTHING_LIVE)
    live[LiveStatus.REJECTED] = live.get(LiveStatus.REJECTED, 0) + live.pop(
        LiveStatus.REJECTED_FIRST, 0
    )
    counts = {
        LIVE_STATUS: live,
        LATEST_STATUS: tally.by("latest_status", filters),
        AGENT: tally.by("new_page_agent", filters),
    }
    options = {
        list_filter.param: list_filter.options(count, state.values(list_filter))
        for list_filter, count in counts.items()
    }
    chosen = state.values(ASSIGNEE)
    names = dict.fromkeys([ME, *chosen, NOT_GIVEN])
    return options | {
        ASSIGNEE.param: [FilterOption(name, None, is_chosen=name in chosen) for name in names]
    }


def page_filter(state: ListState, words: str) -> list[PageOption]:
    """Return the chosen pages, and some whose name contains the words. Makes up to two queries."""
    chosen = state.values(PAGE)
    options = page_options(words, chosen)
    return [PageOption(page_id, name or page_id, page_id in chosen) for page_id, name in options]
