from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
    Window,
)

from dashboard.clock import interrupted_after
from dashboard.compiled_query import compiled
from dashboard.contract.audiences import VersionStatus
from dashboard.contract.webhooks import SubscriptionPatch
from dashboard.ledger.models import Attempt, Operation, Publication, VersionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import OPEN, interrupted, show_interrupted
from dashboard.ledger.states import OperationState

MAX_ATTENTION = 20


def operation_by_key(operation_key: str) -> Operation | None:
    if "\0" in operation_key:  # PostgreSQL rejects NUL even in a filter.
        return None
    return Operation.objects.filter(operation_key=operation_key).first()


def find_operations(
    *,
    kind: str = "",
    outcome: str = "",
    actor: str = "",
    since: datetime | None = None,
    target: str = "",
) -> QuerySet[Operation]:
    """Return the matching operations, newest first; `target` is any id of the target.

    `outcome` is an outcome or a state of OperationState: accepted publishes are "live" if their
    version went live, even if it isn't any more. `actor` is the name of a user who requested or
    resent it. Unknown values match nothing.
    """
    operations = Operation.objects.all()
    if kind:
        operations = operations.filter(kind=kind)
    if outcome:
        operations = operations.filter(_is_in_state(outcome))
    if actor:
        sent = Attempt.objects.filter(actor_name=actor).values("operation_id")
        operations = operations.filter(Q(actor_name=actor) | Q(pk__in=sent))
    if since:
        operations = operations.filter(requested_at__gte=since)
    if target:
        operations = operations.filter(
            Q(page_id=target)
            | Q(audience_id=target)
            | Q(version_id=target)
            | Q(subscription_id=target)
        )
    return operations


def publishes_of(page_id: str, audience_id: str) -> QuerySet[Operation]:
    return Operation.publishes.filter(page_id=page_id, audience_id=audience_id)


def publishes_of_versions(
    page_id: str, audience_id: str, version_ids: list[str]
) -> list[Operation]:
    """Return the publishes of these versions of an audience, newest first.

    Each has its attempts and the columns of `with_publications`.
    """
    matching = publishes_of(page_id, audience_id).filter(version_id__in=version_ids)
    publishes = list(with_publications(matching).prefetch_related("attempts"))
    for operation in publishes:
        show_interrupted(operation, list(operation.attempts.all()))
    return publishes


class PublishRow(NamedTuple):
    pk: int
    page_id: str
    audience_id: str
    version_id: str
    operation_key: str
    outcome: str
    requested_at: datetime


def publishes_of_page(page_id: str) -> list[PublishRow]:
    """Return the last 1,000 publish operations of a page's audiences, newest first."""
    publishes = Operation.publishes.filter(page_id=page_id)
    rows = publishes.values_list(*PublishRow._fields)[:1000]
    return _show_interrupted([*map(PublishRow._make, rows)])


def troubled_pages(page_ids: list[str]) -> dict[str, PublishRow]:
    """Return each page's last publish if it failed or its outcome is unknown."""
    operations = _show_interrupted(_troubled.rows(page_ids))
    return {row.page_id: row for row in operations if row.outcome != Outcome.SENDING}


def last_publishes(page_ids: list[str], audience_ids: list[str]) -> list[PublishRow]:
    return _show_interrupted(_last_publishes.rows(page_ids, audience_ids))


@compiled(PublishRow._make)
def _last_publishes(page_ids: list[str], audience_ids: list[str]) -> "QuerySet[Operation, Any]":
    publishes = Operation.publishes.filter(page_id__in=page_ids, audience_id__in=audience_ids)
    versions = publishes.order_by().values("page_id", "audience_id", "version_id")
    last = versions.annotate(last=Max("pk")).values("last")
    return Operation.objects.filter(pk__in=last).values_list(*PublishRow._fields)


def _show_interrupted(rows: list[PublishRow]) -> list[PublishRow]:
    """Return the rows with interrupted ones as unknown; one query if any is in flight."""
    sending = [row.pk for row in rows if row.outcome == Outcome.SENDING]
    if not sending:
        return rows
    lost = set(Operation.objects.filter(interrupted(), pk__in=sending).values_list("pk", flat=True))
    return [row._replace(outcome=Outcome.UNKNOWN.value) if row.pk in lost else row for row in rows]


@compiled(PublishRow._make)
def _troubled(page_ids: list[str]) -> "QuerySet[Operation, Any]":
    publishes = Operation.publishes.filter(page_id__in=page_ids)
    last = publishes.order_by().values("page_id").annotate(last=Max("pk")).values("last")
    # An operation in flight may be interrupted, which depends on the time.
    outcomes = (Outcome.REJECTED, Outcome.UNKNOWN, Outcome.SENDING)
    troubled = Operation.objects.filter(pk__in=last, outcome__in=outcomes)
    return troubled.values_list(*PublishRow._fields)


def later_update_bodies(operation: Operation) -> list[Any]:
    """Return the bodies of later updates of the subscription that may have been carried out."""
    later = Operation.objects.filter(
        kind=OperationKind.UPDATE_SUBSCRIPTION,
        subscription_id=operation.subscription_id,
        requested_at__gt=operation.requested_at,
    ).exclude(outcome__in=(Outcome.REJECTED, Outcome.NOT_SENT))
    return list(later.values_list("body_sent", flat=True))


def count_open() -> dict[str, int]:
    counts = count_by_outcome(Operation.objects.filter(outcome__in=OPEN))
    return {outcome.value: counts[outcome.value] for outcome in OPEN}


def count_by_outcome(operations: QuerySet[Operation]) -> Counter[str]:
    """Count operations by outcome, interrupted ones as unknown; two queries at most."""
    by_outcome = operations.order_by().values_list("outcome").annotate(Count("pk"))
    counts = Counter(dict(by_outcome))
    if counts[Outcome.SENDING.value]:
        lost = operations.filter(interrupted()).count()
        counts[Outcome.SENDING.value] -= lost
        counts[Outcome.UNKNOWN.value] += lost
    return counts


def list_actor_names() -> list[str]:
    requested = Operation.objects.order_by().values_list("actor_name", flat=True)
    sent = Attempt.objects.order_by().values_list("actor_name", flat=True)
    return sorted(requested.union(sent))


def _is_in_state(state: str) -> Q:
    """Match operations with this outcome, or publishes by whether their version went live."""
    is_accepted_publish = Q(kind=OperationKind.PUBLISH_VERSION, outcome=Outcome.ACCEPTED)
    match state:
        case Outcome.UNKNOWN:
            return Q(outcome=state) | interrupted()
        case Outcome.SENDING:
            return Q(outcome=state) & ~interrupted()
        case OperationState.LIVE:
            return is_accepted_publish & Q(Exists(_following_publications()))
        case OperationState.NOT_LIVE_YET:
            canceled = _version_records().filter(status=VersionStatus.CANCELLED)
            is_over = Q(Exists(_following_publications())) | Q(Exists(canceled))
            return is_accepted_publish & ~is_over
    return Q(outcome=state)


_OF_AUDIENCE = {"page_id": OuterRef("page_id"), "audience_id": OuterRef("audience_id")}


def _following_publications() -> QuerySet[Publication]:
    """Return the publications of an operation's version that had not ended at its request."""
    publications = Publication.objects.filter(
        Q(ended_at=None) | Q(ended_at__gt=OuterRef("requested_at")),
        **_OF_AUDIENCE,
        version_id=OuterRef("version_id"),
    )
    return publications.order_by("started_at", "pk")


def _version_records() -> QuerySet[VersionRecord]:
    return VersionRecord.objects.filter(**_OF_AUDIENCE, version_id=OuterRef("version_id"))


def with_publications(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Return the operations, each with what became of its version; in the same query.

    `live_from` and `live_until` are the start and end of its version's first publication that had
    not ended at the request. `live_operation` is the operation that began this publication.
    `is_rolled_back` is whether it was replaced by an older version that had been live before.
    `version_status` is the status last seen. `operation_state` turns these into a state.
    """
    publications = Publication.objects.filter(**_OF_AUDIENCE).order_by("started_at", "pk")
    successor = publications.filter(
        started_at__gte=OuterRef("ended_at"), pk__gt=OuterRef("pk")
    ).values("version_number")[:1]
    was_live = Publication.objects.filter(
        **_OF_AUDIENCE,
        version_number=OuterRef("successor_number"),
        started_at__lt=OuterRef("started_at"),
    )
    following = _following_publications()
    rolled_back = following.annotate(successor_number=Subquery(successor)).annotate(
        is_rolled_back=Exists(was_live) & Q(successor_number__lt=F("version_number"))
    )
    return operations.annotate(
        live_from=Subquery(following.values("started_at")[:1]),
        live_until=Subquery(following.values("ended_at")[:1]),
        live_operation=Subquery(following.values("operation")[:1]),
        is_rolled_back=Subquery(rolled_back.values("is_rolled_back")[:1]),
        version_status=Subquery(_version_records().values("status")[:1]),
    )


class PublicationColumns(NamedTuple):
    operation_key: str
    live_from: datetime | None
    live_until: datetime | None
    live_operation: int | None
    is_rolled_back: bool | None
    version_status: str | None


# Compiling it takes a fifth of the overview's time.
@compiled(PublicationColumns._make)
def _publication_columns(keys: list[str]) -> "QuerySet[Operation, Any]":
    operations = with_publications(Operation.objects.filter(operation_key__in=keys))
    return operations.values_list(*PublicationColumns._fields)


def list_recent(limit: int) -> list[Operation]:
    """Return the newest operations with their attempts and the columns of `with_publications`."""
    operations = list(find_operations().prefetch_related("attempts")[:limit])
    rows = _publication_columns.rows([operation.operation_key for operation in operations])
    by_key = {row.operation_key: row._asdict() for row in rows}
    for operation in operations:
        vars(operation).update(by_key[operation.operation_key])
    return operations


class AttentionRow(NamedTuple):
    pk: int
    message: str
    of: int


@dataclass(frozen=True)
class Attention:
    operations: Sequence[Operation]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.operations)


def operations_needing_attention(now: datetime) -> Attention:
    """Return operations of unknown outcome, then those of the last day that failed; newest first.

    Each has `message`, the message of its last attempt. A failed one is left out if the same was
    accepted later: for a page, one of the same name; for a subscription, changes of all its fields.
    """
    rows = _attention.rows(now - timedelta(days=1), now - interrupted_after())
    operations = Operation.objects.in_bulk([row.pk for row in rows]) if rows else {}
    for row in rows:
        operation: Any = operations[row.pk]
        operation.message = row.message
        if operation.outcome == Outcome.SENDING:  # only interrupted ones match
            operation.outcome = Outcome.UNKNOWN
    return Attention([operations[row.pk] for row in rows], rows[0].of if rows else 0)


@compiled(AttentionRow._make)
def _attention(failed_since: datetime, sending_since: datetime) -> "QuerySet[Operation, Any]":
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
    operations = Operation.objects.filter(unknown | failed & is_open)
    counted = operations.annotate(
        message=Subquery(last_attempt.values("message")[:1]),
        # Counted by the same query, before the limit applies.
        of=Window(Count("pk")),
    )
    unknown_first = Case(When(outcome=Outcome.REJECTED, then=1), default=0)
    ordered = counted.order_by(unknown_first, "-requested_at", "-pk")
    return ordered.values_list(*AttentionRow._fields)[:MAX_ATTENTION]
