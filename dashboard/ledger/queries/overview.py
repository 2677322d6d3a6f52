"""What the overview tells, from the ledger alone: a fixed number of queries, whatever its size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import (
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
from django.db.models.functions import TruncDate
from django.utils import timezone

from dashboard.ledger.models import (
    Attempt,
    AudienceRecord,
    ListTotal,
    Operation,
    PageRecord,
    SubscriptionRecord,
)
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.queries.audiences import IN_FLIGHT
from dashboard.ledger.recording import PAGES_LIST
from dashboard.statements import HOW_MANY

ATTENTION_SHOWN = 20
WENT_LIVE_SHOWN = 5


@dataclass(frozen=True)
class PageCounts:
    """Pages known here by status, and how many the service said there are, where it did."""

    by_status: dict[str, int]
    total: int | None
    audiences: int
    """How many audiences these pages have, by the service's own count."""
    first_seen: int
    """Those seen here for the first time since the moment asked for."""
    changed: int
    """Those seen before, and seen to differ since."""

    @property
    def known(self) -> int:
        """How many are known."""
        return sum(self.by_status.values())


@dataclass(frozen=True)
class AudienceCounts:
    """Audiences known here; the last three since the moment asked for."""

    known: int
    live: int
    """Those with a live version."""
    in_flight: int
    first_seen: int
    changed: int
    went_live: int


@dataclass(frozen=True)
class DayCount:
    """How many operations of one kind and outcome were asked for on one day."""

    day: date
    kind: str
    outcome: str
    count: int


@dataclass(frozen=True)
class Attention:
    """Operations that need a person: some of them, and how many there are."""

    shown: Sequence[Operation]
    count: int

    @property
    def more(self) -> int:
        """How many are not shown."""
        return self.count - len(self.shown)


def count_pages(since: datetime) -> PageCounts:
    """Count the pages known here, and what became of them since then."""
    first_seen, changed = _differences(since)
    rows = (
        PageRecord.objects.order_by()
        .values("status")
        .annotate(
            known=Count("pk"),
            audiences=Sum("audiences_count"),
            first_seen=first_seen,
            changed=changed,
        )
    )
    total = ListTotal.objects.filter(list_name=PAGES_LIST).values_list("total_count", flat=True)
    sums = {name: sum(row[name] for row in rows) for name in ("audiences", "first_seen", "changed")}
    return PageCounts({row["status"]: row["known"] for row in rows}, total.first(), **sums)


def count_audiences(since: datetime) -> AudienceCounts:
    """Count the audiences known here, and what became of them since then; one query.

    Each is counted by an index of its own: what became of them are few among many.
    """
    is_new = Q(first_seen_at__gt=since)
    counted = {
        "known": Q(),
        "live": Q(live_version_number__isnull=False),
        "in_flight": Q(latest_status__in=IN_FLIGHT),
        "first_seen": is_new,
        "changed": Q(changed_at__gt=since) & ~is_new,
        "went_live": Q(live_since__gt=since),
    }
    counts = {name: _count_of(AudienceRecord.objects.filter(so)) for name, so in counted.items()}
    row = AudienceRecord.objects.order_by("pk").annotate(**counts).values(*counts).first()
    return AudienceCounts(**(row or dict.fromkeys(counted, 0)))


def went_live(since: datetime) -> QuerySet[AudienceRecord]:
    """Return some audiences whose live version went live since then, the last first."""
    found = AudienceRecord.objects.filter(live_since__gt=since).order_by("-live_since")
    return found.defer("body")[:WENT_LIVE_SHOWN]


def count_outcomes(since: datetime) -> dict[str, int]:
    """Return how many operations were asked for since then, by outcome."""
    asked = Operation.objects.filter(requested_at__gt=since).order_by()
    return dict(asked.values_list("outcome").annotate(Count("pk")))


def count_operations_by_day(since: datetime) -> list[DayCount]:
    """Count operations by the reader's day, kind and outcome; unknown ones however old."""
    rows = (
        Operation.objects.filter(Q(requested_at__gte=since) | Q(outcome=Outcome.UNKNOWN))
        .order_by()
        .annotate(day=TruncDate("requested_at", tzinfo=timezone.get_current_timezone()))
        .values_list("day", "kind", "outcome")
        .annotate(count=Count("pk"))
    )
    return [DayCount(*row) for row in rows]


def operations_needing_attention(now: datetime) -> Attention:
    """Return operations of unknown outcome, then those of the last day that failed for good.

    Newest first; what nobody knows the end of is never pushed out by what failed. Each carries
    `said`, the words of its last attempt. A failed one is left out once the same was accepted
    later; a page that was not created is the same by its name.
    """
    last_attempt = Attempt.objects.filter(operation=OuterRef("pk")).order_by("-number")
    ids = {name: OuterRef(name) for name in ("page_id", "audience_id", "subscription_id")}
    is_create = Q(kind=Kind.CREATE_PAGE)
    same = is_create & Q(target_name=OuterRef("target_name")) | ~is_create & Q(**ids)
    mended = Operation.objects.filter(
        same,
        kind=OuterRef("kind"),
        outcome=Outcome.ACCEPTED,
        requested_at__gt=OuterRef("requested_at"),
    )
    failed = Q(outcome=Outcome.REJECTED, requested_at__gte=now - timedelta(days=1))
    found = Operation.objects.filter(Q(outcome=Outcome.UNKNOWN) | failed & ~Exists(mended))
    counted = found.annotate(
        said=Subquery(last_attempt.values("said")[:1]),
        # Counted by the same query, before it is cut.
        of=Window(Count("pk")),
    )
    unknown_first = Case(When(outcome=Outcome.UNKNOWN, then=0), default=1)
    shown = list(counted.order_by(unknown_first, "-requested_at", "-pk")[:ATTENTION_SHOWN])
    return Attention(shown, shown[0].of if shown else 0)


def knows_subscriptions() -> bool:
    """Whether any subscription was added here."""
    return SubscriptionRecord.objects.exists()


def _count_of(found: QuerySet[AudienceRecord]) -> Subquery:
    """Return how many there are, as a value of another query."""
    return Subquery(found.order_by().values(count=HOW_MANY))


def _differences(since: datetime) -> tuple[Count, Count]:
    """Return the counts of those seen for the first time since then, and of those that differ."""
    first_seen = Q(first_seen_at__gt=since)
    changed = Q(changed_at__gt=since) & ~first_seen
    return Count("pk", filter=first_seen), Count("pk", filter=changed)
