"""Queries of webhook subscriptions, and changes to their records."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Max, QuerySet

from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind, Operation, SubscriptionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import show_interrupted


def subscription_last_known(subscription_id: str) -> SubscriptionRecord | None:
    if "\0" in subscription_id:  # PostgreSQL rejects NUL even in a filter.
        return None
    records = SubscriptionRecord.objects.select_related("added_by")
    return records.filter(subscription_id=subscription_id).first()


def list_subscriptions() -> QuerySet[SubscriptionRecord]:
    return SubscriptionRecord.objects.all()


def label_subscription(subscription_id: str, label: str) -> None:
    records = SubscriptionRecord.objects.filter(subscription_id=subscription_id)
    with transaction.atomic():
        if records.exclude(label=label).update(label=label):
            _add_to_feed(subscription_id)


def delete_subscription(subscription_id: str) -> bool:
    with transaction.atomic():
        deleted, _ = SubscriptionRecord.objects.filter(subscription_id=subscription_id).delete()
        if deleted:
            _add_to_feed(subscription_id)
    return bool(deleted)


def _add_to_feed(subscription_id: str) -> None:
    feed.add(FeedEntry(kind=FeedKind.SUBSCRIPTION, object_id=subscription_id))


def troubled_subscriptions(subscription_ids: Collection[str]) -> dict[str, Operation]:
    """Return each subscription's last update if it failed or its outcome is unknown."""
    if not subscription_ids:
        return {}
    changes = Operation.objects.filter(
        kind=OperationKind.UPDATE_SUBSCRIPTION, subscription_id__in=subscription_ids
    )
    last = changes.order_by().values("subscription_id").annotate(last=Max("pk")).values("last")
    not_accepted = (Outcome.REJECTED, Outcome.UNKNOWN, Outcome.SENDING)
    operations = Operation.objects.filter(outcome__in=not_accepted, pk__in=last)
    operations = operations.prefetch_related("attempts")
    for operation in operations:
        show_interrupted(operation, list(operation.attempts.all()))
    return {
        operation.subscription_id: operation
        for operation in operations
        if operation.outcome != Outcome.SENDING
    }
