"""The filters of Activity, read from the query string."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.http import urlencode

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.queries.operations import find_operations
from dashboard.releases.models import Release
from dashboard.web.activity.releases import of_release
from dashboard.web.ui.density import density_param
from dashboard.web.ui.ignored_values import KnownValues
from dashboard.web.ui.query_params import int_param

WITHOUT_APPROVAL = "none"


@dataclass(frozen=True)
class ActivityFilters:
    """The selected values; an empty one selects all."""

    kind: str = ""
    outcome: str = ""
    actor: str = ""
    since: str = ""
    """A day, such as `2026-03-12`, in the viewer's time zone."""
    target: str = ""
    """The id of a page, audience, version or subscription."""
    release: str = ""
    """The id of a release that sent them."""
    approval: str = ""
    """`none`: those that were sent without the approval they needed."""
    density: str = ""
    """Of the list: one of DENSITIES, or empty."""
    view: str = ""
    """The hint of the saved view that is shown: see `web/ui/saved_views.py`."""

    @property
    def query(self) -> str:
        """The filters as a query string; empty if nothing is filtered."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    @property
    def are_set(self) -> bool:
        """Whether anything is filtered."""
        return replace(self, density="", view="") != ActivityFilters()

    @property
    def since_day(self) -> date | None:
        """`since` as a date."""
        return _day(self.since)

    @property
    def since_moment(self) -> datetime | None:
        """The beginning of `since_day`."""
        if not (day := self.since_day):
            return None
        # East of Greenwich, 0001-01-01 begins before datetime.min in UTC.
        with suppress(OverflowError):
            return timezone.make_aware(datetime.combine(day, time.min)).astimezone(UTC)
        return None

    @property
    def of_outside(self) -> "ActivityFilters":
        """The filters that apply to what was published outside Pressroom."""
        return ActivityFilters(since=self.since, target=self.target)

    @property
    def match_outside(self) -> bool:
        """Whether they have no filter that only operations have."""
        return replace(self, density="", view="") == self.of_outside

    @property
    def are_grouped(self) -> bool:
        """Whether a release is one entry: a filter may match some of its operations only."""
        return not replace(self, since="").are_set

    def _find(self) -> QuerySet[Operation]:
        return find_operations(
            kind=self.kind,
            outcome=self.outcome,
            actor=self.actor,
            since=self.since_moment,
            target=self.target,
        )

    def find(self) -> QuerySet[Operation]:
        """Return the matching operations, newest first."""
        found = self._find()
        if self.approval == WITHOUT_APPROVAL:
            found = found.exclude(emergency_reason="")
        return of_release(found, int_param(self.release)) if self.release else found


def known_values(actors: Collection[str]) -> dict[str, KnownValues]:
    """Return the values of the filters; `actors` are all who requested or resent an operation."""
    return {
        "kind": KnownValues("Type", {*OperationKind}),
        "outcome": KnownValues("Outcome", {*Outcome}),
        "actor": KnownValues("User", actors),
        "approval": KnownValues("Approval", {WITHOUT_APPROVAL}),
        "release": KnownValues("Release", find=_existing_releases),
    }


def _existing_releases(ids: list[str]) -> set[str]:
    return {one for one in ids if Release.objects.filter(pk=int_param(one)).exists()}


def read_filters(query: Mapping[str, str]) -> ActivityFilters:
    """Read the filters from a query string; an invalid day selects all days."""
    # PostgreSQL rejects NUL even in queries.
    values = {
        name: query.get(name, "").replace("\0", "").strip() for name in asdict(ActivityFilters())
    }
    values |= {"density": density_param(query), "view": ""}
    since = values.pop("since")
    return ActivityFilters(**values, since=since if _day(since) else "")


def _day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:
        return None
