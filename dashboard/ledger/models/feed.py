"""The change feed: what changed on the screens, in order, by ids alone."""

from functools import partialmethod

from django.db import models
from django.db.models import Func, Q

from dashboard import clock


class FeedKind(models.TextChoices):
    """What an entry is about, and what its `object_id` identifies."""

    PAGE = "page"
    """Without `page_id`, the list of pages has another length, or its crawl another state."""
    AUDIENCE = "audience"
    OPERATION = "operation"
    """`object_id` is the operation's key."""
    RELEASE = "release"
    APPROVAL = "approval"
    """A request for approval; without `object_id`, the approval rule."""
    SUBSCRIPTION = "subscription"
    RECEIVER = "receiver"
    """The receiver's settings; with `object_id`, a delivery."""
    NOTIFICATION = "notification"
    """New notifications of `user_id`, or some were read."""
    TARGET = "target"
    """A webhook that gets the notifications of `user_id` or of a team; without `object_id`, the
    e-mail address of `user_id`."""
    SAVED_VIEW = "saved_view"
    """A view of `user_id`, or of the team."""
    PRESENCE = "presence"
    """`object_id` is a place, and `actor_id` the user who came, left or does something else
    there."""
    COMMENT = "comment"
    """`object_id` is the place of its thread."""
    RIGHTS = "rights"
    """What `user_id` may do, or everybody."""
    SERVICE = "service"
    """The service's health, or its deviations from the specification."""


class TransactionNumber(Func):
    """The number of the current transaction on PostgreSQL, which has many writers; else null."""

    template = "(pg_current_xact_id()::text::bigint)"
    output_field = models.BigIntegerField()
    as_sqlite = partialmethod(Func.as_sql, template="(NULL)")


class FeedEntry(models.Model):
    """Something changed: its id, but neither its new state nor any text that people wrote."""

    seq = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=16, choices=FeedKind)
    page_id = models.TextField(blank=True)
    audience_id = models.TextField(blank=True)
    object_id = models.TextField(blank=True)
    user_id = models.BigIntegerField(null=True)
    """The only user who may see it; null for everybody."""
    actor_id = models.BigIntegerField(null=True)
    """The user who changed it; null if a worker did, or if it was read from the service."""
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
