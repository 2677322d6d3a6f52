"""Counts for the overview, in a fixed number of queries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from django.contrib.auth.models import User
from django.db.models import (
    BigIntegerField,
    Case,
    Count,
    Exists,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    When,
    Window,
)
from django.db.models.functions import Coalesce, TruncDate
from django.db.models.lookups import Exact
from django.utils import timezone

from dashboard.compiled_query import ROW_COUNT, CompiledQuery
from dashboard.contract.webhooks import SubscriptionPatch
from dashboard.ledger.changes import pages_total
from dashboard.ledger.models import (
    Attempt,
    AudienceRecord,
    Operation,
    PageRecord,
    SubscriptionRecord,
)
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import in_flight_since, interrupted
from dashboard.ledger.queries.operations import count_by_outcome

MAX_ATTENTION = 20
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
    def known(self) -> int:
        """The number of known pages."""
        return sum(self.by_status.values())


@dataclass(frozen=True)
class AudienceCounts:
    """Known audiences; the last three counts are since the given time."""

    known: int
    live: int
    """With a live version."""
    first_seen: int
    changed: int
    went_live: int


@dataclass(frozen=True)
class DayCount:
    """The operations of one kind and outcome requested on one day."""

    day: date
    kind: str
    outcome: str
    count: int


@dataclass(frozen=True)
class Attention:
    """Operations that need a user: some of them, and the number of all."""

    shown: Sequence[Operation]
    count: int

    @property
    def more(self) -> int:
        """The number not shown."""
        return self.count - len(self.shown)


def count_pages(since: datetime) -> PageCounts:
    """Count the known pages, and those new or changed since then."""
    rows = _PAGES.rows(since)
    sums = {
        name: sum(getattr(row, name) for row in rows)
        for name in ("audiences", "first_seen", "changed")
    }
    by_status = {row.status: row.known for row in rows}
    return PageCounts(by_status, pages_total().first(), **sums)


def _pages_query(since: datetime) -> "QuerySet[PageRecord, Any]":
    is_new = Q(first_seen_at__gt=since)
    counted = {
        "known": Count("pk"),
        "audiences": Sum("audiences_count"),
        "first_seen": Count("pk", filter=is_new),
        "changed": Count("pk", filter=Q(changed_at__gt=since) & ~is_new),
    }
    by_status = PageRecord.objects.order_by().values("status").annotate(**counted)
    return by_status.values_list("status", *counted, named=True)


_PAGES = CompiledQuery(_pages_query)


def count_audiences(since: datetime, viewer: User) -> AudienceCounts:
    """Count the known audiences, and those new, changed or live since then; one query.

    Versions that the viewer published are left out. Each count uses an index of its own: the
    recent ones are few among many.
    """
    row = _AUDIENCES.first(since, viewer.pk)
    return AudienceCounts(*row) if row else AudienceCounts(0, 0, 0, 0, 0)


def _audiences_query(since: datetime, viewer_id: int) -> "QuerySet[AudienceRecord, Any]":
    is_new = Q(first_seen_at__gt=since)
    not_own = ~Q(_published_by(viewer_id, "latest_version_id", since=since))
    counted = {
        "known": Q(),
        "live": Q(live_version_number__isnull=False),
        "first_seen": is_new,
        "changed": Q(changed_at__gt=since) & ~is_new & not_own,
        "went_live": Q(live_since__gt=since) & ~Q(_published_by(viewer_id, "live_version_id")),
    }
    every = AudienceRecord.objects.order_by()
    counts = {
        name: Subquery(every.filter(so).values(count=ROW_COUNT)) for name, so in counted.items()
    }
    return every.order_by("pk").annotate(**counts).values_list(*counts, named=True)[:1]


_AUDIENCES = CompiledQuery(_audiences_query)


def went_live(since: datetime, viewer: User) -> QuerySet[AudienceRecord]:
    """Return some audiences with a new live version since then, latest first.

    Those that the viewer published are left out.
    """
    found = AudienceRecord.objects.filter(live_since__gt=since)
    of_others = found.exclude(_published_by(viewer.pk, "live_version_id")).order_by("-live_since")
    return of_others.defer("body")[:MAX_WENT_LIVE]


def count_outcomes(since: datetime, viewer: User) -> Counter[str]:
    """Count the operations that others than the viewer requested since then, by outcome."""
    requested = Operation.objects.filter(requested_at__gt=since).exclude(actor=viewer)
    return count_by_outcome(requested)


def count_operations_by_day(since: datetime) -> list[DayCount]:
    """Count operations by day in the viewer's zone, kind and outcome; unknown ones of any age."""
    zone = timezone.get_current_timezone()
    rows = _OPERATIONS.rows(since, zone=zone)
    counts = Counter({(day, kind, outcome): count for day, kind, outcome, count in rows})
    if any(row.outcome == Outcome.SENDING for row in rows):
        for operation in Operation.objects.filter(interrupted()):
            day = timezone.localdate(operation.requested_at)
            counts[day, operation.kind, Outcome.SENDING.value] -= 1
            counts[day, operation.kind, Outcome.UNKNOWN.value] += 1
    return [DayCount(*key, count) for key, count in counts.items()]


def _operations_query(since: datetime, *, zone: tzinfo) -> "QuerySet[Operation, Any]":
    is_open = Q(outcome__in=(Outcome.UNKNOWN, Outcome.SENDING))
    return (
        Operation.objects.filter(Q(requested_at__gte=since) | is_open)
        .order_by()
        .annotate(day=TruncDate("requested_at", tzinfo=zone))
        .values("day", "kind", "outcome")
        .annotate(count=Count("pk"))
        .values_list("day", "kind", "outcome", "count", named=True)
    )


_OPERATIONS = CompiledQuery(_operations_query)


def operations_needing_attention(now: datetime) -> Attention:
    """Return operations of unknown outcome, then those of the last day that failed; newest first.

    Each has `message`, the message of its last attempt. A failed one is left out once an equal one
    was accepted later: for a page one of the same name, for a subscription changes of all its
    fields.
    """
    rows = _ATTENTION.rows(now - timedelta(days=1), in_flight_since(now))
    operations = Operation.objects.in_bulk([row.pk for row in rows]) if rows else {}
    shown = []
    for row in rows:
        operation: Any = operations[row.pk]
        operation.message = row.message
        if operation.outcome == Outcome.SENDING:  # only interrupted ones match
            operation.outcome = Outcome.UNKNOWN
        shown.append(operation)
    return Attention(shown, rows[0].of if rows else 0)


def _attention_query(failed_since: datetime, sending_since: datetime) -> "QuerySet[Operation, Any]":
    failed = Q(outcome=Outcome.REJECTED, requested_at__gte=failed_since)
    unknown = Q(outcome=Outcome.UNKNOWN) | interrupted(sending_since)
    last_attempt = Attempt.objects.filter(operation=OuterRef("pk")).order_by("-number")
    ids = {name: OuterRef(name) for name in ("page_id", "audience_id", "subscription_id")}
    is_create = Q(kind=OperationKind.CREATE_PAGE)
    same = is_create & Q(target_name=OuterRef("target_name")) | ~is_create & Q(**ids)
    mended = Operation.objects.filter(
        same,
        kind=OuterRef("kind"),
        outcome=Outcome.ACCEPTED,
        requested_at__gt=OuterRef("requested_at"),
    )
    is_update = Q(kind=OperationKind.UPDATE_SUBSCRIPTION)
    is_open = ~is_update & Q(~Exists(mended))
    for name in SubscriptionPatch.model_fields:
        has_field = Q(body_sent__has_key=name)
        is_open |= is_update & has_field & Q(~Exists(mended.filter(has_field)))
    found = Operation.objects.filter(unknown | failed & is_open)
    counted = found.annotate(
        message=Subquery(last_attempt.values("message")[:1]),
        # Counted by the same query, before the limit applies.
        of=Window(Count("pk")),
    )
    unknown_first = Case(When(outcome=Outcome.REJECTED, then=1), default=0)
    ordered = counted.order_by(unknown_first, "-requested_at", "-pk")
    return ordered.values_list("pk", "message", "of", named=True)[:MAX_ATTENTION]


_ATTENTION = CompiledQuery(_attention_query)


def has_subscriptions() -> bool:
    """Return whether any subscription was added."""
    return SubscriptionRecord.objects.exists()


def _published_by(viewer_id: int, version: str, *, since: datetime | None = None) -> Exact:
    """Match audiences whose last accepted publish of this version was the viewer's."""
    accepted = Operation.objects.filter(
        kind=OperationKind.PUBLISH_VERSION,
        page_id=OuterRef("page_id"),
        audience_id=OuterRef("audience_id"),
        version_id=OuterRef(version),
        outcome=Outcome.ACCEPTED,
    )
    if since:
        accepted = accepted.filter(requested_at__gt=since)
    last = Subquery(
        accepted.order_by("-requested_at").values("actor")[:1], output_field=BigIntegerField()
    )
    # Without a publish the actor is null, which equals nothing.
    return Exact(Coalesce(last, 0), viewer_id)
