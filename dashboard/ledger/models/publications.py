"""Publications: which version of an audience was live, from when to when, by whom and why."""

from django.db import models
from django.db.models import Q


class PublicationReason(models.TextChoices):
    PUBLISH = "publish", "Published"
    RELEASE = "release", "Release"
    ROLLBACK = "rollback", "Rollback"
    EMERGENCY = "emergency", "Emergency publish"
    OUTSIDE = "outside", "Published outside Pressroom"
    FIRST_SEEN = "first_seen", "First seen"
    """It was live, or had been, when its audience was first read."""
    AFTER_RESTORE = "after_restore", "First seen after a restore"
    """The operation that published it may be missing, and so may publications before it."""
    SEEN_AGAIN = "seen_again", "Seen again"
    """It is live again with the date of an earlier time: an outdated response, or the service has
    gone back to it."""


class Publication(models.Model):
    """A period in which one version was live.

    Publications of an audience never overlap. Ids are text of any length (spec), so rows are joined
    with records by ids. Rows stay when the service returns something else for a version.
    """

    page_id = models.TextField()
    audience_id = models.TextField()
    version_id = models.TextField()
    version_number = models.BigIntegerField()
    page_name = models.TextField(blank=True)
    """The name at that time; empty if the page itself was never read."""
    audience_name = models.TextField(blank=True)
    """The name at that time; empty if the service sent none."""

    published_at = models.DateTimeField(null=True)
    """The service's date as first returned; null if it can't be read."""
    started_at = models.DateTimeField()
    """The service's date, or else the time when a read found it live."""
    is_start_seen = models.BooleanField(default=False)
    """Whether `started_at` is when a read found it: the service's date is missing, or contradicts
    what was live before."""
    seen_at = models.DateTimeField()
    """Start of the read that first found it live, or found that it had been."""
    last_seen_at = models.DateTimeField(null=True)
    """Start of the last read that found it live; null if none did. Updated when it ends; until
    then, its audience's record has the time."""
    ended_at = models.DateTimeField(null=True)
    """When the next one started, or nothing was live any more; null while it is live."""
    is_end_seen = models.BooleanField(default=False)
    """Whether `ended_at` is when a read found that it had ended."""

    reason = models.CharField(max_length=16, choices=PublicationReason)
    operation = models.ForeignKey(
        "Operation", null=True, on_delete=models.SET_NULL, related_name="publications"
    )
    """The operation that published it, or may have; null if none did."""
    actor_name = models.TextField(blank=True)
    """Who published it; empty if that isn't known."""
    note = models.TextField(blank=True)
    """The reason that a person typed."""

    class Meta:
        ordering = ["started_at", "pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["page_id", "audience_id"],
                condition=Q(ended_at__isnull=True),
                name="one_live_publication_an_audience",
            )
        ]
        indexes = [
            models.Index(fields=["page_id", "audience_id", "started_at"]),
            models.Index(fields=["started_at"]),
            # The list of publications outside Pressroom.
            models.Index(fields=["reason", "-seen_at", "-id"]),
        ]

    def __str__(self) -> str:
        return f"version {self.version_number} of {self.audience_name or self.audience_id}"

    @property
    def is_live(self) -> bool:
        return self.ended_at is None
