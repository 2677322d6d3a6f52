"""Django admin for users, groups and API keys. Staff can't grant themselves superuser rights."""

from typing import Any

# Importing these registers their models, which are unregistered below.
from allauth.account.admin import EmailAddress
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from dashboard.accounts.forms import AdminPasswordForm

admin.site.unregister([User, Group])
# Factors are reset under "Sign-in rules", which records it; the provider is configured by the
# environment.
admin.site.unregister([Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken])


class ChangedFieldsAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs alone
    """Save only the fields that the user changed. The others of an account may be newer."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        columns = {field.name for field in obj._meta.concrete_fields}
        obj.save(update_fields=columns.intersection(form.changed_data) if change else None)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: Any) -> None:
        """Save groups and permissions only if the user changed them."""
        if change:
            for name in form.cleaned_data.keys() - set(form.changed_data):
                del form.cleaned_data[name]
        super().save_related(request, form, formsets, change)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """Have the page send back what a field showed, as somebody else may change it meanwhile."""
        field = super().formfield_for_dbfield(db_field, request, **options)
        if field:
            field.show_hidden_initial = True
        return field


@admin.register(Group)
class DashboardGroupAdmin(ChangedFieldsAdmin, GroupAdmin):
    pass


@admin.register(User)
class DashboardUserAdmin(ChangedFieldsAdmin, UserAdmin):  # type: ignore[type-arg]  # likewise
    list_display = ("username", "email", "is_active", "is_staff", "last_login")
    list_filter = ("groups", "is_active", "is_staff")
    readonly_fields = ("last_login", "date_joined")
    change_password_form = AdminPasswordForm

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
