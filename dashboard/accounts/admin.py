"""Django admin for users, groups and API keys. Staff can't grant themselves superuser rights."""

from typing import Any

# Importing these registers their models, which are unregistered below.
from allauth.account.admin import EmailAddress
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.http import HttpRequest

from dashboard.accounts.forms import AdminPasswordForm

admin.site.unregister(User)
# Factors are reset under "Sign-in rules", which records it; the provider is configured by the
# environment.
admin.site.unregister([Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken])


@admin.register(User)
class DashboardUserAdmin(UserAdmin):  # type: ignore[type-arg]  # generic in the stubs alone
    list_display = ("username", "email", "is_active", "is_staff", "last_login")
    list_filter = ("groups", "is_active", "is_staff")
    readonly_fields = ("last_login", "date_joined")
    change_password_form = AdminPasswordForm

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: Any) -> None:
        """Save only the changed fields.

        Meanwhile the account may have been deactivated, or have a new password.
        """
        columns = {field.name for field in User._meta.concrete_fields}
        obj.save(update_fields=columns.intersection(form.changed_data) if change else None)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Forbid staff who aren't superusers to grant superuser rights or permissions."""
        locked = super().get_readonly_fields(request, obj)
        if request.user.is_superuser:
            return locked
        return (*locked, "is_superuser", "user_permissions")

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Forbid staff who aren't superusers to change a superuser, including the password."""
        if obj and obj.is_superuser and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)
