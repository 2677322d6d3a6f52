"""/accounts/: a user's own settings and pins."""

from django.urls import path

from dashboard.web.settings import approval_rule_views, views

urlpatterns = [
    path("settings/", views.own_settings, name="settings"),
    path("settings/approvals/", approval_rule_views.approval_rule, name="approval-rule"),
    path("theme/", views.theme, name="theme"),
    path("utc/", views.utc, name="utc"),
    path("keys/", views.keys, name="keys"),
    path("pin/", views.pin, name="pin"),
    # django-allauth redirects to this name.
    path("settings/", views.own_settings, name="mfa_index"),
]
