"""Django's admin with the dashboard's login, password page and second-factor rule."""

from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard.accounts.authentication import get_preferences
from dashboard.accounts.permissions import require_second_factor
from dashboard.accounts.sessions import lacks_second_factor


class DashboardAdminSite(AdminSite):
    """Source: Django's documentation, Overriding the default admin site."""

    site_header = f"Pressroom · {settings.ENVIRONMENT_NAME}"
    site_title = "Pressroom"
    index_title = "Users, groups and keys"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {**super().each_context(request), "theme": get_preferences(request.user).theme}

    def has_permission(self, request: HttpRequest) -> bool:
        """Require a staff account, and a second factor if the rule does.

        Permissions are granted in the admin.
        """
        return super().has_permission(request) and not lacks_second_factor(request)

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Refuse users without access. Anonymous users never get here."""
        if self.has_permission(request):
            return redirect("admin:index")
        if super().has_permission(request):
            require_second_factor(request)
        raise PermissionDenied("Only staff accounts can manage users, groups and keys.")

    def password_change(  # type: ignore[override]  # any response will do
        self, request: HttpRequest, extra_context: Any = None
    ) -> HttpResponse:
        """Redirect to the dashboard's page, which counts wrong passwords."""
        return redirect("password")
