"""/activity/."""

from django.urls import path

from dashboard.web.activity import operation_views, views

urlpatterns = [
    path("", views.operation_list, name="operation-list"),
    path("export.csv", views.operation_export, name="operation-export"),
    path("outside/", views.outside_list, name="outside-list"),
    path("outside/export.csv", views.outside_export, name="outside-export"),
    path("releases/<int:release_id>/", views.release_operations, name="release-operations"),
    path("<id:operation_key>/", operation_views.operation_detail, name="operation-detail"),
    path("<id:operation_key>/check/", operation_views.operation_check, name="operation-check"),
    path(
        "<id:operation_key>/send-again/",
        operation_views.operation_retry,
        name="operation-send-again",
    ),
]
