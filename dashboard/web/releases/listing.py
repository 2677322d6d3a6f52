"""The agenda: releases grouped by what is to be done with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from zlib import crc32

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.http import urlencode

from dashboard.folding import fold
from dashboard.releases.models import Release, ReleaseState
from dashboard.web.releases.summary import ReleaseSummary, summarize_all
from dashboard.web.ui.load_more import PAGE_SIZE
from dashboard.web.ui.query_params import clean_param, int_param

FEW = 10
"""Past releases that are shown next to the others."""


@dataclass(frozen=True)
class Group:
    """One group of the agenda."""

    name: str
    """In the query string."""
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


@dataclass(frozen=True)
class AgendaQuery:
    """The filters; an empty one selects all."""

    words: str = ""
    group: str = ""
    owner: str = ""
    """The name of the user who decided last, or else created it."""
    start: int = 0
    """The number of releases of the group before the first that is shown."""

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> "AgendaQuery":
        """Read the filters from a query string; an unknown group selects all."""
        group = params.get("state", "")
        known = {each.name for each in GROUPS}
        return cls(
            words=clean_param(params.get("q", "")).strip(),
            group=group if group in known else "",
            owner=clean_param(params.get("owner", "")),
            start=int_param(params.get("start", "")) if group in known else 0,
        )

    @property
    def params(self) -> str:
        """The filters as a query string, without the start."""
        given = {"q": self.words, "state": self.group, "owner": self.owner}
        return urlencode({name: value for name, value in given.items() if value})


@dataclass(frozen=True)
class AgendaGroup:
    """The releases of one group; `rows` may be some of them only."""

    group: Group
    total: int
    rows: list[ReleaseSummary]
    next_start: int | None
    """The number of releases up to the last that is shown, if more follow."""


@dataclass(frozen=True)
class Agenda:
    """Releases in groups."""

    groups: list[AgendaGroup]
    now: datetime

    @property
    def total(self) -> int:
        """The number of releases found."""
        return sum(each.total for each in self.groups)

    @cached_property
    def is_moving(self) -> bool:
        """Whether a worker has something to do now for one that is shown."""
        rows = [row.release for each in self.groups for row in each.rows]
        soon = self.now + timedelta(minutes=1)
        return any(
            one.state == ReleaseState.RUNNING
            or one.needs_check
            or (one.state == ReleaseState.SCHEDULED and one.due_at and one.due_at < soon)
            for one in rows
        )

    @property
    def said(self) -> str:
        """What is shown, in short: to tell whether a poll found anything new."""
        rows = [row for each in self.groups for row in each.rows]
        shown = [(row.release.pk, row.release.state, row.result, row.reviewed) for row in rows]
        return f"{crc32(repr(shown).encode()):x}"

    @property
    def next_scheduled(self) -> Release | None:
        """The release that is due next, if one is shown."""
        rows = [row for each in self.groups if each.group.name == "scheduled" for row in each.rows]
        return rows[0].release if rows else None

    @property
    def late(self) -> list[ReleaseSummary]:
        """The scheduled releases that should have been sent."""
        rows = [row for each in self.groups for row in each.rows]
        return [row for row in rows if row.lateness]


def read_agenda(query: AgendaQuery) -> Agenda:
    """Return the releases that match, in groups. At most three queries a group."""
    found = _matching(query)
    groups = [
        _read_group(found, group, query) for group in GROUPS if query.group in ("", group.name)
    ]
    return Agenda([each for each in groups if each.total], timezone.now())


def list_owners() -> list[str]:
    """Return the name of each user who has decided on a release or created one."""
    names = Release.listed.exclude(owner_name="").order_by("owner_name")
    return list(names.values_list("owner_name", flat=True).distinct())


def _matching(query: AgendaQuery) -> QuerySet[Release]:
    """Return the owner's releases with each word in the name or note, whatever case and accents."""
    releases = Release.listed.annotate(ended_at=Coalesce("finished_at", F("created_at")))
    if query.owner:
        releases = releases.filter(owner_name=query.owner)
    wanted = fold(query.words).split()
    if not wanted:
        return releases
    texts = Release.objects.order_by().values_list("pk", "name", "note")
    return releases.filter(
        pk__in=[
            pk for pk, name, note in texts if all(word in fold(f"{name} {note}") for word in wanted)
        ]
    )


def _read_group(found: QuerySet[Release], group: Group, query: AgendaQuery) -> AgendaGroup:
    releases = found.filter(state__in=group.states).order_by(*group.order)
    total = releases.count()
    size = FEW if group.name == "past" and not query.group else PAGE_SIZE
    start = query.start if query.group else 0
    rows = summarize_all(releases[start : start + size]) if total else []
    last = start + len(rows)
    return AgendaGroup(group, total, rows, last if rows and last < total else None)
