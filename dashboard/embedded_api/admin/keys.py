"""API keys in the Django admin: issue, rename and revoke; never delete."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from dashboard.embedded_api import keys
from dashboard.embedded_api.models import ApiKey


class ApiKeyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not so at run time
    """List keys by name and prefix. No page shows a key again, or its hash."""

    list_display = ("name", "prefix", "tenant", "created_at", "revoked_at")
    list_filter = ("tenant", ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("tenant",)
    autocomplete_fields = ("tenant",)
    search_fields = ("name", "prefix")
    actions = ("revoke_keys",)

    def get_readonly_fields(
        self, request: HttpRequest, obj: ApiKey | None = None
    ) -> tuple[str, ...]:
        """Show everything but the hash of an existing key; only its name can change."""
        return ("tenant", "prefix", "created_at", "revoked_at") if obj else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Preselect the dashboard's tenant."""
        return {"tenant": keys.default_tenant().pk}

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: Any) -> None:
        """Save a new name, or issue a new key and show it once."""
        if change:
            super().save_model(request, obj, form, change)
            return
        key = keys.issue(obj)
        messages.warning(request, f"Copy the key now. It won't be shown again: {key}")

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse deletion: a revoked key records who had access, and until when."""
        return False

    @admin.action(description="Revoke the selected keys", permissions=["change"])
    def revoke_keys(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke the selected keys."""
        messages.success(request, f"Keys revoked: {keys.revoke(queryset)}.")
