"""Record webhook subscriptions."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from dashboard import clock
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger import feed
from dashboard.ledger.changes import observed, upsert_newer
from dashboard.ledger.models import FeedEntry, FeedKind, SubscriptionRecord


def record_subscription(
    subscription: WebhookSubscription,
    *,
    label: str | None = None,
    added_by: User | None = None,
    read_at: datetime | None = None,
) -> SubscriptionRecord:
    """Record a subscription; `added_by` is saved for a new one only."""
    record = SubscriptionRecord(
        **observed(subscription, read_at or clock.now()),
        subscription_id=subscription.subscription_id,
        label=label or "",
        url=subscription.url,
        active=subscription.active,
        added_by=added_by,
    )
    preserved = {"first_seen_at", "label", "added_by"}
    records = SubscriptionRecord.objects.filter(subscription_id=subscription.subscription_id)
    with transaction.atomic():
        before = records.select_for_update().first()
        upsert_newer([record], unique=["subscription_id"], preserved=preserved)
        if label is not None:
            records.update(label=label)
        after = records.first() or record
        if before is None or (before.digest, before.label) != (after.digest, after.label):
            feed.add(FeedEntry(kind=FeedKind.SUBSCRIPTION, object_id=after.subscription_id))
    return after
