"""Pages."""

from typing import Any

from django.db import models

from dashboard.contract.pages import PageStatus, PageType
from dashboard.embedded_api.ids import MARK_LENGTH, id_column, uuid7_now
from dashboard.embedded_api.models.tenants import Tenant


class Page(models.Model):
    """A page. Its status is derived from its dates; publishing does not change `updated_at`."""

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
    """When the first of its versions went live, or will; until then the page is a draft."""
    archived_at = models.CharField(max_length=MARK_LENGTH, null=True)
    deleted_at = models.CharField(max_length=MARK_LENGTH, null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="page_newest_first"),
            # For counting the list. Of two suitable indexes SQLite uses the one created last,
            # so this one, a third of the size, comes second.
            models.Index(fields=["tenant"], name="page_of_tenant"),
        ]

    def __str__(self) -> str:
        return self.name


def status_of_page(row: Any, until: str) -> PageStatus:
    """Return the status of a page's row; `until` is the last mark of the present time."""
    if row.archived_at and row.archived_at <= until:
        return PageStatus.ARCHIVED
    is_published = row.published_at and row.published_at <= until
    return PageStatus.PUBLISHED if is_published else PageStatus.DRAFT
