"""Webhook subscriptions, events, and their deliveries."""

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
    """A list of event names, or null (the spec does not say what that selects)."""
    active = models.BooleanField(default=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    updated_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)

    class Meta:
        verbose_name = "webhook subscription"

    def __str__(self) -> str:
        return redact_secret(self.url)


class WebhookEvent(models.Model):
    """An event that has occurred, or that a publish has planned.

    Planned with the dates of the version, so that the worker has one index to read; what a canceled
    publish had planned is deleted. Data from before this table has no events.
    """

    event_id = models.CharField(
        "ID", max_length=ID_LENGTH, unique=True, default=partial(new_id, "evt"), editable=False
    )
    """The same in every delivery, so that a receiver can tell a repeated one."""
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    page = models.ForeignKey(Page, models.CASCADE, related_name="+")
    version = models.ForeignKey(Version, models.CASCADE, related_name="+", null=True)
    """Null for an event of a form."""
    name = models.CharField(max_length=40, choices=[(name.value, name.value) for name in EventName])
    occurred_at = models.CharField(max_length=MARK_LENGTH)
    """When it occurs or occurred: the version's own date, so each publish has its own events."""
    data = models.JSONField()
    """The payload's `data`: ids and numbers."""
    announced_at = models.DateTimeField(null=True)
    """When its deliveries were made; null until it has occurred and a worker has seen it."""
    failures = models.PositiveSmallIntegerField(default=0)
    """How often that failed; after a day of failures it is given up."""
    retry_at = models.DateTimeField(null=True)
    """When it is tried again after a failure."""

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
    """For its first attempt, or the next one."""
    DELIVERED = "delivered", "Delivered"
    GIVEN_UP = "given_up", "Given up"
    """No attempt succeeded in a day, or the receiver responded 410."""
    NOT_SENT = "not_sent", "Not sent"
    """The subscription was turned off, changed or deleted meanwhile, or a backup was restored."""


class WebhookDelivery(DeliveryRow):
    event = models.ForeignKey(WebhookEvent, models.CASCADE, related_name="deliveries")
    subscription = models.ForeignKey(
        Subscription, models.SET_NULL, null=True, related_name="deliveries"
    )
    """Null once it is deleted."""
    url = models.TextField("URL")
    """Where the last attempt went, or the first one will."""
    state = models.CharField(
        max_length=10, choices=EventDeliveryState, default=EventDeliveryState.WAITING
    )
    attempt_count = models.PositiveIntegerField("attempts", default=0)
    status_code = models.PositiveIntegerField("response", null=True)
    """Of the last attempt; null if there was no response."""
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
        """The host of the URL; the rest may be a secret."""
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

    For a day after a rotation the previous one signs too. Source: standardwebhooks.com.
    """

    subscription = models.OneToOneField(
        Subscription, models.CASCADE, primary_key=True, related_name="signing_secret"
    )
    encrypted = EncryptedText()
    previous_encrypted = EncryptedText(blank=True)
    rotated_at = models.DateTimeField("rotated", null=True)
    form_key = models.CharField(max_length=64, blank=True)
    """Of the form that rotated it last."""

    def __str__(self) -> str:
        return str(self.subscription)
