"""Tenants in the Django admin."""

from django.http import HttpRequest

from dashboard.embedded_api.admin.base import ServiceAdmin
from dashboard.embedded_api.models import Tenant


class TenantAdmin(ServiceAdmin):
    """Owners of keys and objects. The dashboard shows the objects of the default tenant."""

    list_display = ("name", "id", "brand_id")
    search_fields = ("name", "id")
    ordering = ("name", "id")
    shown_fields = ("id",)

    def has_delete_permission(self, request: HttpRequest, obj: Tenant | None = None) -> bool:
        """Refuse deletion: everything of the tenant would go with it, published versions too."""
        return False
