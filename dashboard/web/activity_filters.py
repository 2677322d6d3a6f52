"""The filters of Activity, as they stand in the address."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.http import urlencode

from dashboard.ledger.models import Operation
from dashboard.ledger.queries.operations import find_operations


@dataclass(frozen=True)
class ActivityFilters:
    """What is asked for; empty asks for all."""

    kind: str = ""
    outcome: str = ""
    actor: str = ""
    since: str = ""
    """A day, `2026-03-12`, in the reader's time zone."""
    target: str = ""
    """The id of a page, audience, version or subscription."""

    @property
    def query(self) -> str:
        """The filters as an address has them; empty where nothing is filtered."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    @property
    def since_day(self) -> date | None:
        """The day, where it is one."""
        return _day(self.since)

    def find(self) -> QuerySet[Operation]:
        """Return the operations asked for, newest first."""
        return find_operations(
            kind=self.kind,
            outcome=self.outcome,
            actor=self.actor,
            since=_midnight(self.since_day),
            target=self.target,
        )


def read_filters(query: Mapping[str, str]) -> ActivityFilters:
    """Read the filters from an address; a day that is none asks for all days."""
    # No id holds a NUL, and PostgreSQL takes none even to look for.
    asked = {
        name: query.get(name, "").replace("\0", "").strip() for name in asdict(ActivityFilters())
    }
    since = asked.pop("since")
    return ActivityFilters(**asked, since=since if _day(since) else "")


def _day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:
        return None


def _midnight(day: date | None) -> datetime | None:
    """Return when a day begins for the reader; None where no operation can be from before."""
    if day is None:
        return None
    try:
        return timezone.make_aware(datetime.combine(day, time.min)).astimezone(UTC)
    except OverflowError:  # East of Greenwich the first day there is begins before all time.
        return None
