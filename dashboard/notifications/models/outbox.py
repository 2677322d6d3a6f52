"""The outbox: what is to be delivered by e-mail and webhook, and what became of it.

An item is recorded in the transaction of what happened. A worker makes one message, a delivery, of
the items of one recipient, and sends it until it arrives.
"""

from django.conf import settings
from django.db import models

from dashboard.notifications.models.events import Event
from dashboard.notifications.models.preferences import Channel, WebhookTarget
from dashboard.work.claims import ClaimedRow


class DeliveryState(models.TextChoices):
    """The state of a delivery."""

    WAITING = "waiting", "Waiting"
    """For its first attempt, or the next one."""
    SENT = "sent", "Sent"
    GIVEN_UP = "given_up", "Given up"
    """No attempt succeeded in three days, or none ever can."""
    DROPPED = "dropped", "Not sent"
    """After a restore: it may have been sent after the backup."""


class Delivery(ClaimedRow):
    """One message to one recipient by e-mail or webhook, claimed for each attempt."""

    channel = models.CharField(max_length=8, choices=Channel)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    """The recipient of an e-mail; null for a webhook."""
    target = models.ForeignKey(
        WebhookTarget, null=True, on_delete=models.CASCADE, related_name="deliveries"
    )
    """The recipient of a webhook; null for an e-mail."""
    message_id = models.CharField(max_length=64, unique=True)
    """The same in every attempt, so that the recipient can tell a repeated message."""
    digest_on = models.DateField(null=True)
    """The user's date, of a daily digest."""
    tested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    """The user who waits for its result, of a test message; null for all others."""
    created_at = models.DateTimeField()

    state = models.CharField(max_length=8, choices=DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    retry_until = models.DateTimeField()
    """Then it is given up."""
    attempted_at = models.DateTimeField(null=True)
    status_code = models.PositiveIntegerField(null=True)
    """Of the last attempt, by HTTP or SMTP; null if there was no response."""
    problem = models.TextField(blank=True)
    """What the last attempt failed for, in a sentence; empty once it is sent."""
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        default_permissions = ()
        permissions = [
            (
                "manage_deliveries",
                "Can see the delivery log, send again, and change webhooks of teams",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "digest_on"],
                condition=models.Q(digest_on__isnull=False),
                name="one_digest_a_day",
            ),
            models.UniqueConstraint(
                fields=["tested_by"],
                condition=models.Q(tested_by__isnull=False, state="waiting"),
                name="one_test_at_a_time",
            ),
        ]
        indexes = [
            models.Index(
                name="deliveries_to_attempt",
                fields=["channel", "wake_at"],
                condition=models.Q(wake_at__isnull=False),
            ),
            models.Index(fields=["state", "-id"]),
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk}"


class DeliveryAttempt(models.Model):
    """One attempt to send a delivery, with its result."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempt_log")
    at = models.DateTimeField()
    status_code = models.PositiveIntegerField(null=True)
    """Of the response, by HTTP or SMTP; null if there was none."""
    problem = models.TextField(blank=True)
    """What it failed for, in a sentence; empty if it succeeded."""

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"attempt {self.pk}"


class DeliveryItem(models.Model):
    """An event to be delivered to one recipient by one channel."""

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="+")
    channel = models.CharField(max_length=8, choices=Channel)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    target = models.ForeignKey(WebhookTarget, null=True, on_delete=models.CASCADE, related_name="+")
    due_at = models.DateTimeField()
    """When it can be put into a message: after the bundling window, and the quiet hours."""
    delivery = models.ForeignKey(
        Delivery, null=True, on_delete=models.CASCADE, related_name="items"
    )
    """The message that has it; null until there is one."""

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        indexes = [
            models.Index(
                name="delivery_items_due",
                fields=["due_at"],
                condition=models.Q(delivery__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"
