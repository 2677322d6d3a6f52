"""Audiences as last seen, and every version ever seen."""

from django.db import models

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.ledger.models.seen import SeenRecord


class AudienceRecord(SeenRecord):
    """An audience as last seen."""

    page_id = models.TextField()
    audience_id = models.TextField()
    name = models.TextField(blank=True)
    """Its first 500 characters, to be found by; empty where the service gave none."""
    prospect_id = models.TextField(blank=True)
    latest_version_id = models.TextField(blank=True)
    latest_version_number = models.BigIntegerField(null=True)
    latest_status = models.TextField(blank=True)
    live_version_id = models.TextField(blank=True)
    live_version_number = models.BigIntegerField(null=True)
    live_since = models.DateTimeField(null=True)
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["page_id", "audience_id"], name="one_audience_a_page")
        ]
        indexes = [
            models.Index(fields=["latest_status"]),
            models.Index(fields=["audience_id"]),
            models.Index(fields=["prospect_id"]),
            # Searched and counted as a whole: these indexes hold all that asks for, so that the
            # bodies, which are most of the table, are not read.
            models.Index(fields=["name"]),
            models.Index(
                fields=[
                    "live_since",
                    "changed_at",
                    "first_seen_at",
                    "latest_status",
                    "live_version_number",
                ]
            ),
            # Counted for the overview: what became of them since a moment, and how many are live.
            models.Index(fields=["first_seen_at"]),
            models.Index(fields=["changed_at"]),
            models.Index(fields=["live_version_number"]),
            # How the audiences of each page stand.
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
