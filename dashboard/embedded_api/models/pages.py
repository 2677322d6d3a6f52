"""Pages, and their audiences with versions, conversations and operation keys."""

from typing import Any

from django.db import models

from dashboard.contract.pages import PageStatus, PageType
from dashboard.embedded_api.ids import MARK_LENGTH, id_column, uuid7_now
from dashboard.embedded_api.models.tenants import Tenant


class Page(models.Model):
    """A page. Its status is derived from its dates. Publishing does not change `updated_at`."""

    id = id_column("page")
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="pages", db_index=False)
    brand_id = models.TextField("brand ID", blank=True)
    name = models.TextField()
    title = models.TextField()
    page_context = models.TextField()
    page_type = models.CharField(max_length=40, default=PageType.INBOUND.value)
    actions = models.JSONField(default=list, blank=True)
    action_card_widgets = models.JSONField(default=list, blank=True)
    footer_links = models.JSONField(default=list, blank=True)
    scripts = models.JSONField(default=list, blank=True)
    header_action_id = models.TextField("header action ID", null=True, blank=True)
    metadata = models.JSONField(null=True, blank=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    updated_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    published_at = models.CharField(max_length=MARK_LENGTH, null=True)
    """When the first version of the page goes or went live. Until then the page is a draft."""
    archived_at = models.CharField(max_length=MARK_LENGTH, null=True)
    deleted_at = models.CharField(max_length=MARK_LENGTH, null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="page_newest_first"),
            # For counting the list. SQLite uses the last created of two suitable indexes, so this
            # one comes second. It has a third of the size.
            models.Index(fields=["tenant"], name="page_of_tenant"),
        ]

    def __str__(self) -> str:
        return self.name


def status_of_page(row: Any, until: str) -> PageStatus:
    """Return the status of a page's row. `until` is the last mark of the current time."""
    if row.archived_at and row.archived_at <= until:
        return PageStatus.ARCHIVED
    is_published = row.published_at and row.published_at <= until
    return PageStatus.PUBLISHED if is_published else PageStatus.DRAFT


class Audience(models.Model):
    """An audience of a page.

    Derived and not stored: the effective name (custom, or else computed), the effective metadata
    (the page's with the audience's overrides), the latest and the live version.
    """

    id = id_column("aud")
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="audiences")
    page = models.ForeignKey(Page, models.CASCADE, related_name="audiences")
    computed_name = models.TextField(null=True, blank=True)
    custom_name = models.TextField(null=True, blank=True)
    is_new_page_agent = models.BooleanField("new page agent", default=False)
    action_form_id_override = models.TextField("action form ID override", null=True, blank=True)
    action_form_instructions_override = models.TextField(null=True, blank=True)
    action_url_override = models.TextField("action URL override", null=True, blank=True)
    prospect_id = models.TextField("prospect ID", null=True, blank=True)
    prospect_route_key = models.TextField(null=True, blank=True)
    supplementary_context = models.TextField(null=True, blank=True)
    metadata_override = models.JSONField(null=True, blank=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    archived_at = models.CharField(max_length=MARK_LENGTH, null=True)

    class Meta:
        indexes = [models.Index(fields=["page", "-created_at", "-id"], name="aud_newest_first")]

    def __str__(self) -> str:
        return self.custom_name or self.computed_name or self.id


class Version(models.Model):
    """A version of an audience.

    The status is derived from the dates, and future dates are planned (see `lifecycle`). To write a
    row by hand: no date means `pending`. `became_draft_at` makes a draft. `queued_at`,
    `processing_at` and `published_at` together publish. `obsolete_at` with `archived_at` retires.
    `cancelled_at` instead of `processing_at` and `published_at` cancels.
    """

    id = id_column("ver")
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="versions")
    audience = models.ForeignKey(Audience, models.CASCADE, related_name="versions")
    version_number = models.BigIntegerField("number")
    is_new_page_agent = models.BooleanField("new page agent", default=False)
    supplementary_context = models.TextField(null=True, blank=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    became_draft_at = models.CharField(max_length=MARK_LENGTH, null=True)
    queued_at = models.CharField(max_length=MARK_LENGTH, null=True)
    processing_at = models.CharField(max_length=MARK_LENGTH, null=True)
    """When the version leaves the queue. The API returns only `queueDurationMs`."""
    published_at = models.CharField(max_length=MARK_LENGTH, null=True)
    obsolete_at = models.CharField(max_length=MARK_LENGTH, null=True)
    archived_at = models.CharField(max_length=MARK_LENGTH, null=True)
    cancelled_at = models.CharField(max_length=MARK_LENGTH, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["audience", "version_number"], name="version_number")
        ]

    def __str__(self) -> str:
        return f"Version {self.version_number}"


class OperationKey(models.Model):
    """The key of a completed publish. Keys are never deleted, so that none works twice."""

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="operation_keys")
    key = models.CharField(max_length=128)
    version = models.ForeignKey(Version, models.CASCADE, related_name="operation_keys")
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="operation_key")]

    def __str__(self) -> str:
        return self.key


class Conversation(models.Model):
    """The conversation in which an agent wrote an audience.

    Derived and not stored: the context, which is the current state of the audience and the page,
    and the last published message. `messages` and `pending_changes` are lists of the contract's
    Message and Change objects.
    """

    id = id_column("conv")
    audience = models.OneToOneField(Audience, models.CASCADE, related_name="conversation")
    messages = models.JSONField(default=list)
    pending_changes = models.JSONField(default=list)
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    updated_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)

    def __str__(self) -> str:
        return self.id
