"""/pages/<page_id>/audiences/<audience_id>/versions/<version_id>/."""

from django.urls import path

from dashboard.web.publishing import release_views, rollback_views, views

urlpatterns = [
    path("publish/", views.publish, name="version-publish"),
    path("publish/progress/", views.progress, name="publish-progress"),
    path("publish/schedule/", release_views.schedule, name="version-schedule"),
    path("publish/scheduled/<int:release_id>/", release_views.scheduled, name="version-scheduled"),
    path("publish/request/", release_views.request_approval, name="version-request"),
    path("rollback/", rollback_views.roll_back, name="version-rollback"),
    path("rollback/progress/", rollback_views.progress, name="rollback-progress"),
    path("rollback/request/", rollback_views.request_approval, name="rollback-request"),
]
