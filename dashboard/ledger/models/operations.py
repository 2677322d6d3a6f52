"""Operations: what was asked for, by whom, when, with which result. Written before sending."""

from datetime import timedelta

from django.conf import settings
from django.db import models


class Kind(models.TextChoices):
    """What an operation asks of the service."""

    PUBLISH_VERSION = "publish_version", "Publish version"
    CREATE_PAGE = "create_page", "Create page"
    UPDATE_SUBSCRIPTION = "update_subscription", "Update webhook"


class Outcome(models.TextChoices):
    """How an operation ended. Source: DESIGN.md, Names."""

    SENDING = "sending", "In flight"
    ACCEPTED = "accepted", "Done"
    REJECTED = "rejected", "Failed"
    UNKNOWN = "unknown", "Outcome unknown"
    NOT_SENT = "not_sent", "Not sent"


class Operation(models.Model):
    """One request to change something, on record before the call."""

    operation_key = models.CharField(max_length=128, unique=True)
    kind = models.CharField(max_length=32, choices=Kind)
    outcome = models.CharField(max_length=16, choices=Outcome, default=Outcome.SENDING)

    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    actor_name = models.CharField(max_length=200)
    """The name at that time: it outlives the account."""

    page_id = models.TextField(blank=True)
    audience_id = models.TextField(blank=True)
    version_id = models.TextField(blank=True)
    version_number = models.BigIntegerField(null=True)
    subscription_id = models.TextField(blank=True)
    target_name = models.TextField(blank=True)
    """The name of the thing at that time."""

    requested_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    """When the outcome became known; null while in flight or unknown."""
    body_sent = models.JSONField(null=True)
    before = models.JSONField(null=True)
    """The thing as last known when the operation began, where it is small (subscriptions)."""
    looked_at = models.DateTimeField(null=True)
    look_found = models.TextField(blank=True)
    """What the last re-read of the target found, in a sentence."""

    class Meta:
        ordering = ["-requested_at", "-pk"]
        default_permissions = ()
        permissions = [
            ("publish_version", "Can publish versions"),
            ("create_page", "Can create pages"),
            ("update_subscription", "Can change webhook subscriptions"),
        ]
        indexes = [
            models.Index(fields=["-requested_at"]),
            models.Index(fields=["outcome", "-requested_at"]),
            models.Index(fields=["page_id", "audience_id", "version_id"]),
            models.Index(fields=["subscription_id"]),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.target_name}".strip()

    @property
    def title(self) -> str:
        """What was asked for, such as "Publish version 7"."""
        number = "" if self.version_number is None else f" {self.version_number}"
        return f"{self.get_kind_display()}{number}"

    @property
    def is_open(self) -> bool:
        """Whether the outcome may still become another: in flight, or unknown."""
        return self.outcome in (Outcome.SENDING, Outcome.UNKNOWN)


class Attempt(models.Model):
    """One sending of an operation. An attempt without an end was cut off before its answer."""

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    """Counts from 1."""
    actor_name = models.CharField(max_length=200)
    sent_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, choices=Outcome, default=Outcome.SENDING)
    status_code = models.PositiveIntegerField(null=True)
    said = models.TextField(blank=True)
    """The service's own words, or ours where it said nothing."""
    answer = models.TextField(blank=True)
    """The answer's body, at most its first 20,000 characters."""

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["operation", "number"], name="one_attempt_a_number")
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.operation_id}"

    @property
    def took(self) -> timedelta | None:
        """How long the answer, or giving up, took; None where the attempt has no end."""
        return self.ended_at - self.sent_at if self.ended_at else None
