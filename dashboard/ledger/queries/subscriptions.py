"""Webhook subscriptions known here."""

from collections.abc import Collection

from django.db.models import Max, QuerySet

from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Kind, Outcome


def subscription_last_known(subscription_id: str) -> SubscriptionRecord | None:
    """Return a subscription as last seen, or None."""
    if "\0" in subscription_id:  # no id holds a NUL, and PostgreSQL takes none even to look for
        return None
    records = SubscriptionRecord.objects.select_related("added_by")
    return records.filter(subscription_id=subscription_id).first()


def subscriptions_known() -> QuerySet[SubscriptionRecord]:
    """Return every subscription on the list, by label."""
    return SubscriptionRecord.objects.all()


def label_subscription(subscription_id: str, label: str) -> None:
    """Name a subscription here; the service has no names for them."""
    SubscriptionRecord.objects.filter(subscription_id=subscription_id).update(label=label)


def forget_subscription(subscription_id: str) -> bool:
    """Take a subscription off the list here; nothing changes at the service."""
    deleted, _ = SubscriptionRecord.objects.filter(subscription_id=subscription_id).delete()
    return bool(deleted)


def troubled_subscriptions(subscription_ids: Collection[str]) -> dict[str, Operation]:
    """Return the last change of each of these, where it failed or its outcome is unknown."""
    changes = Operation.objects.filter(
        kind=Kind.UPDATE_SUBSCRIPTION, subscription_id__in=subscription_ids
    )
    last = changes.order_by().values("subscription_id").annotate(last=Max("pk")).values("last")
    troubled = Operation.objects.filter(
        pk__in=last, outcome__in=(Outcome.REJECTED, Outcome.UNKNOWN)
    )
    return {operation.subscription_id: operation for operation in troubled}
