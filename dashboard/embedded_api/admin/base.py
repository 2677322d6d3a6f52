"""Common parts of the admin pages of the service's objects, including archiving."""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import display_for_value, quote
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, models, transaction
from django.db.models import Case, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard import clock
from dashboard.contract.wire import read_date
from dashboard.embedded_api.admin.forms import JsonField, ServiceForm, TextField
from dashboard.embedded_api.ids import last_uuid7_of, uuid7_now
from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.models import Conversation, Page, Version
from dashboard.texts import redact_secret


def moment_of(column: str, description: str) -> Callable[[Any, Any], str]:
    @admin.display(description=description, ordering=column, empty_value="-")
    def moment(self: Any, row: Any) -> str:
        return str(display_for_value(read_date(getattr(row, column)), "-"))

    return moment


class StatusFilter(admin.SimpleListFilter):
    title = parameter_name = "status"
    statuses: type[StrEnum]
    dates: Mapping[str, StrEnum]
    """Statuses by the column of their date. The first date that was reached counts."""
    otherwise: StrEnum

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, status.value) for status in self.statuses]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> Any:
        if not self.value():
            return queryset
        until = last_uuid7_of(clock.now())
        reached = [
            When(**{f"{column}__lte": until}, then=Value(status.value))
            for column, status in self.dates.items()
        ]
        status_now = Case(*reached, default=Value(self.otherwise.value))
        return queryset.alias(status_now=status_now).filter(status_now=self.value())


class ReadOnlyInline(admin.TabularInline):  # type: ignore[type-arg]  # not so at run time
    extra = 0
    can_delete = False

    created = moment_of("created_at", "Created")
    updated = moment_of("updated_at", "Updated")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SecretURLMixin(admin.ModelAdmin):  # type: ignore[type-arg]  # not so at run time
    """For rows with a URL that holds a secret. Only users who may change a row can find it out."""

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Leave out URLs for users who may only view, as they could find a secret part by part."""
        fields = super().get_search_fields(request)
        is_all = self.has_change_permission(request)
        return [name for name in fields if is_all or not name.endswith("url")]

    @admin.display(description="URL", ordering="url")
    def target(self, row: Any) -> str:
        return redact_secret(row.url)


class AddOnceAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not so at run time
    """Adds a row once. The form holds the new ID, so sending it again leads to the same row."""

    id_column = "id"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        new_id = self.new_id(request)
        rows = self.model._default_manager.filter(**{self.id_column: new_id})
        try:
            if row := rows.first():
                return self._lead_to(request, row)
            return super().add_view(request, form_url, (extra_context or {}) | {"new_id": new_id})
        except IntegrityError:
            # The same form was sent at the same moment.
            if row := rows.first():
                return self._lead_to(request, row)
            raise

    def new_id(self, request: HttpRequest) -> str:
        sent = request.POST.get("new_id", "")
        new: str = self.model._meta.get_field(self.id_column).get_default()
        is_id = re.fullmatch(f"{new.partition('_')[0]}_[0-9a-z]{{26}}", sent)
        return sent if is_id else new

    def _lead_to(self, request: HttpRequest, row: models.Model) -> HttpResponse:
        messages.info(request, "This form was already sent. Nothing was added again.")
        return redirect(f"admin:{self.opts.label_lower.replace('.', '_')}_change", quote(row.pk))


class ServiceAdmin(AddOnceAdmin):
    """Saves only what was changed, with the date of the update."""

    form = ServiceForm
    list_per_page = 50
    formfield_overrides = {
        models.TextField: {"form_class": TextField},
        models.JSONField: {"form_class": JsonField},
    }
    fixed_fields: tuple[str, ...] = ()
    """Fields that are set when the object is created, and read-only afterwards."""
    shown_fields: tuple[str, ...] = ()
    """Read-only fields of an existing object."""

    created = moment_of("created_at", "Created")
    updated = moment_of("updated_at", "Updated")
    archived = moment_of("archived_at", "Archived")

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row to show. For a change, lock it and read it again.

        What is saved follows from the row, such as a person's search text from all the fields.
        """
        row = super().get_object(request, object_id, from_field)
        if row is None or not transaction.get_connection().in_atomic_block:
            return row
        self.lock([row])
        return super().get_object(request, object_id, from_field)

    def lock(self, rows: Iterable[Any]) -> None:
        ids = [row.pk for row in rows]
        locked = self.model._default_manager.select_for_update(no_key=True).filter(pk__in=ids)
        list(locked.order_by("pk").values_list("pk"))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*self.fixed_fields, *self.shown_fields) if obj else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial = super().get_changeform_initial_data(request)
        has_tenant = hasattr(self.model, "tenant")
        return {"tenant": default_tenant().pk, **initial} if has_tenant else dict(initial)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        if not change:
            setattr(obj, self.id_column, self.new_id(request))
            obj.save(force_insert=True)
            return
        changed = form.changed_columns()
        if changed and hasattr(obj, "updated_at"):
            obj.updated_at = uuid7_now()
            changed.append("updated_at")
        if changed:
            obj.save(update_fields=changed)


class PublishedStaysAdmin(ServiceAdmin):
    """Refuses to delete what was ever published. Others may refer to it, and its keys are used."""

    path_from_version = ""
    """Lookup from a version to this model."""

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        """Delete rows, unless one was published since the user was asked.

        Raises PermissionDenied.
        """
        self.lock(queryset)
        if self.get_deleted_objects(queryset, request)[3]:
            raise PermissionDenied("A version was published meanwhile. Nothing was deleted.")
        super().delete_queryset(request, queryset)

    def lock(self, rows: Iterable[Any]) -> None:
        """Lock their pages first, as a publish does: it decides what may be changed or deleted."""
        versions = self._versions_of(rows).values("audience__page")
        list(Page.objects.select_for_update().filter(pk__in=versions).order_by("pk"))
        super().lock(rows)

    def _versions_of(self, rows: Iterable[Any]) -> "QuerySet[Version]":
        ids = [row.pk for row in rows]
        return Version.objects.filter(**{f"{self.path_from_version}__in": ids})

    def get_deleted_objects(
        self, objs: "QuerySet[Any] | Iterable[Any]", request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
        """Add a reason for each version that prevents the deletion."""
        deleted, counts, missing, protected = super().get_deleted_objects(objs, request)  # type: ignore[arg-type]
        queued = self._versions_of(objs).filter(queued_at__isnull=False).select_related("audience")
        reasons = [
            f"{version} of {version.audience} was published or queued, so it can’t be deleted. "
            "Archive its audience or page instead."
            for version in queued.order_by("audience_id", "version_number")
        ]
        # A conversation is read-only, but it is deleted with its audience.
        missing -= {str(Conversation._meta.verbose_name)}
        return deleted, counts, missing, [*protected, *reasons]


class ArchivingAdmin(PublishedStaysAdmin):
    """Adds list actions to archive and restore. Rows already in that state stay unchanged."""

    actions = ("archive", "restore")

    @admin.action(
        description="Archive the selected %(verbose_name_plural)s", permissions=["change"]
    )
    def archive(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        """Archive rows. A live version stays live, as the API has no way to unpublish."""
        rows = queryset.filter(archived_at=None)
        self._set_archived(request, rows, uuid7_now(), "Archived")

    @admin.action(
        description="Restore the selected %(verbose_name_plural)s", permissions=["change"]
    )
    def restore(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        rows = queryset.exclude(archived_at=None)
        self._set_archived(request, rows, None, "Restored")

    def _set_archived(
        self, request: HttpRequest, rows: "QuerySet[Any]", mark: str | None, done: str
    ) -> None:
        changed = list(rows)
        dates = {"updated_at": uuid7_now()} if hasattr(self.model, "updated_at") else {}
        # Filter again: another user may have done the same in the meantime.
        same = rows.model._default_manager.filter(pk__in=[row.pk for row in changed])
        same.filter(archived_at__isnull=mark is not None).update(archived_at=mark, **dates)
        for row in changed:
            self.log_change(request, row, f"{done}.")
        messages.success(request, f"{done}: {len(changed)}.")
