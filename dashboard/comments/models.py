"""The tables of threads, their comments, and the mentions in them."""

import secrets

from django.conf import settings
from django.db import models

from dashboard.comments.anchors import Placement, PlacementStatus
from dashboard.ledger.models.operations import MAX_ACTOR_NAME

MAX_BODY = 4_000
"""Maximum length of a comment in characters. Source: our choice."""


class TargetKind(models.TextChoices):
    """What a thread is about. The notes below explain its `object_id`."""

    AUDIENCE = "audience", "Audience"
    PASSAGE = "passage", "Passage"
    """Words in the text of a version."""
    FIELD = "field", "Field"
    """The name of a metadata field. Metadata has no versions."""
    MESSAGE = "message", "Message"
    """The id of a message of the conversation. Only a digest of its text is stored."""
    CHANGE = "change", "Proposed change"
    """The id of a change that a message proposes. Only a digest of its text is stored."""
    RELEASE = "release", "Release"
    """The primary key of the release."""
    REQUEST = "request", "Request"
    """The primary key of the approval request."""
    OPERATION = "operation", "Operation"
    """The key of the operation."""


OF_AUDIENCE = (
    *(TargetKind.AUDIENCE, TargetKind.PASSAGE, TargetKind.FIELD),
    *(TargetKind.MESSAGE, TargetKind.CHANGE),
)
"""The kinds with the ids of a page and an audience."""


class Thread(models.Model):
    """Comments on one subject. Ids of the service are text of any length (spec)."""

    place = models.TextField()
    """The page that shows the thread, from `place_of`: `audience:PAGE:AUD`, `release:7`."""
    kind = models.CharField(max_length=16, choices=TargetKind)
    page_id = models.TextField(blank=True)
    audience_id = models.TextField(blank=True)
    object_id = models.TextField(blank=True)
    """See TargetKind. Empty for an audience and a passage."""
    version_id = models.TextField(blank=True)
    """The version of a passage, or of a review's comment. Empty for other threads."""
    version_number = models.BigIntegerField(null=True)
    start = models.PositiveIntegerField(null=True)
    """`start` and `end` of a passage or field are offsets in its text, in characters."""
    end = models.PositiveIntegerField(null=True)
    quote = models.TextField(blank=True)
    """The words of a passage or the text of a field, truncated. Empty for other kinds."""
    text_digest = models.CharField(max_length=32, blank=True)
    """The digest of the whole text of a passage, field, message or change."""
    is_open = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    """When the last line was added."""
    lines: list["Comment"]
    """The comments; set by `with_lines`."""
    placement: Placement | None = None
    """Where a passage is in the displayed version; None if no version is displayed."""
    note = ""
    """A sentence on how the subject has changed; empty if it hasn't."""

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["place", "is_open"]),
            models.Index(fields=["-changed_at"]),
        ]

    def __str__(self) -> str:
        return f"thread {self.pk} at {self.place}"

    @property
    def placement_status(self) -> str:
        return self.placement.status if self.placement else ""

    @property
    def is_here(self) -> bool:
        """Whether the words are in the displayed version, unchanged or changed."""
        return self.placement_status not in ("", PlacementStatus.REMOVED)

    @property
    def first_words(self) -> str:
        return next((line.body for line in self.lines if line.body), "")


class LineKind(models.TextChoices):
    COMMENT = "comment", "Comment"
    RESOLVED = "resolved", "Resolved"
    REOPENED = "reopened", "Reopened"


class Comment(models.Model):
    """A line of a thread: a comment, or a record that somebody resolved or reopened it."""

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="comments")
    kind = models.CharField(max_length=16, choices=LineKind, default=LineKind.COMMENT)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    author_name = models.CharField(max_length=MAX_ACTOR_NAME)
    """The name at that time. It remains after the account is deleted."""
    body = models.TextField(blank=True)
    """Plain text; empty after deletion."""
    searched = models.TextField(blank=True)
    """The body without case and accents, for searches."""
    form_key = models.CharField(max_length=64, unique=True, default=secrets.token_hex)
    """The key of the form that added the comment, or a random one."""
    created_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    deleted_by_name = models.CharField(max_length=MAX_ACTOR_NAME, blank=True)
    names: list["Mention"]
    """The mentions; set by `with_lines`."""

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        permissions = [("remove_comments", "Can remove the text of others’ comments")]
        indexes = [models.Index(fields=["author", "-created_at"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} in thread {self.thread_id}"

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None

    @property
    def is_deleted_by_author(self) -> bool:
        return self.deleted_by_name == self.author_name


class Mention(models.Model):
    """A user who is mentioned in a comment and notified of it."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="mentions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=MAX_ACTOR_NAME)
    """The name as written in the comment, without the @."""

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["comment", "user"], name="one_mention_a_user")
        ]

    def __str__(self) -> str:
        return f"@{self.name}"
