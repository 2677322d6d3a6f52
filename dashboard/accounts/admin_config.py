"""Django's admin as an app, with our site."""

from django.contrib.admin import apps


class AdminConfig(apps.AdminConfig):
    """Source: Django's documentation, Overriding the default admin site."""

    default_site = "dashboard.accounts.admin_site.DashboardAdminSite"
