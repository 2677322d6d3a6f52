"""/accounts/settings/notifications/."""

from django.urls import path

from dashboard.web.notifications import email_views, settings_views, target_views

urlpatterns = [
    path("", settings_views.notification_settings, name="notification-settings"),
    path("email/", email_views.email_change, name="email-change"),
    path("email/reset/", email_views.email_reset, name="email-reset"),
    path("email/confirm/<token>/", email_views.email_confirm, name="email-confirm"),
    path("webhooks/new/", target_views.target_add, name="target-add"),
    path("webhooks/<int:target_id>/", target_views.target_detail, name="target-detail"),
    path("webhooks/<int:target_id>/delete/", target_views.target_delete, name="target-delete"),
    path("webhooks/<int:target_id>/secret/", target_views.target_secret, name="target-secret"),
    path("webhooks/<int:target_id>/test/", target_views.target_test, name="target-test"),
]
