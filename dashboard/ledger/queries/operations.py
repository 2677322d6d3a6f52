"""Operations on record: those that match, those about one thing, those that need a person."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.operations import OPEN
from dashboard.statements import Statement


def operation_by_key(operation_key: str) -> Operation | None:
    """Return the operation with this key, or None."""
    if "\0" in operation_key:  # PostgreSQL takes none even to look for.
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
    """Return operations newest first; `target` is an id of the thing.

    `actor` is the name of who asked for it, or sent it again. Values that name nothing find
    nothing.
    """
    found = Operation.objects.all()
    if kind:
        found = found.filter(kind=kind)
    if outcome:
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
    """Return those of the found that follow `last` in the order of the list, newest first."""
    same_moment = Q(requested_at=last.requested_at, pk__lt=last.pk)
    return found.filter(Q(requested_at__lt=last.requested_at) | same_moment)


def publishes_of(page_id: str, audience_id: str) -> QuerySet[Operation]:
    """Return the publish operations of one audience, newest first."""
    return Operation.objects.filter(
        kind=Kind.PUBLISH_VERSION, page_id=page_id, audience_id=audience_id
    )


def publishes_of_page(page_id: str) -> list[Any]:
    """Return the last 1,000 publish operations of a page's audiences, newest first.

    Each with its audience_id, version_id and outcome.
    """
    return _PUBLISHES.rows(page_id)


_PUBLISHES = Statement(
    lambda page_id: Operation.objects.filter(
        kind=Kind.PUBLISH_VERSION, page_id=page_id
    ).values_list("audience_id", "version_id", "outcome", named=True)[:1000]
)


def troubled_pages(page_ids: list[str]) -> dict[str, Any]:
    """Return the last publish on each of these pages, where it failed or its outcome is unknown.

    Each with its operation_key, outcome and requested_at.
    """
    return {operation.page_id: operation for operation in _TROUBLED.rows(page_ids)}


def _troubled(page_ids: list[str]) -> "QuerySet[Operation, Any]":
    publishes = Operation.objects.filter(kind=Kind.PUBLISH_VERSION, page_id__in=page_ids)
    last = publishes.order_by().values("page_id").annotate(last=Max("pk")).values("last")
    troubled = Operation.objects.filter(
        pk__in=last, outcome__in=(Outcome.REJECTED, Outcome.UNKNOWN)
    )
    return troubled.values_list("page_id", "operation_key", "outcome", "requested_at", named=True)


_TROUBLED = Statement(_troubled)


def bodies_of_later_updates(operation: Operation) -> list[Any]:
    """Return what was asked of a subscription after this change, and may have been carried out."""
    later = Operation.objects.filter(
        kind=Kind.UPDATE_SUBSCRIPTION,
        subscription_id=operation.subscription_id,
        requested_at__gt=operation.requested_at,
    ).exclude(outcome__in=(Outcome.REJECTED, Outcome.NOT_SENT))
    return list(later.values_list("body_sent", flat=True))


def open_operations() -> QuerySet[Operation]:
    """Return what is in flight or of unknown outcome, newest first."""
    return Operation.objects.filter(outcome__in=OPEN)


def count_open() -> dict[str, int]:
    """Return how many operations are in flight, and how many of unknown outcome."""
    counted = open_operations().order_by().values_list("outcome").annotate(Count("pk"))
    return {outcome.value: 0 for outcome in OPEN} | dict(counted)


def actors() -> list[str]:
    """Return the names on record, of who asked and of who sent again, for a filter."""
    asked = Operation.objects.order_by().values_list("actor_name", flat=True)
    sent = Attempt.objects.order_by().values_list("actor_name", flat=True)
    return sorted(asked.union(sent))
