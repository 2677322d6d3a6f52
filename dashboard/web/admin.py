"""Django's admin, for users, groups and keys: one log-in for both, and no way up for oneself."""

from typing import Any

# They register their tables when they are read: before they are taken out below.
from allauth.account.admin import EmailAddress
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard.web.permissions import demand_second_factor
from dashboard.web.second_factor import lacks_second_factor

OF_SUPERUSERS = ("is_superuser", "user_permissions")
"""Fields that give every right there is; who may change users must not take them so."""


def enter(request: HttpRequest, extra_context: Any = None) -> HttpResponse:
    """Stand in for the admin's own log-in: the dashboard's has been passed already."""
    if admin.site.has_permission(request):
        return redirect("admin:index")
    if may_enter(request):
        demand_second_factor(request)
    raise PermissionDenied("Users, groups and keys are for staff accounts.")


def has_permission(request: HttpRequest) -> bool:
    """Let staff in, with a second factor where the rule asks for one: here rights are given."""
    return may_enter(request) and not lacks_second_factor(request)


admin.site.site_header = f"Pressroom · {settings.ENVIRONMENT_NAME}"
admin.site.site_title = "Pressroom"
admin.site.index_title = "Users, groups and keys"
may_enter = admin.site.has_permission
admin.site.has_permission = has_permission  # type: ignore[method-assign]  # as below
admin.site.login = enter  # type: ignore[method-assign]  # no subclass needed for one function

admin.site.unregister(User)
# Factors are reset under "Sign-in rules", where it is on record, and the provider is named by the
# environment alone.
admin.site.unregister([Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken])


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # generic in the stubs alone
    """Users; only a superuser changes a superuser, or makes one."""

    list_display = ("username", "email", "is_active", "is_staff", "last_login")
    list_filter = ("groups", "is_active", "is_staff")

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Lock what a superuser alone may give."""
        locked = super().get_readonly_fields(request, obj)
        return locked if _is_superuser(request) else (*locked, *OF_SUPERUSERS)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Let nobody below a superuser change one, the password included."""
        if obj and obj.is_superuser and not _is_superuser(request):
            return False
        return super().has_change_permission(request, obj)


def _is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_authenticated and request.user.is_superuser)
