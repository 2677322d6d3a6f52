"""What happened, and which users have it in their notifications."""

from django.conf import settings
from django.db import models

from dashboard.ledger.models.operations import MAX_ACTOR_NAME
from dashboard.notifications.models.follows import Followed

MAX_KEY = 200


class Event(models.Model):
    """Something that happened, once. Ids, names and numbers only: no text of an agent or a person.

    Ids of the service are text of any length (spec); those of ours are no foreign keys, as an event
    outlives its subject.
    """

    kind = models.CharField(max_length=32)
    """A name of `kinds.KINDS`."""
    key = models.CharField(max_length=MAX_KEY, unique=True)
    """Identifies what happened: to notice it again, in any process, records nothing."""
    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """The user who did it; null if none did, such as when a service is unreachable."""
    actor_name = models.CharField(max_length=MAX_ACTOR_NAME, blank=True)
    """The name at that time; it outlives the account."""

    page_id = models.TextField(blank=True)
    audience_id = models.TextField(blank=True)
    version_id = models.TextField(blank=True)
    operation_key = models.CharField(max_length=128, blank=True)
    release_id = models.BigIntegerField(null=True)
    approval_id = models.BigIntegerField(null=True)
    followed = models.ForeignKey(Followed, null=True, on_delete=models.SET_NULL, related_name="+")
    """What has changed, of an event of what users follow."""

    path = models.TextField()
    """Of the page that shows it, such as `/releases/7/`."""
    facts = models.JSONField(default=dict)
    """Names and numbers for the sentence of its kind."""

    class Meta:
        ordering = ["-at", "-pk"]
        default_permissions = ()
        indexes = [
            # The daily digest, and `manage.py prune`.
            models.Index(fields=["at"]),
        ]

    def __str__(self) -> str:
        return self.key


class Notification(models.Model):
    """An event in the notifications of one user: the channel *in Pressroom*, and the history."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="notifications")
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "event"], name="one_notification_an_event")
        ]
        indexes = [
            models.Index(fields=["user", "-id"]),
            # The count of the bell, on every page.
            models.Index(
                name="unread_notifications", fields=["user"], condition=models.Q(read_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"notification {self.pk}"


class WatchState(models.Model):
    """What a watch of the worker has found so far, shared by all workers."""

    name = models.CharField(max_length=64, primary_key=True)
    value = models.JSONField(default=dict)
    changed_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
