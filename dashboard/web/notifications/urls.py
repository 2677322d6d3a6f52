"""/notifications/."""

from django.urls import path

from dashboard.web.notifications import delivery_views, follow_views, views

urlpatterns = [
    path("", views.notification_list, name="notification-list"),
    path("read/", views.notifications_read, name="notifications-read"),
    path("opened/", views.page_opened, name="page-opened"),
    path("<int:notification_id>/read/", views.notification_read, name="notification-read"),
    path("follow/", follow_views.follow, name="follow"),
    # /notifications/deliveries/: what was sent by e-mail and webhook
    path("deliveries/", delivery_views.delivery_log, name="delivery-log"),
    path("deliveries/<int:delivery_id>/", delivery_views.delivery_entry, name="delivery-entry"),
    path("deliveries/<int:delivery_id>/send/", delivery_views.delivery_send, name="delivery-send"),
]
