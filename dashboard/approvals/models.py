"""The approval rule, and requests for the approval of another person."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models

from dashboard.ledger.models.operations import MAX_ACTOR_NAME, MAX_PROGRAM

MAX_NOTE = 2000
"""Maximum length of a note in characters."""
MIN_DAYS, DEFAULT_DAYS, MAX_DAYS = 1, 7, 30
"""Days after which an undecided request expires. Source: our choice."""


class ApprovalKind(models.TextChoices):
    PUBLISH = "publish", "Publish"
    ROLL_BACK = "roll_back", "Roll back"
    WEBHOOK = "webhook", "Change a webhook"
    PAGE = "page", "Create a page"


class ApprovalRule(models.Model):
    """Which changes need the approval of another person.

    A row is never changed: the newest is in force, and the others are on record.
    """

    covers_publishing = models.BooleanField(default=False)
    """Whether versions and releases are covered; always both."""
    covers_rollbacks = models.BooleanField(default=False)
    covers_webhooks = models.BooleanField(default=False)
    covers_pages = models.BooleanField(default=False)
    days = models.PositiveSmallIntegerField(default=DEFAULT_DAYS)
    """Days after which a request expires."""
    changed_at = models.DateTimeField()
    changed_by_name = models.CharField(max_length=MAX_ACTOR_NAME)

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        permissions = [
            ("manage_approvals", "Can change the approval rule, and publish in an emergency")
        ]

    def __str__(self) -> str:
        return f"approval rule {self.pk}"

    @property
    def is_on(self) -> bool:
        return any(self.covers(kind) for kind in ApprovalKind)

    def is_same_as(self, other: "ApprovalRule") -> bool:
        covered = [self.covers(kind) == other.covers(kind) for kind in ApprovalKind]
        return self.days == other.days and all(covered)

    def covers(self, kind: str) -> bool:
        return {
            ApprovalKind.PUBLISH: self.covers_publishing,
            ApprovalKind.ROLL_BACK: self.covers_rollbacks,
            ApprovalKind.WEBHOOK: self.covers_webhooks,
            ApprovalKind.PAGE: self.covers_pages,
        }[ApprovalKind(kind)]


class RequestState(models.TextChoices):
    OPEN = "open", "Needs approval"
    APPROVED = "approved", "Approved"
    DECLINED = "declined", "Declined"
    WITHDRAWN = "withdrawn", "Withdrawn"
    EXPIRED = "expired", "Expired"
    VOID = "void", "Approval void"
    """What was requested or approved has changed, so nothing more is sent for it."""


class ApprovalRequests(models.QuerySet["ApprovalRequest"]):
    def undecided(self, now: datetime) -> "ApprovalRequests":
        return self.filter(state=RequestState.OPEN, expires_at__gt=now)


class ApprovalRequest(models.Model):
    kind = models.CharField(max_length=16, choices=ApprovalKind)
    state = models.CharField(max_length=16, choices=RequestState, default=RequestState.OPEN)
    title = models.TextField()
    note = models.TextField(blank=True)
    """Message for the approver."""

    subject = models.JSONField()
    """Everything that the approval is bound to. For a release: its note, and for each item in order
    the ids of page, audience and version and the digest of its review. For other kinds: the request
    as it is sent, and the object before."""
    digest = models.CharField(max_length=64)
    """Digest of the subject."""
    operation_key = models.CharField(max_length=128, null=True, unique=True)
    """Key of the form that made the request, and of the operation that follows; null for a
    release."""

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    requested_by_name = models.CharField(max_length=MAX_ACTOR_NAME)
    by_program = models.CharField(max_length=MAX_PROGRAM, blank=True)
    """Token and program that made the request for them, such as `by token nightly (agent),
    Claude`."""
    requested_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_by_name = models.CharField(max_length=MAX_ACTOR_NAME, blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_note = models.TextField(blank=True)

    ended_at = models.DateTimeField(null=True)
    """When it became withdrawn, expired or void."""
    end_reason = models.TextField(blank=True)
    differences = models.JSONField(default=list)
    """Changes that made the request void, in words: `[{item, what, then, now}]`."""

    objects = ApprovalRequests.as_manager()

    class Meta:
        ordering = ["-requested_at", "-pk"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["state", "-requested_at"]),
            models.Index(fields=["-requested_at", "-id"]),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_open(self) -> bool:
        """Whether it was neither decided nor ended. It may have expired."""
        return self.state == RequestState.OPEN

    def has_expired(self, now: datetime) -> bool:
        return self.is_open and now >= self.expires_at


def expiry(requested_at: datetime, days: int) -> datetime:
    return requested_at + timedelta(days=days)
