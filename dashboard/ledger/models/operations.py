"""Operations: what was requested, by whom, when, and the outcome. Written before sending."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models

from dashboard import clock
from dashboard.ledger.models.publications import PublicationReason

MAX_ACTOR_NAME = 200
"""Maximum length in characters of a user's name; first and last name together may be longer. Each
column of names has the name at that time, which outlives the account."""
MAX_PROGRAM = 200
"""Maximum length in characters of a token and a program, such as "by token nightly, curl"."""


class OperationKind(models.TextChoices):
    PUBLISH_VERSION = "publish_version", "Publish version"
    CREATE_PAGE = "create_page", "Create page"
    UPDATE_SUBSCRIPTION = "update_subscription", "Update webhook"


class Outcome(models.TextChoices):
    SENDING = "sending", "In progress"
    ACCEPTED = "accepted", "Accepted"
    REJECTED = "rejected", "Failed"
    UNKNOWN = "unknown", "Outcome unknown"
    NOT_SENT = "not_sent", "Not sent"


class Publishes(models.Manager["Operation"]):
    def get_queryset(self) -> "models.QuerySet[Operation]":
        return super().get_queryset().filter(kind=OperationKind.PUBLISH_VERSION)


class Operation(models.Model):
    """One request to change something, recorded before the call."""

    operation_key = models.CharField(max_length=128, unique=True)
    kind = models.CharField(max_length=32, choices=OperationKind)
    outcome = models.CharField(max_length=16, choices=Outcome, default=Outcome.SENDING)

    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    actor_name = models.CharField(max_length=MAX_ACTOR_NAME)
    by_program = models.CharField(max_length=MAX_PROGRAM, blank=True, default="", db_default="")
    """The token and the program by which the actor requested it; "" if they did so themselves."""

    page_id = models.TextField(blank=True)
    audience_id = models.TextField(blank=True)
    version_id = models.TextField(blank=True)
    version_number = models.BigIntegerField(null=True)
    subscription_id = models.TextField(blank=True)
    target_name = models.TextField(blank=True)
    """The name of the target at that time."""
    rolled_back_id = models.TextField(blank=True)
    """The version that a rollback replaces: it was live when the operation began. Empty for all
    other operations."""
    rolled_back_number = models.BigIntegerField(null=True)

    requested_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    """When the outcome became known; null while in flight or unknown."""
    changed_at = models.DateTimeField(default=clock.now)
    """When it was recorded, or its outcome last changed."""
    body_sent = models.JSONField(null=True)
    before = models.JSONField(null=True)
    """Fields of the target as last known when the operation began, to compare with later."""
    checked_at = models.DateTimeField(null=True)
    check_result = models.TextField(blank=True)
    """Result of the last check of the target, as a sentence."""
    approval = models.ForeignKey(
        "approvals.ApprovalRequest", null=True, on_delete=models.SET_NULL, related_name="operations"
    )
    """The approval by which it may be sent, where the rule needs one."""
    emergency_reason = models.TextField(blank=True)
    """Reason that an administrator gave for sending it without an approval; empty if it wasn't."""

    reason = models.CharField(max_length=16, choices=PublicationReason, blank=True)
    """Why it publishes a version; empty if it publishes none."""
    note = models.TextField(blank=True)
    """The reason that a person typed, or the note of its release."""

    objects = models.Manager["Operation"]()
    publishes = Publishes()

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
            models.Index(fields=["changed_at"]),
            models.Index(fields=["outcome", "-requested_at"]),
            models.Index(fields=["page_id", "audience_id", "version_id", "-requested_at"]),
            models.Index(fields=["subscription_id"]),
        ]

    def __str__(self) -> str:
        return f"{self.act} {self.target_name}".strip()

    @property
    def is_rollback(self) -> bool:
        """Whether it replaces a version by an older one that was live before."""
        return bool(self.rolled_back_id)

    @property
    def act(self) -> str:
        return "Roll back to version" if self.is_rollback else self.get_kind_display()

    @property
    def title(self) -> str:
        number = "" if self.version_number is None else f" {self.version_number}"
        return f"{self.act}{number}"

    @property
    def is_open(self) -> bool:
        return self.outcome in (Outcome.SENDING, Outcome.UNKNOWN)

    @property
    def has_no_effect(self) -> bool:
        return self.outcome in (Outcome.REJECTED, Outcome.NOT_SENT)


class Attempt(models.Model):
    """One attempt to send an operation. Without `ended_at`, it has no response so far."""

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    """Counts from 1."""
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    """Who sends it: the operation's own actor, or another user who retries it."""
    actor_name = models.CharField(max_length=MAX_ACTOR_NAME)
    sent_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, choices=Outcome, default=Outcome.SENDING)
    status_code = models.PositiveIntegerField(null=True)
    message = models.TextField(blank=True)
    """The service's message, or ours if it sent none."""
    response_body = models.TextField(blank=True)
    """The response body, at most its first 20,000 characters."""
    digest = models.CharField(max_length=64, blank=True)
    """Digest of the target as read just before, to compare with the approved one or with an earlier
    attempt's; empty if the target wasn't read."""

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["operation", "number"], name="one_attempt_a_number")
        ]
        indexes = [models.Index(fields=["outcome", "sent_at"])]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.operation_id}"

    @property
    def duration(self) -> timedelta | None:
        return self.ended_at - self.sent_at if self.ended_at else None


class Installation(models.Model):
    """A single row that makes operation keys unique to this installation.

    A service may store keys forever, so a new or restored ledger must never repeat those of an
    old one. A migration creates the row.
    """

    nonce = models.CharField(max_length=64, default=secrets.token_hex)
    restored_at = models.DateTimeField(null=True)
    """When `manage.py after_restore` last ran: earlier operations may be missing."""
    feed_pruned_to = models.BigIntegerField(default=0)
    """Position of the last feed entry that was deleted (`feed.py`)."""

    def __str__(self) -> str:
        return f"installation {self.pk}"


def actor_name(user: User) -> str:
    """Return the full name, or else the username, cut to the length of the columns."""
    name: str = user.get_full_name() or user.get_username()
    return name[:MAX_ACTOR_NAME]
