"""Audiences as last seen, and all versions ever seen."""

from django.db import models

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.folding import fold
from dashboard.ledger.models.base import IndexOfSQLite, ObservedRecord


class AudienceRecord(ObservedRecord):
    """An audience as last seen."""

    page_id = models.TextField()
    audience_id = models.TextField()
    name = models.TextField(blank=True)
    """Its first 500 characters; empty if the service sent none."""
    prospect_id = models.TextField(blank=True)
    latest_version_id = models.TextField(blank=True)
    latest_version_number = models.BigIntegerField(null=True)
    latest_status = models.TextField(blank=True)
    in_progress_since = models.DateTimeField(null=True)
    """Of the latest version, by its dates; null if it is not in progress, or has no such date."""
    live_version_id = models.TextField(blank=True)
    live_version_number = models.BigIntegerField(null=True)
    live_since = models.DateTimeField(null=True)
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(null=True)
    searched = models.TextField(default="", db_default="")
    """The text that searches match (`audience_search_text`)."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["page_id", "audience_id"], name="one_audience_a_page")
        ]
        indexes = [
            models.Index(fields=["latest_status"]),
            models.Index(fields=["audience_id"]),
            models.Index(fields=["prospect_id"]),
            # Covering indexes for searches and counts: the bodies, most of the table, stay unread.
            IndexOfSQLite(name="audiences_searched", fields=["searched", "archived"]),
            models.Index(
                fields=[
                    "live_since",
                    "changed_at",
                    "first_seen_at",
                    "latest_status",
                    "live_version_number",
                ]
            ),
            # Counts of the overview.
            models.Index(fields=["first_seen_at"]),
            models.Index(fields=["changed_at"]),
            models.Index(fields=["live_version_number"]),
            # The audience flags of each page.
            models.Index(
                fields=["page_id", "live_version_id", "latest_version_id", "latest_status"]
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.audience_id

    @property
    def audience(self) -> Audience:
        """The audience as last seen."""
        return Audience.model_validate_json(self.body)


def audience_search_text(audience: Audience) -> str:
    """Return the folded text that searches match: the name, then the id, one per line."""
    return fold("\n".join((audience.name or "", audience.audience_id or "")))


class VersionRecord(models.Model):
    """A version as last seen. The service lists no versions, so this is their only history."""

    page_id = models.TextField()
    audience_id = models.TextField()
    version_id = models.TextField()
    version_number = models.BigIntegerField()
    status = models.TextField()
    body = models.TextField()
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["page_id", "audience_id", "version_id"], name="one_version_an_audience"
            )
        ]
        indexes = [
            models.Index(fields=["page_id", "audience_id", "-version_number"]),
            models.Index(fields=["version_id"]),
            models.Index(fields=["-last_seen_at"]),
        ]

    def __str__(self) -> str:
        return f"version {self.version_number} of {self.audience_id}"

    @property
    def version(self) -> AudienceVersion:
        """The version as last seen."""
        return AudienceVersion.model_validate_json(self.body)
