"""Versions that went live with no operation on record."""

from datetime import datetime

from django.db import models


class OutsidePublish(models.Model):
    """A version that went live though no operation on record published it.

    Ids are text of any length (spec), so rows are joined with records by them.
    """

    page_id = models.TextField()
    audience_id = models.TextField()
    version_id = models.TextField()
    version_number = models.BigIntegerField()
    audience_name = models.TextField(blank=True)
    """The name at that time; empty if the service sent none."""
    page_name = models.TextField(blank=True)
    """The name at that time; empty if the page itself was never read."""
    published_at = models.DateTimeField(null=True)
    """By the service; null if it sent no readable date."""
    noticed_at = models.DateTimeField()
    """When the read began that found it live."""

    class Meta:
        ordering = ["-noticed_at", "-pk"]
        default_permissions = ()
        constraints = [
            # Two reads may notice it at once. A version can go live again, with another date.
            models.UniqueConstraint(
                fields=["page_id", "audience_id", "version_id", "published_at"],
                name="one_outside_publish_a_date",
            ),
            # Without a date nothing tells two times apart: null equals nothing.
            models.UniqueConstraint(
                fields=["page_id", "audience_id", "version_id"],
                condition=models.Q(published_at__isnull=True),
                name="one_outside_publish_undated",
            ),
        ]
        indexes = [models.Index(fields=["-noticed_at", "-id"])]

    def __str__(self) -> str:
        return f"version {self.version_number} of {self.audience_name or self.audience_id}"

    @property
    def at(self) -> datetime:
        """When it went live: the service's date, or else when it was noticed."""
        return self.published_at or self.noticed_at
