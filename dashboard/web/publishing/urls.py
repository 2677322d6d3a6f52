"""/pages/<page_id>/audiences/<audience_id>/versions/<version_id>/publish/."""

from django.urls import path

from dashboard.web.publishing import views

urlpatterns = [
    path("", views.publish, name="version-publish"),
]
