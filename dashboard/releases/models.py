"""Releases, their items, and the workers that run them.

The rows are the only queue: `Release.wake_at` says when a worker has to look at a release next.
"""

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.dispatch import Signal

from dashboard.approvals.models import ApprovalRequest
from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind, Operation
from dashboard.ledger.models.operations import MAX_ACTOR_NAME, MAX_PROGRAM
from dashboard.releases.schedules import ScheduledMoment
from dashboard.work.claims import ClaimedRow

MAX_ITEMS = 500
MAX_NAME = 200
MAX_NOTE = 2000
"""Characters."""


class ReleaseState(models.TextChoices):
    DRAFT = "draft", "Draft"
    WAITING_FOR_APPROVAL = "waiting_for_approval", "Needs approval"
    SCHEDULED = "scheduled", "Scheduled"
    RUNNING = "running", "Publishing"
    HELD = "held", "Held"
    FINISHED = "finished", "Finished"
    CANCELED = "canceled", "Canceled"


class HoldKind(models.TextChoices):
    CHANGED = "changed", "Changed after the review"
    STOPPED = "stopped", "Stopped"
    LATE = "late", "Too late"
    NOT_ALLOWED = "not_allowed", "Not allowed"
    SILENT = "silent", "No response from the service"
    RESTORED = "restored", "Restored from a backup"
    NOT_APPROVED = "not_approved", "Not approved"
    ERROR = "error", "Unexpected error"


class ItemState(models.TextChoices):
    WAITING = "waiting", "Not sent yet"
    SENDING = "sending", "Sending"
    IN_PROGRESS = "in_progress", "In progress"
    """Accepted by the service but not live yet."""
    LIVE = "live", "Live"
    FAILED = "failed", "Failed"
    HELD = "held", "Held"
    """Not sent, because it changed after the review or can't be published."""
    UNKNOWN = "unknown", "Outcome unknown"
    CANCELED = "canceled", "Not sent"
    """Not sent, because a person decided so or another publish made it live."""


ENDED = (
    *(ItemState.LIVE, ItemState.FAILED, ItemState.HELD),
    *(ItemState.UNKNOWN, ItemState.CANCELED),
)
"""States of items that need no more work."""


LEFT_TO_SEND = (ItemState.WAITING, ItemState.HELD)
NOT_SENT = (*LEFT_TO_SEND, ItemState.CANCELED)


class ListedReleases(models.Manager["Release"]):
    def get_queryset(self) -> "models.QuerySet[Release]":
        return super().get_queryset().filter(is_provisional=False)


class Release(ClaimedRow):
    """One or more versions, reviewed together and published by one decision."""

    form_key = models.CharField(max_length=64, unique=True, default=secrets.token_hex)
    """Key of the form that created the release; random if no form did."""
    name = models.CharField(max_length=MAX_NAME)
    has_own_name = models.BooleanField(default=True)
    """Whether a person named it. Otherwise the name is derived from the items and follows them."""
    note = models.TextField(blank=True)
    state = models.CharField(max_length=24, choices=ReleaseState, default=ReleaseState.DRAFT)

    is_provisional = models.BooleanField(default=False)
    """Whether it is a draft that was opened but not changed yet.

    It isn't listed. It is removed when its user leaves it, or by a worker after a day.
    """
    created_at = models.DateTimeField()
    created_by_name = models.CharField(max_length=MAX_ACTOR_NAME)
    created_by_program = models.CharField(
        max_length=MAX_PROGRAM, blank=True, default="", db_default=""
    )
    """The token and the program that planned it; "" if a person did."""
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    """The user who decided last, or created it. Their permission counts when it runs."""
    owner_name = models.CharField(max_length=MAX_ACTOR_NAME)
    by_program = models.CharField(max_length=MAX_PROGRAM, blank=True, default="", db_default="")
    """The token and the program by which the owner decided; "" if they did so themselves."""
    decided_at = models.DateTimeField(null=True)
    """When the owner last decided to publish, to schedule or to continue."""
    publishes_others = models.BooleanField(default=False)
    """Whether the other items are sent even if some are held."""

    due_at = models.DateTimeField(null=True)
    """When the release is due; null to publish at once."""
    time_zone = models.CharField(max_length=64, blank=True)
    """IANA name of the schedule's time zone."""
    due_as_typed = models.CharField(max_length=40, blank=True)
    """The date and time as typed, in that zone."""

    approval = models.ForeignKey(
        ApprovalRequest, null=True, on_delete=models.SET_NULL, related_name="releases"
    )
    """The last request for approval, regardless of its outcome; null if there is none."""
    emergency_reason = models.TextField(blank=True)
    """Reason that an administrator gave for publishing without an approval."""

    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    active_at = models.DateTimeField(null=True)
    """When a worker last worked on it, or a person last started it."""
    stop_requested_at = models.DateTimeField(null=True)
    stop_requested_by_name = models.CharField(max_length=MAX_ACTOR_NAME, blank=True)
    pause_reason = models.TextField(blank=True)
    """Sentence that says why the worker waits until `wake_at`; empty if it doesn't."""
    hold_kind = models.CharField(max_length=16, choices=HoldKind, blank=True)
    hold_reason = models.TextField(blank=True)
    """Sentence that says why it is held; kept after the release continues."""
    held_at = models.DateTimeField(null=True)

    needs_check = models.BooleanField(default=False)
    """Whether a worker must read the items again, on request or before sending."""
    failures = models.PositiveSmallIntegerField(default=0)
    """Number of consecutive steps that failed unexpectedly; too many hold the release."""
    rolls_back = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="rollbacks"
    )
    """The release that it rolls back; also set on the retry of a failed rollback."""
    retries = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="retried_by"
    )
    """The release whose failed versions it retries."""

    objects = models.Manager["Release"]()
    listed = ListedReleases()

    class Meta:
        ordering = ["-created_at", "-pk"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["wake_at", "state"]),
            models.Index(fields=["state", "due_at"]),
            models.Index(fields=["-created_at", "-id"]),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scheduled_moment(self) -> ScheduledMoment | None:
        if self.due_at is None:
            return None
        return ScheduledMoment(self.due_at, self.time_zone, self.due_as_typed)

    @property
    def is_unrequested(self) -> bool:
        """Whether a worker still has to read the items and then request the approval."""
        return self.state == ReleaseState.WAITING_FOR_APPROVAL and self.approval_id is None

    @property
    def is_editable(self) -> bool:
        return self.state == ReleaseState.DRAFT


class ReleaseItem(models.Model):
    """One version of one audience in a release, as it was reviewed.

    Items join with records by id. Ids are text of any length. Source: spec.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    """Place in the order of sending, from 1."""
    page_id = models.TextField()
    audience_id = models.TextField()
    version_id = models.TextField()
    version_number = models.BigIntegerField()
    audience_name = models.TextField()
    page_name = models.TextField()

    version_body = models.TextField()
    """The version that was reviewed, as JSON."""
    live_body = models.TextField(blank=True)
    """The version that was live at the review, as JSON; empty if none was."""
    live_version_id = models.TextField(blank=True)
    live_version_number = models.BigIntegerField(null=True)
    words_added = models.PositiveIntegerField(default=0)
    words_removed = models.PositiveIntegerField(default=0)
    page_status = models.TextField(blank=True)
    pending_change_ids = models.JSONField(null=True)
    """Sorted ids from the audience's conversation; null if it could not be read."""
    findings = models.JSONField(default=list)
    """Findings of the last check, worst first: `[{severity, headline, detail, read_more}]`."""
    digest = models.CharField(max_length=64, blank=True)
    """Hash of the reviewed content; empty until the first check."""
    checked_at = models.DateTimeField(null=True)
    """When the service was read for this review; null until the first check."""
    changed_at = models.DateTimeField(null=True)
    """When a change to the audience or its operation after `checked_at` was noticed."""
    reviewed_at = models.DateTimeField(null=True)
    reviewed_by_name = models.CharField(max_length=MAX_ACTOR_NAME, blank=True)

    state = models.CharField(max_length=16, choices=ItemState, default=ItemState.WAITING)
    reason = models.TextField(blank=True)
    """Why it is held, failed, unknown or canceled, in a sentence."""
    operation_key = models.CharField(max_length=128, blank=True)
    """Key of the operation that sends the item."""
    operation = models.ForeignKey(
        Operation, null=True, on_delete=models.SET_NULL, related_name="release_items"
    )
    sent_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    """When the item entered its settled state; null while it waits or is in progress."""

    class Meta:
        ordering = ["position", "pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["release", "page_id", "audience_id"], name="one_item_an_audience"
            )
        ]
        indexes = [
            # Finds the planned publishes shown in lists and on the audience.
            models.Index(fields=["page_id", "audience_id", "state"]),
            # Queried by each worker every few seconds.
            models.Index(
                fields=["release"], condition=models.Q(state="unknown"), name="unknown_items"
            ),
            models.Index(
                fields=["release"], condition=models.Q(state="failed"), name="failed_items"
            ),
            models.Index(fields=["release"], condition=models.Q(state="held"), name="held_items"),
        ]

    def __str__(self) -> str:
        return f"version {self.version_number} of {self.audience_name}"

    @property
    def version(self) -> AudienceVersion:
        return AudienceVersion.from_json(self.version_body)

    @property
    def live_version(self) -> AudienceVersion | None:
        return AudienceVersion.from_json(self.live_body) if self.live_body else None


class WorkerHeartbeat(models.Model):
    worker_id = models.CharField(max_length=64, primary_key=True)
    started_at = models.DateTimeField()
    active_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.worker_id


def change(release: Release, **columns: Any) -> None:
    """Change columns of a locked release that pages show."""
    for name, value in columns.items():
        setattr(release, name, value)
    release.save(update_fields=list(columns))
    add_to_feed(release.pk)


def add_to_feed(*release_ids: int) -> None:
    """Add releases whose displayed fields changed. Call it in the same transaction."""
    feed.add(*(FeedEntry(kind=FeedKind.RELEASE, object_id=str(pk)) for pk in release_ids))


release_held = Signal()
"""Sent when a release is held until a person decides. Argument: `release`.

All three signals use `send_robust`, in the transaction that records the change.
"""
release_finished = Signal()
"""Sent when all items of a release have ended. Argument: `release`."""
item_ended_badly = Signal()
"""Sent when an item fails or its outcome is unknown. Argument: `item`, with its release."""
