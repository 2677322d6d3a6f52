"""Counts for the overview, in a fixed number of queries."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import (
    BigIntegerField,
    Case,
    Count,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact
from django.utils import timezone

from dashboard.compiled_query import ROW_COUNT, compiled
from dashboard.ledger.changes import pages_total
from dashboard.ledger.models import (
    AudienceRecord,
    Operation,
    PageRecord,
    Publication,
    SubscriptionRecord,
)
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import interrupted
from dashboard.ledger.queries.audiences import publications_since
from dashboard.ledger.queries.operations import count_by_outcome
from dashboard.ledger.queries.pages import AUDIENCE_FLAGS
from dashboard.ledger.states import OperationState

MAX_WENT_LIVE = 5


@dataclass(frozen=True)
class PageCounts:
    """Known pages by status, and the service's own total if known."""

    by_status: dict[str, int]
    total: int | None
    audiences: int
    """Audiences of these pages, by the service's own count."""
    first_seen: int
    """Pages first seen after the given time."""
    changed: int
    """Pages seen before, and changed since."""

    @property
    def recorded(self) -> int:
        return sum(self.by_status.values())


@dataclass(frozen=True)
class AudienceCounts:
    """Known audiences; the last three counts are since the given time."""

    recorded: int
    live: int
    first_seen: int
    changed: int
    went_live: int


@dataclass(frozen=True)
class DayCount:
    """Number of operations of one kind and outcome that were requested on one day.

    The outcome "live" counts the versions that went live on that day, whoever published them.
    """

    day: date | None
    """None for operations before the first counted day."""
    kind: str
    outcome: str
    count: int


class OutcomeCount(NamedTuple):
    """A `DayCount` as the query returns it, with the index of its day."""

    day: int | None
    kind: str
    outcome: str
    number: int


def count_pages(since: datetime) -> PageCounts:
    is_new = Q(first_seen_at__gt=since)
    counted = {
        "recorded": Count("pk"),
        "audiences": Sum("audiences_count"),
        "first_seen": Count("pk", filter=is_new),
        "changed": Count("pk", filter=Q(changed_at__gt=since) & ~is_new),
    }
    by_status = PageRecord.objects.order_by().values("status").annotate(**counted)
    rows = list(by_status.values_list("status", *counted, named=True))
    sums = {
        name: sum(getattr(row, name) for row in rows)
        for name in ("audiences", "first_seen", "changed")
    }
    read = {row.status: row.recorded for row in rows}
    return PageCounts(read, pages_total().first(), **sums)


def count_audiences(since: datetime, viewer: User) -> AudienceCounts:
    """Count the known audiences, and those new, changed or live since then; one query.

    Versions that the viewer published are left out. Each count uses an index of its own: the
    recent ones are few among many.
    """
    return _audience_counts.first(since, viewer.pk) or AudienceCounts(0, 0, 0, 0, 0)


@compiled(lambda row: AudienceCounts(*row))
def _audience_counts(since: datetime, viewer_id: int) -> "QuerySet[AudienceRecord, Any]":
    is_new = Q(first_seen_at__gt=since)
    not_own = ~Q(_latest_published_by(viewer_id, since))
    counted = {
        "recorded": Q(),
        "live": AUDIENCE_FLAGS["live"],
        "first_seen": is_new,
        "changed": Q(changed_at__gt=since) & ~is_new & not_own,
    }
    audiences = AudienceRecord.objects.order_by()
    counts = {
        name: Subquery(audiences.filter(condition).values(count=ROW_COUNT))
        for name, condition in counted.items()
    }
    counts["went_live"] = Subquery(_went_live(since, viewer_id).values(count=ROW_COUNT))
    return audiences.order_by("pk").annotate(**counts).values_list(*counts)[:1]


def went_live(since: datetime, viewer: User) -> QuerySet[Publication]:
    """Return some of the versions that went live since then and are still live, latest first.

    Those that the viewer published are left out.
    """
    return _went_live(since, viewer.pk).order_by("-started_at", "-pk")[:MAX_WENT_LIVE]


def _went_live(since: datetime, viewer_id: int) -> QuerySet[Publication]:
    live = Publication.objects.filter(ended_at=None, started_at__gt=since)
    return live.exclude(operation__actor_id=viewer_id).order_by()


def count_outcomes(since: datetime, viewer: User) -> Counter[str]:
    requested = Operation.objects.filter(requested_at__gt=since).exclude(actor=viewer)
    return count_by_outcome(requested)


def count_operations_by_day(starts: Mapping[date, datetime]) -> list[DayCount]:
    """Count operations by day, kind and outcome, and versions by the day that they went live.

    `starts` is the midnight of each day, in order. Earlier operations are counted only if they are
    in flight or their outcome is unknown. One query, and another if an operation is in flight.
    """
    days = [*starts]
    rows = _outcome_counts.rows(*starts.values())
    counts = Counter[tuple[date | None, str, str]]()
    for row in rows:
        counts[None if row.day is None else days[row.day], row.kind, row.outcome] = row.number
    if any(row.outcome == Outcome.SENDING for row in rows):
        for operation in Operation.objects.filter(interrupted()):
            local = timezone.localdate(operation.requested_at)
            day = local if local in starts else None
            counts[day, operation.kind, Outcome.SENDING.value] -= 1
            counts[day, operation.kind, Outcome.UNKNOWN.value] += 1
    return [DayCount(*key, count) for key, count in counts.items()]


@compiled(OutcomeCount._make)
def _outcome_counts(*starts: datetime) -> "QuerySet[Operation, Any]":
    is_open = Q(outcome__in=(Outcome.UNKNOWN, Outcome.SENDING))
    # SQLite has no dates in a time zone: Django would call Python for each row.
    days = [*reversed([*enumerate(starts)])]
    operations = (
        Operation.objects.filter(Q(requested_at__gte=starts[0]) | is_open)
        .order_by()
        .annotate(day=Case(*(When(requested_at__gte=start, then=n) for n, start in days)))
        .values("day", "kind", "outcome")
        .annotate(number=Count("pk"))
    )
    went_live = (
        publications_since(starts[0])
        .order_by()
        .annotate(
            day=Case(*(When(started_at__gte=start, then=n) for n, start in days)),
            kind=Value(OperationKind.PUBLISH_VERSION.value),
            outcome=Value(OperationState.LIVE.value),
        )
        .values("day", "kind", "outcome")
        .annotate(number=Count("pk"))
    )
    rows = went_live.values_list(*OutcomeCount._fields)
    return operations.values_list(*OutcomeCount._fields).union(rows, all=True)


def has_subscriptions() -> bool:
    return SubscriptionRecord.objects.exists()


def _latest_published_by(viewer_id: int, since: datetime) -> Exact:
    """Match audiences whose last accepted publish of the latest version was the viewer's."""
    accepted = Operation.publishes.filter(
        page_id=OuterRef("page_id"),
        audience_id=OuterRef("audience_id"),
        version_id=OuterRef("latest_version_id"),
        outcome=Outcome.ACCEPTED,
        requested_at__gt=since,
    )
    last = Subquery(
        accepted.order_by("-requested_at").values("actor")[:1], output_field=BigIntegerField()
    )
    # Without a publish the actor is null, which equals nothing.
    return Exact(Coalesce(last, 0), viewer_id)
