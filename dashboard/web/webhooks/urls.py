"""/webhooks/ and /hooks/."""

from django.urls import path

from dashboard.web.webhooks import edit_views, hook_views, receiver_views, switch_views, views

urlpatterns = [
    path("webhooks/", views.subscription_list, name="subscription-list"),
    path("webhooks/new/", views.subscription_add, name="subscription-add"),
    path(
        "webhooks/<id:subscription_id>/", edit_views.subscription_detail, name="subscription-detail"
    ),
    path(
        "webhooks/<id:subscription_id>/active/",
        switch_views.subscription_active,
        name="subscription-active",
    ),
    path(
        "webhooks/<id:subscription_id>/forget/",
        views.subscription_forget,
        name="subscription-forget",
    ),
    path("hooks/", receiver_views.receiver_page, name="receiver"),
    path("hooks/deliveries/<int:number>/", receiver_views.delivery_detail, name="delivery-detail"),
    path("hooks/<str:secret>/", hook_views.hook, name="hook"),
    # Senders don't follow a redirect to the URL with the slash.
    path("hooks/<str:secret>", hook_views.hook, name="hook-without-slash"),
]
