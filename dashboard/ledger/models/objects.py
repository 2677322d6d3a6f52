"""The service's objects as last seen: pages, audiences, versions and subscriptions."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement

from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.contract.wire import read_date
from dashboard.texts import fold

IN_FLIGHT = ("pending", "queued", "processing")
"""Statuses of a version that is being published."""
LIVE = "live"
"""Stands for every LiveStatus except those of NOTHING_LIVE."""
FLAG_COLUMNS = ("any_live", "any_not_live", "any_changed", "any_rolled_back", "any_in_flight")


class ObservedRecord(models.Model):
    """An object read from the service.

    `body` is its JSON as last seen, `digest` a hash of it. Ids are text of any length (spec,
    Identifier and timestamp fields), so records are joined by them, not by foreign keys.
    """

    body = models.TextField()
    digest = models.CharField(max_length=32)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    """When a change was last seen."""

    class Meta:
        abstract = True


class IndexOfSQLite(models.Index):
    """A covering index, created on SQLite only.

    SQLite stores a long body inside its row, so a scan reads all bodies. PostgreSQL stores them
    separately, and limits an index entry to 2,704 bytes.
    """

    def create_sql(
        self,
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
        using: str = "",
        **kwargs: Any,
    ) -> Statement:
        if schema_editor.connection.vendor == "sqlite":
            return super().create_sql(model, schema_editor, using, **kwargs)
        return Statement("SELECT 1")


class PageRecord(ObservedRecord):
    page_id = models.TextField(unique=True)
    name = models.TextField()
    title = models.TextField()
    status = models.TextField(blank=True)
    """Empty if no response ever had a status."""
    page_type = models.TextField(blank=True)
    brand_id = models.TextField()
    audiences_count = models.BigIntegerField()
    audiences_count_read = models.BigIntegerField(null=True)
    """`audiences_count` when its audiences were last read; null if they never were. They are read
    again once the two differ."""
    created_at = models.DateTimeField(null=True)
    """Parsed from the service's text; null if it is no date."""
    updated_at = models.DateTimeField(null=True)
    searched = models.TextField(default="", db_default="")
    """The text that searches match (`page_search_text`)."""
    any_live = models.BooleanField(default=False, db_default=False)
    """Whether any of its audiences has this flag (AUDIENCE_FLAGS); likewise the next four."""
    any_not_live = models.BooleanField(default=False, db_default=False)
    any_changed = models.BooleanField(default=False, db_default=False)
    any_rolled_back = models.BooleanField(default=False, db_default=False)
    any_in_flight = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            # The default order of the list: only the shown rows are read.
            models.Index(fields=["-updated_at", "-id"]),
            models.Index(fields=["name"]),
            # A covering index for counts: the bodies stay unread.
            models.Index(
                fields=[
                    "status",
                    "page_type",
                    "last_seen_at",
                    "first_seen_at",
                    "changed_at",
                    "audiences_count",
                ]
            ),
            # Counts per status and type, needed by every page list: short enough for SQLite's
            # page cache of each thread.
            models.Index(fields=["status", "page_type"]),
            # All columns that filter the list.
            IndexOfSQLite(
                name="pages_narrowed", fields=["status", "page_type", "searched", *FLAG_COLUMNS]
            ),
            models.Index(fields=["last_seen_at"]),
            # The pages whose audiences are still to be read.
            models.Index(fields=["audiences_count_read", "audiences_count"]),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_archived(self) -> bool:
        return self.status == PageStatus.ARCHIVED

    @property
    def page(self) -> PageItem:
        return PageItem.from_json(self.body)


def page_search_text(page: PageItem) -> str:
    """Return the folded text that searches match, one field per line."""
    return fold("\n".join((page.name, page.title, page.page_id, page.page_type or "")))


class ListTotal(models.Model):
    """The last total of a list at the service, to compute how much of it is known."""

    list_name = models.CharField(max_length=32, primary_key=True)
    total_count = models.BigIntegerField()
    seen_at = models.DateTimeField()
    """When this total was first seen."""

    def __str__(self) -> str:
        return f"{self.list_name}: {self.total_count}"


class LiveStatus(StrEnum):
    """How an audience's live version and its latest one relate. Source: our choice."""

    NOT_LIVE = "not-live"
    UP_TO_DATE = "up-to-date"
    """The latest version is live."""
    CHANGED = "changed"
    """Something is live, and the latest version is another that can be published."""
    IN_PROGRESS = "progress"
    """The same, but the latest version is being published already."""
    CANCELED = "canceled"
    """The same, but the latest version was canceled: there is nothing to publish."""
    ROLLED_BACK = "rolled-back"
    """The same, but the latest version was live and was rolled back in favor of an older one."""
    REJECTED = "rejected"
    """The same, but a person rejected the latest version in a review."""
    REJECTED_FIRST = "rejected-first"
    """Nothing is live, and a person rejected the latest version in a review."""


NOTHING_LIVE = (LiveStatus.NOT_LIVE, LiveStatus.REJECTED_FIRST)
REJECTED_AS: dict[str, LiveStatus] = {
    LiveStatus.CHANGED: LiveStatus.REJECTED,
    LiveStatus.NOT_LIVE: LiveStatus.REJECTED_FIRST,
}
"""What a status becomes when the latest version is rejected."""


class AudienceRecord(ObservedRecord):
    page_id = models.TextField()
    audience_id = models.TextField()
    name = models.TextField(blank=True)
    """The first 500 characters of the name; empty if the service sent none."""
    prospect_id = models.TextField(blank=True)
    latest_version_id = models.TextField(blank=True)
    latest_version_number = models.BigIntegerField(null=True)
    latest_status = models.TextField(blank=True)
    in_progress_since = models.DateTimeField(null=True)
    """Since when the latest version is in progress, by its dates; null if it isn't, or has no such
    date."""
    live_version_id = models.TextField(blank=True)
    live_version_number = models.BigIntegerField(null=True)
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(null=True)
    live_status = models.CharField(max_length=16, blank=True)
    """One of LiveStatus."""
    new_page_agent = models.CharField(max_length=3, blank=True)
    """`yes`, `no`, or empty if the service did not send it."""
    updated_at = models.DateTimeField(null=True)
    """The latest date of the audience and its two versions (`audience_updated_at`)."""
    searched = models.TextField(default="", db_default="")
    """The text that searches match (`audience_search_text`)."""
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """The user responsible for it, set in Pressroom; the service has no assignees."""

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
            # The orders of the list.
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
            # The audience flags of each page.
            models.Index(fields=["page_id", "live_status", "latest_status"]),
        ]

    def __str__(self) -> str:
        return self.name or self.audience_id

    @property
    def audience(self) -> Audience:
        return Audience.from_json(self.body)

    @property
    def is_in_flight(self) -> bool:
        """Whether its latest version is in progress."""
        is_live = self.latest_version_id == self.live_version_id
        return self.latest_status in IN_FLIGHT and not is_live


def audience_search_text(audience: Audience) -> str:
    """Return the folded text that searches match: the name, then the id, one per line."""
    return fold("\n".join((audience.name or "", audience.audience_id or "")))


def live_status(audience: Audience, *, is_rolled_back: bool = False) -> LiveStatus:
    """Return how the live version and the latest one relate.

    `is_rolled_back` is whether the latest one was rolled back, which only publications show.
    """
    latest, live = audience.latest_version, audience.published_version
    if live is None:
        return LiveStatus.NOT_LIVE
    if latest is None or latest.version_id == live.version_id:
        return LiveStatus.UP_TO_DATE
    if latest.status in IN_FLIGHT:
        return LiveStatus.IN_PROGRESS
    if latest.status == VersionStatus.CANCELLED:
        return LiveStatus.CANCELED
    return LiveStatus.ROLLED_BACK if is_rolled_back else LiveStatus.CHANGED


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
            # Versions in flight, which each check of a worker looks for.
            IndexOfSQLite(name="versions_in_flight", fields=["status", "-last_seen_at"]),
        ]

    def __str__(self) -> str:
        return f"version {self.version_number} of {self.audience_id}"

    @property
    def version(self) -> AudienceVersion:
        return AudienceVersion.from_json(self.body)


class SubscriptionRecord(ObservedRecord):
    """A subscription as last seen. The service can't list them: a user adds each by its id."""

    subscription_id = models.TextField(unique=True)
    label = models.CharField(max_length=120, blank=True)
    """A name given here; the service has none."""
    url = models.TextField()
    active = models.BooleanField()
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["label", "subscription_id"]

    def __str__(self) -> str:
        return self.label or self.subscription_id

    @property
    def subscription(self) -> WebhookSubscription:
        return WebhookSubscription.from_json(self.body)
