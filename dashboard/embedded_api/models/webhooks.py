"""Webhook subscriptions, events and deliveries."""

from functools import partial
from urllib.parse import urlsplit

from django.db import models

from dashboard.contract.webhooks import EventName
from dashboard.embedded_api.ids import ID_LENGTH, MARK_LENGTH, id_column, new_id, uuid7_now
from dashboard.embedded_api.models.pages import Page, Version
from dashboard.embedded_api.models.tenants import Tenant
from dashboard.encryption import EncryptedText
from dashboard.texts import redact_secret
from dashboard.work.deliveries import DeliveryRow


class Subscription(models.Model):
    id = id_column("whs")
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="subscriptions")
    url = models.TextField("URL")
    events = models.JSONField(null=True, blank=True)
    """List of event names, or null. The spec does not say what null selects."""
    active = models.BooleanField(default=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    updated_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)

    class Meta:
        verbose_name = "webhook subscription"

    def __str__(self) -> str:
        return redact_secret(self.url)


class WebhookEvent(models.Model):
    """An event that has occurred or that a publish has planned.

    Events are planned along with the version's dates, so that the worker has one index to read. The
    events of a canceled publish are deleted.
    """

    event_id = models.CharField(
        "ID", max_length=ID_LENGTH, unique=True, default=partial(new_id, "evt"), editable=False
    )
    """Id in every delivery of the event, so that a receiver can recognize duplicates."""
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    page = models.ForeignKey(Page, models.CASCADE, related_name="+")
    version = models.ForeignKey(Version, models.CASCADE, related_name="+", null=True)
    """Version of the event; null for a form event."""
    name = models.CharField(max_length=40, choices=[(name.value, name.value) for name in EventName])
    occurred_at = models.CharField(max_length=MARK_LENGTH)
    """When the event occurs. The version's own date, so that each publish has its own events."""
    data = models.JSONField()
    """The payload's `data`, with ids and numbers."""
    announced_at = models.DateTimeField(null=True)
    """When a worker created the deliveries; null before that."""
    failures = models.PositiveSmallIntegerField(default=0)
    """How often announcing failed. After a day of failures it is given up."""
    retry_at = models.DateTimeField(null=True)
    """When announcing is tried again after a failure."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "name", "occurred_at"], name="event_once")
        ]
        indexes = [
            models.Index(
                name="events_to_announce",
                fields=["occurred_at", "id"],
                condition=models.Q(announced_at__isnull=True, retry_at__isnull=True),
            ),
            models.Index(
                name="events_to_retry",
                fields=["retry_at"],
                condition=models.Q(announced_at__isnull=True, retry_at__isnull=False),
            ),
            models.Index(name="events_by_age", fields=["announced_at"]),
        ]

    def __str__(self) -> str:
        return self.event_id


class EventDeliveryState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    """The next attempt is due at `wake_at`."""
    DELIVERED = "delivered", "Delivered"
    GIVEN_UP = "given_up", "Given up"
    """No attempt succeeded within a day, or the receiver responded 410."""
    NOT_SENT = "not_sent", "Not sent"
    """The subscription was turned off, changed or deleted, or a backup was restored."""


class WebhookDelivery(DeliveryRow):
    event = models.ForeignKey(WebhookEvent, models.CASCADE, related_name="deliveries")
    subscription = models.ForeignKey(
        Subscription, models.SET_NULL, null=True, related_name="deliveries"
    )
    """Receiving subscription; null after it was deleted."""
    url = models.TextField("URL")
    """URL of the last attempt, or else of the first one to come."""
    state = models.CharField(
        max_length=10, choices=EventDeliveryState, default=EventDeliveryState.WAITING
    )
    attempt_count = models.PositiveIntegerField("attempts", default=0)
    status_code = models.PositiveIntegerField("response", null=True)
    """Status code of the last attempt; null if there was no response."""
    created_at = models.DateTimeField("created")
    wake_at = models.DateTimeField("next attempt", null=True)

    class Meta:
        verbose_name_plural = "webhook deliveries"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["event", "subscription"], name="delivery_once")
        ]
        indexes = [
            models.Index(
                name="webhook_deliveries_to_attempt",
                fields=["wake_at", "id"],
                condition=models.Q(wake_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.event.name} to {self.host}"

    @property
    def host(self) -> str:
        """The host of the URL. The rest may be secret."""
        return urlsplit(self.url).netloc.rpartition("@")[2]


class WebhookDeliveryAttempt(models.Model):
    delivery = models.ForeignKey(WebhookDelivery, models.CASCADE, related_name="attempts")
    at = models.DateTimeField("sent")
    duration = models.DurationField()
    status_code = models.PositiveIntegerField("response", null=True)
    problem = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S}"


class SigningSecret(models.Model):
    """The secret that signs the deliveries of a subscription, encrypted.

    For a day after a rotation, the previous one signs, too. Source: standardwebhooks.com.
    """

    subscription = models.OneToOneField(
        Subscription, models.CASCADE, primary_key=True, related_name="signing_secret"
    )
    encrypted = EncryptedText()
    previous_encrypted = EncryptedText(blank=True)
    rotated_at = models.DateTimeField("rotated", null=True)
    form_key = models.CharField(max_length=64, blank=True)
    """Key of the form that last rotated the secret."""

    def __str__(self) -> str:
        return str(self.subscription)
