"""Queries of operations."""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import OPEN, interrupted, show_interrupted


def operation_by_key(operation_key: str) -> Operation | None:
    """Return the operation with this key, or None."""
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

    `actor` is the name of who requested or resent it. Unknown values match nothing.
    """
    found = Operation.objects.all()
    if kind:
        found = found.filter(kind=kind)
    if outcome == Outcome.UNKNOWN:
        found = found.filter(Q(outcome=outcome) | interrupted())
    elif outcome == Outcome.SENDING:
        found = found.filter(Q(outcome=outcome) & ~interrupted())
    elif outcome:
        found = found.filter(outcome=outcome)
    if actor:
        sent = Attempt.objects.filter(actor_name=actor).values("operation_id")
        found = found.filter(Q(actor_name=actor) | Q(pk__in=sent))
    if since:
        found = found.filter(requested_at__gte=since)
    if target:
        found = found.filter(
            Q(page_id=target)
            | Q(audience_id=target)
            | Q(version_id=target)
            | Q(subscription_id=target)
        )
    return found


def operations_after(found: QuerySet[Operation], last: Operation) -> QuerySet[Operation]:
    """Return the operations after `last`, in the order newest first."""
    same_moment = Q(requested_at=last.requested_at, pk__lt=last.pk)
    return found.filter(Q(requested_at__lt=last.requested_at) | same_moment)


def publishes_of(page_id: str, audience_id: str) -> QuerySet[Operation]:
    """Return the publish operations of one audience, newest first."""
    return Operation.objects.filter(
        kind=OperationKind.PUBLISH_VERSION, page_id=page_id, audience_id=audience_id
    )


def publishes_of_versions(
    page_id: str, audience_id: str, version_ids: list[str]
) -> list[Operation]:
    """Return the publishes of these versions of an audience, with their attempts; newest first."""
    found = publishes_of(page_id, audience_id).filter(version_id__in=version_ids)
    publishes = list(found.prefetch_related("attempts"))
    for operation in publishes:
        show_interrupted(operation, list(operation.attempts.all()))
    return publishes


def publishes_of_page(page_id: str) -> list[Any]:
    """Return the last 1,000 publish operations of a page's audiences, newest first.

    Each with its audience_id, version_id and outcome.
    """
    return _show_interrupted(_PUBLISHES.rows(page_id))


_PUBLISHES = CompiledQuery(
    lambda page_id: Operation.objects.filter(
        kind=OperationKind.PUBLISH_VERSION, page_id=page_id
    ).values_list("pk", "audience_id", "version_id", "outcome", named=True)[:1000]
)


def troubled_pages(page_ids: list[str]) -> dict[str, Any]:
    """Return the last publish on each page that failed or whose outcome is unknown.

    Each with its operation_key, outcome and requested_at.
    """
    found = _show_interrupted(_TROUBLED.rows(page_ids))
    return {row.page_id: row for row in found if row.outcome != Outcome.SENDING}


def last_publishes(page_ids: list[str], audience_ids: list[str]) -> list[Any]:
    """Return the last publish of each version of these audiences on these pages.

    Each with its page_id, audience_id, version_id, operation_key, outcome and requested_at.
    """
    return _show_interrupted(_LAST_PUBLISHES.rows(page_ids, audience_ids))


def _last_publishes(page_ids: list[str], audience_ids: list[str]) -> "QuerySet[Operation, Any]":
    publishes = Operation.objects.filter(
        kind=OperationKind.PUBLISH_VERSION, page_id__in=page_ids, audience_id__in=audience_ids
    )
    versions = publishes.order_by().values("page_id", "audience_id", "version_id")
    last = versions.annotate(last=Max("pk")).values("last")
    ids = ("page_id", "audience_id", "version_id")
    columns = ("pk", *ids, "operation_key", "outcome", "requested_at")
    return Operation.objects.filter(pk__in=last).values_list(*columns, named=True)


_LAST_PUBLISHES = CompiledQuery(_last_publishes)


def _show_interrupted(rows: list[Any]) -> list[Any]:
    """Return the rows, interrupted ones as unknown; one query if any is in flight."""
    sending = [row.pk for row in rows if row.outcome == Outcome.SENDING]
    if not sending:
        return rows
    lost = set(Operation.objects.filter(interrupted(), pk__in=sending).values_list("pk", flat=True))
    return [row._replace(outcome=Outcome.UNKNOWN.value) if row.pk in lost else row for row in rows]


def _troubled(page_ids: list[str]) -> "QuerySet[Operation, Any]":
    publishes = Operation.objects.filter(kind=OperationKind.PUBLISH_VERSION, page_id__in=page_ids)
    last = publishes.order_by().values("page_id").annotate(last=Max("pk")).values("last")
    # One in flight may be interrupted, which depends on the time.
    outcomes = (Outcome.REJECTED, Outcome.UNKNOWN, Outcome.SENDING)
    troubled = Operation.objects.filter(pk__in=last, outcome__in=outcomes)
    columns = ("pk", "page_id", "operation_key", "outcome", "requested_at")
    return troubled.values_list(*columns, named=True)


_TROUBLED = CompiledQuery(_troubled)


def later_update_bodies(operation: Operation) -> list[Any]:
    """Return the bodies of later updates of the subscription that may have been carried out."""
    later = Operation.objects.filter(
        kind=OperationKind.UPDATE_SUBSCRIPTION,
        subscription_id=operation.subscription_id,
        requested_at__gt=operation.requested_at,
    ).exclude(outcome__in=(Outcome.REJECTED, Outcome.NOT_SENT))
    return list(later.values_list("body_sent", flat=True))


def count_open() -> dict[str, int]:
    """Count the operations in flight and those of unknown outcome."""
    counts = count_by_outcome(Operation.objects.filter(outcome__in=OPEN))
    return {outcome.value: counts[outcome.value] for outcome in OPEN}


def count_by_outcome(operations: QuerySet[Operation]) -> Counter[str]:
    """Count operations by outcome, interrupted ones as unknown; two queries at most."""
    found = operations.order_by().values_list("outcome").annotate(Count("pk"))
    counts = Counter(dict(found))
    if counts[Outcome.SENDING.value]:
        lost = operations.filter(interrupted()).count()
        counts[Outcome.SENDING.value] -= lost
        counts[Outcome.UNKNOWN.value] += lost
    return counts


def list_actor_names() -> list[str]:
    """Return the names of all who requested or resent an operation, for a filter."""
    requested = Operation.objects.order_by().values_list("actor_name", flat=True)
    sent = Attempt.objects.order_by().values_list("actor_name", flat=True)
    return sorted(requested.union(sent))
