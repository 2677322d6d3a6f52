"""Audiences as last seen, and all versions ever seen."""

from datetime import datetime
from enum import StrEnum

from django.db import models

from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.folding import fold
from dashboard.ledger.models.base import IndexOfSQLite, ObservedRecord

IN_FLIGHT = ("pending", "queued", "processing")
"""Statuses of a version that is being published."""


class LiveStatus(StrEnum):
    """How an audience's live version and its latest one relate. Source: our choice."""

    LIVE = "live"
    NOT_LIVE = "not-live"
    CHANGED = "changed"
    """Something is live, and the latest version is another that can be published."""
    IN_PROGRESS = "progress"
    """The same, but the latest version is being published already."""
    CANCELED = "canceled"
    """The same, but the latest version was canceled: there is nothing to publish."""


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
    live_status = models.CharField(max_length=8, blank=True)
    """One of LiveStatus."""
    new_page_agent = models.CharField(max_length=3, blank=True)
    """`yes`, `no`, or empty if the service did not send it."""
    updated_at = models.DateTimeField(null=True)
    """The latest date of the audience and its two versions (`audience_updated_at`)."""
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
            # The orders of the list; the live version's date has the index above.
            models.Index(fields=["-updated_at", "-id"]),
            models.Index(fields=["name"]),
            models.Index(fields=["last_seen_at"]),
            # The counts beside the list's filters.
            models.Index(fields=["live_status", "latest_status", "new_page_agent"]),
            # All columns that filter the list.
            IndexOfSQLite(
                name="audiences_narrowed",
                fields=["live_status", "latest_status", "new_page_agent", "page_id", "searched"],
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
        return Audience.from_json(self.body)


def audience_search_text(audience: Audience) -> str:
    """Return the folded text that searches match: the name, then the id, one per line."""
    return fold("\n".join((audience.name or "", audience.audience_id or "")))


def live_status(audience: Audience) -> LiveStatus:
    """Return how the live version and the latest one relate."""
    latest, live = audience.latest_version, audience.published_version
    if live is None:
        return LiveStatus.NOT_LIVE
    if latest is None or latest.version_id == live.version_id:
        return LiveStatus.LIVE
    if latest.status in IN_FLIGHT:
        return LiveStatus.IN_PROGRESS
    is_canceled = latest.status == VersionStatus.CANCELLED
    return LiveStatus.CANCELED if is_canceled else LiveStatus.CHANGED


def audience_updated_at(audience: Audience) -> datetime | None:
    """Return the latest date of an audience and its two versions.

    None if there is none: the service sends no date of the last change (spec, Audience).
    """
    dates = [audience.created_at, audience.archived_at]
    for version in filter(None, (audience.latest_version, audience.published_version)):
        dates += [
            version.created_at,
            version.became_draft_at,
            version.queued_at,
            version.published_at,
            version.obsolete_at,
            version.archived_at,
            version.cancelled_at,
        ]
    return max(filter(None, map(read_date, dates)), default=None)


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
    noticed_live_at = models.DateTimeField(null=True)
    """When the last read began that found it live, and another one or none live before."""

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
        return AudienceVersion.from_json(self.body)
