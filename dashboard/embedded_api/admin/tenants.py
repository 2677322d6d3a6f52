"""Tenants, their API keys and their people in the Django admin.

Keys are issued and revoked, never deleted.
"""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminTextInputWidget
from django.db.models import QuerySet
from django.http import HttpRequest

from dashboard.embedded_api import keys
from dashboard.embedded_api.admin.base import AddOnceAdmin, ServiceAdmin
from dashboard.embedded_api.admin.forms import ServiceForm
from dashboard.embedded_api.models import ApiKey, Person, Tenant, fold_for_search
from dashboard.embedded_api.requests import MAX_WORDS, NewPerson


class TenantAdmin(ServiceAdmin):
    """Tenants own keys and objects. The dashboard shows the objects of the default tenant."""

    list_display = ("name", "id", "brand_id")
    search_fields = ("name", "id")
    ordering = ("name", "id")
    shown_fields = ("id",)

    def has_delete_permission(self, request: HttpRequest, obj: Tenant | None = None) -> bool:
        """Refuse deletion, which would delete all the tenant's objects and published versions."""
        return False


class ApiKeyAdmin(AddOnceAdmin):
    """Lists keys by name and prefix. No page shows a key again, nor its hash."""

    list_display = ("name", "prefix", "tenant", "created_at", "revoked_at")
    list_filter = ("tenant", ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("tenant",)
    autocomplete_fields = ("tenant",)
    search_fields = ("name", "prefix")
    actions = ("revoke_keys",)

    def get_readonly_fields(
        self, request: HttpRequest, obj: ApiKey | None = None
    ) -> tuple[str, ...]:
        """Show an existing key without its hash. Only its name can change."""
        return ("tenant", "prefix", "created_at", "revoked_at") if obj else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"tenant": keys.default_tenant().pk}

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: Any) -> None:
        if change:
            # Save the name only: the key may be revoked at the same moment.
            obj.save(update_fields=["name"])
            return
        obj.id = self.new_id(request)
        key = keys.issue(obj)
        messages.warning(request, f"Copy the key now. It won’t be shown again: {key}")

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse deletion, as a revoked key records who had access and until when."""
        return False

    @admin.action(description="Revoke the selected keys", permissions=["change"])
    def revoke_keys(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        messages.success(request, f"Keys revoked: {keys.revoke(queryset)}.")


_FIELDS = ("name", "email", "domain", "slug", "phone_number", "linkedin_profile_url")


class PersonForm(ServiceForm):
    rules = NewPerson

    class Meta:
        model = Person
        fields = ("tenant", *_FIELDS)
        widgets = dict.fromkeys(_FIELDS, AdminTextInputWidget)


class PersonAdmin(ServiceAdmin):
    """Lists and searches people by index, as there may be a million."""

    form = PersonForm
    id_column = "person_id"
    list_display = ("shown_name", "email", "domain", "phone_number", "updated")
    list_display_links = ("shown_name",)
    list_filter = ("tenant", ("email", admin.EmptyFieldListFilter))
    search_fields = ("search_text",)
    search_help_text = "Every word in the name, email, domain, slug or phone, without accents."
    # The order of an index. By name alone, each page would sort all people.
    ordering = ("tenant_id", "name", "person_id")
    show_full_result_count = False
    autocomplete_fields = ("tenant",)
    fixed_fields = ("tenant",)
    shown_fields = ("person_id", "created", "updated")

    @admin.display(description="Name", ordering="name")
    def shown_name(self, row: Person) -> str:
        """Return the name, or else the ID, so that there is a link."""
        return str(row)

    def get_search_results(
        self, request: HttpRequest, queryset: "QuerySet[Person]", search_term: str
    ) -> "tuple[QuerySet[Person], bool]":
        """Search like the API: every word must match, ignoring case and accents."""
        for word in fold_for_search(search_term).split()[:MAX_WORDS]:
            queryset = queryset.filter(search_text__contains=word)
        return queryset, False
