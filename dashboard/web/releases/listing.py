"""The agenda: releases grouped by state."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils.functional import cached_property

from dashboard import clock
from dashboard.releases.models import Release, ReleaseState
from dashboard.texts import fold
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import SEARCH, Choice, choice_among
from dashboard.web.lists.state import ListState
from dashboard.web.releases.summary import ReleaseSummary, summarize_all
from dashboard.web.ui.query_params import PAGE_SIZE

FEW = 10
"""How many past releases are shown along with the other groups."""


@dataclass(frozen=True)
class Group:
    name: str
    """Value in the query string."""
    label: str
    states: tuple[str, ...]
    order: tuple[str, ...]


GROUPS = (
    Group("attention", "Needs attention", (ReleaseState.HELD,), ("held_at", "pk")),
    Group("running", "Publishing", (ReleaseState.RUNNING,), ("started_at", "pk")),
    Group("approval", "Needs approval", (ReleaseState.WAITING_FOR_APPROVAL,), ("due_at", "pk")),
    Group("scheduled", "Scheduled", (ReleaseState.SCHEDULED,), ("due_at", "pk")),
    Group("drafts", "Drafts", (ReleaseState.DRAFT,), ("-created_at", "-pk")),
    Group("past", "Past", (ReleaseState.FINISHED, ReleaseState.CANCELED), ("-ended_at", "-pk")),
)


STATE = choice_among(
    "state", "State", [(group.name, group.label) for group in GROUPS], all_label="All states"
)
OWNER = Choice("owner", "Owner", is_open=True, all_label="Everyone", column="owner_name")
"""Name of the user who made the last decision, or else created the release."""
RELEASES = ListDefinition(search=SEARCH, filters=(STATE, OWNER), start="start")


@dataclass(frozen=True)
class AgendaGroup:
    """The releases of one group. `rows` may hold only some of them."""

    group: Group
    total: int
    rows: list[ReleaseSummary]
    next_start: int | None
    """Offset of the next releases; None if no more follow."""


@dataclass(frozen=True)
class Agenda:
    groups: list[AgendaGroup]
    now: datetime

    @property
    def total(self) -> int:
        return sum(group.total for group in self.groups)

    @cached_property
    def is_moving(self) -> bool:
        rows = [row.release for group in self.groups for row in group.rows]
        soon = self.now + timedelta(minutes=1)
        return any(
            release.state == ReleaseState.RUNNING
            or release.needs_check
            or (
                release.state == ReleaseState.SCHEDULED and release.due_at and release.due_at < soon
            )
            for release in rows
        )

    @property
    def next_scheduled(self) -> Release | None:
        rows = [
            row for group in self.groups if group.group.name == "scheduled" for row in group.rows
        ]
        return rows[0].release if rows else None

    @property
    def late(self) -> list[ReleaseSummary]:
        rows = [row for group in self.groups for row in group.rows]
        return [row for row in rows if row.lateness]


def read_agenda(state: ListState) -> Agenda:
    """Return the matching releases in groups. Makes at most three queries for each group."""
    releases, chosen = _matching(state), state.value(STATE)
    groups = [_read_group(releases, group, state) for group in GROUPS if chosen in ("", group.name)]
    return Agenda([group for group in groups if group.total], clock.now())


def list_owners() -> list[str]:
    names = Release.listed.exclude(owner_name="").order_by("owner_name")
    return list(names.values_list("owner_name", flat=True).distinct())


def _matching(state: ListState) -> QuerySet[Release]:
    """Return the releases that match the filters and have each word in their name or note.

    Case and accents are ignored.
    """
    releases = Release.listed.annotate(ended_at=Coalesce("finished_at", F("created_at")))
    releases = releases.filter(state.condition)
    wanted = fold(state.words).split()
    if not wanted:
        return releases
    texts = Release.objects.order_by().values_list("pk", "name", "note")
    return releases.filter(
        pk__in=[
            pk for pk, name, note in texts if all(word in fold(f"{name} {note}") for word in wanted)
        ]
    )


def _read_group(releases: QuerySet[Release], group: Group, state: ListState) -> AgendaGroup:
    releases = releases.filter(state__in=group.states).order_by(*group.order)
    total, is_only = releases.count(), bool(state.value(STATE))
    size = FEW if group.name == "past" and not is_only else PAGE_SIZE
    start = state.start if is_only else 0
    rows = summarize_all(releases[start : start + size]) if total else []
    last = start + len(rows)
    return AgendaGroup(group, total, rows, last if rows and last < total else None)
