"""What the admin pages of the service's objects have in common."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import display_for_value
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from dashboard.contract.dates import read_date
from dashboard.embedded_api.admin.forms import JsonField, ServiceForm, TextField
from dashboard.embedded_api.ids import uuid7_now
from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.models import Conversation, Page, Version
from dashboard.redaction import redact_secret


def moment_of(column: str, description: str) -> Callable[[Any, Any], str]:
    """Return a column of the admin that shows a mark as a date and time."""

    @admin.display(description=description, ordering=column, empty_value="-")
    def shown(self: Any, row: Any) -> str:
        return str(display_for_value(read_date(getattr(row, column)), "-"))

    return shown


class SecretURLMixin(admin.ModelAdmin):  # type: ignore[type-arg]  # not so at run time
    """Rows with a URL whose secret only users who may change them see, or find by searching."""

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Leave out URLs for users who may only view: part by part, they could find a secret."""
        fields = super().get_search_fields(request)
        is_all = self.has_change_permission(request)
        return [name for name in fields if is_all or not name.endswith("url")]

    @admin.display(description="URL", ordering="url")
    def target(self, row: Any) -> str:
        """Return the URL without a secret of a receiver."""
        return redact_secret(row.url)


class ServiceAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not so at run time
    """Save only what was changed, with the date of the update."""

    form = ServiceForm
    list_per_page = 50
    formfield_overrides = {
        models.TextField: {"form_class": TextField},
        models.JSONField: {"form_class": JsonField},
    }
    fixed_fields: tuple[str, ...] = ()
    """Set when the object is created, and read-only from then on."""
    shown_fields: tuple[str, ...] = ()
    """Read-only, of an object that exists."""

    created = moment_of("created_at", "Created")
    updated = moment_of("updated_at", "Updated")
    archived = moment_of("archived_at", "Archived")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return what can't be edited."""
        return (*self.fixed_fields, *self.shown_fields) if obj else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Preselect the dashboard's tenant."""
        initial = super().get_changeform_initial_data(request)
        has_tenant = any(field.name == "tenant" for field in self.model._meta.fields)
        return {"tenant": default_tenant().pk, **initial} if has_tenant else dict(initial)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        """Insert a new object, or update the fields that were changed."""
        if not change:
            obj.save(force_insert=True)
            return
        changed = form.changed_columns()
        if changed and hasattr(obj, "updated_at"):
            obj.updated_at = uuid7_now()
            changed.append("updated_at")
        if changed:
            obj.save(update_fields=changed)


class PublishedStaysAdmin(ServiceAdmin):
    """Refuse to delete what was ever published: others may refer to it, and its keys are used."""

    path_from_version = ""
    """The path from a version to this model, for a query."""

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row to show; for a change, as it is once no publish of its page is under way.

        What may be changed or deleted depends on what is published.
        """
        row = super().get_object(request, object_id, from_field)
        if row is None or not transaction.get_connection().in_atomic_block:
            return row
        self._lock_pages([row])
        return super().get_object(request, object_id, from_field)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        """Delete rows, unless one was published since the user was asked."""
        self._lock_pages(queryset)
        if self.get_deleted_objects(queryset, request)[3]:
            raise PermissionDenied("A version was published meanwhile. Nothing was deleted.")
        super().delete_queryset(request, queryset)

    def _lock_pages(self, rows: Iterable[Any]) -> None:
        """Lock the pages of some rows in a transaction, as a publish does."""
        versions = self._versions_of(rows).values("audience__page")
        list(Page.objects.select_for_update().filter(pk__in=versions).order_by("pk"))

    def _versions_of(self, rows: Iterable[Any]) -> "QuerySet[Version]":
        ids = [row.pk for row in rows]
        return Version.objects.filter(**{f"{self.path_from_version}__in": ids})

    def get_deleted_objects(
        self, objs: "QuerySet[Any] | Iterable[Any]", request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
        """Name each version that prevents the deletion."""
        deleted, counts, missing, protected = super().get_deleted_objects(objs, request)  # type: ignore[arg-type]
        queued = self._versions_of(objs).filter(queued_at__isnull=False).select_related("audience")
        reasons = [
            f"{version} of {version.audience} was published or queued, so it can't be deleted. "
            "Archive its audience or page instead."
            for version in queued.order_by("audience_id", "version_number")
        ]
        # A conversation goes with its audience; by itself it is read-only.
        missing -= {str(Conversation._meta.verbose_name)}
        return deleted, counts, missing, [*protected, *reasons]
