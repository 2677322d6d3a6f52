"""/notifications/ and /accounts/settings/notifications/."""

from django.urls import include, path

from dashboard.web.notifications import delivery_views, settings_views, target_views, views

notification_urls = [
    path("", views.notification_list, name="notification-list"),
    path("read/", views.notifications_read, name="notifications-read"),
    path("opened/", views.page_opened, name="page-opened"),
    path("<int:notification_id>/read/", views.notification_read, name="notification-read"),
    path("follow/", views.follow, name="follow"),
    # The delivery log.
    path("deliveries/", delivery_views.delivery_log, name="delivery-log"),
    path("deliveries/<int:delivery_id>/", delivery_views.delivery_entry, name="delivery-entry"),
    path("deliveries/<int:delivery_id>/send/", delivery_views.delivery_send, name="delivery-send"),
]
settings_urls = [
    path("", settings_views.notification_settings, name="notification-settings"),
    path("email/", settings_views.email_change, name="email-change"),
    path("email/reset/", settings_views.email_reset, name="email-reset"),
    path("email/confirm/<token>/", settings_views.email_confirm, name="email-confirm"),
    path("webhooks/new/", target_views.target_add, name="target-add"),
    path("webhooks/<int:target_id>/", target_views.target_detail, name="target-detail"),
    path("webhooks/<int:target_id>/delete/", target_views.target_delete, name="target-delete"),
    path("webhooks/<int:target_id>/secret/", target_views.target_secret, name="target-secret"),
    path("webhooks/<int:target_id>/test/", target_views.target_test, name="target-test"),
]
urlpatterns = [
    path("notifications/", include(notification_urls)),
    path("accounts/settings/notifications/", include(settings_urls)),
]
