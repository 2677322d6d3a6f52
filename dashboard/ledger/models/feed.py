"""The change feed: what changed on the screens, in order, by ids alone."""

from typing import Any

from django.db import models
from django.db.models import Func, Q

from dashboard import clock


class FeedKind(models.TextChoices):
    """What an entry is about, and what its `object_id` is the id of."""

    PAGE = "page"
    """Without a page, the service's list of pages has another length."""
    AUDIENCE = "audience"
    OPERATION = "operation"
    """`object_id` is its key."""
    RELEASE = "release"
    APPROVAL = "approval"
    """A request; without `object_id`, the rule."""
    SUBSCRIPTION = "subscription"
    RECEIVER = "receiver"
    """Its settings; with `object_id`, a delivery."""
    NOTIFICATION = "notification"
    """Of `user_id`: new ones, or some were read."""
    SAVED_VIEW = "saved_view"
    """Of `user_id`, or of the team."""
    PRESENCE = "presence"
    """`object_id` is a place, and `actor_id` who came, went or does something else there."""
    SERVICE = "service"
    """Its health, or how it deviates from the specification."""


class TransactionNumber(Func):
    """The number of the current transaction on PostgreSQL, which has many writers; else null."""

    template = "(pg_current_xact_id()::text::bigint)"
    output_field = models.BigIntegerField()

    def as_sqlite(self, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        return "(NULL)", ()


class FeedEntry(models.Model):
    """Something changed: which thing, not what it is now. No text that anybody wrote."""

    seq = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=16, choices=FeedKind)
    page_id = models.TextField(blank=True)
    audience_id = models.TextField(blank=True)
    object_id = models.TextField(blank=True)
    user_id = models.BigIntegerField(null=True)
    """Who alone may see it; null for everybody."""
    actor_id = models.BigIntegerField(null=True)
    """Who changed it; null if it was read from the service, or a worker did."""
    at = models.DateTimeField(default=clock.now)
    transaction = models.BigIntegerField(null=True, db_default=TransactionNumber())

    class Meta:
        default_permissions = ()
        indexes = [
            # Empty on SQLite.
            models.Index(
                fields=["transaction"],
                condition=Q(transaction__isnull=False),
                name="feed_by_transaction",
            )
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind} {self.object_id or self.audience_id or self.page_id}"
