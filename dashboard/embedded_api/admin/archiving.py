"""Archive pages and audiences, and restore them."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from dashboard.embedded_api.admin.base import PublishedStaysAdmin
from dashboard.embedded_api.ids import uuid7_now


class ArchivingAdmin(PublishedStaysAdmin):
    """Actions of the list; what is already as wanted stays unchanged."""

    actions = ("archive", "restore")

    @admin.action(
        description="Archive the selected %(verbose_name_plural)s", permissions=["change"]
    )
    def archive(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        """Archive from now on. What is live stays live: the API has no way to unpublish."""
        rows = queryset.filter(archived_at=None)
        self._set_archived(request, rows, uuid7_now(), "Archived")

    @admin.action(
        description="Restore the selected %(verbose_name_plural)s", permissions=["change"]
    )
    def restore(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        """Undo archiving."""
        rows = queryset.exclude(archived_at=None)
        self._set_archived(request, rows, None, "Restored")

    def _set_archived(
        self, request: HttpRequest, rows: "QuerySet[Any]", mark: str | None, done: str
    ) -> None:
        changed = list(rows)
        columns = {field.name for field in self.model._meta.concrete_fields}
        dates = {"updated_at": uuid7_now()} if "updated_at" in columns else {}
        # Once more: somebody else may have done the same since.
        same = rows.model._default_manager.filter(pk__in=[row.pk for row in changed])
        same.filter(archived_at__isnull=mark is not None).update(archived_at=mark, **dates)
        for row in changed:
            self.log_change(request, row, f"{done}.")
        messages.success(request, f"{done}: {len(changed)}.")
