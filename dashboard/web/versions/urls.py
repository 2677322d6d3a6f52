"""/pages/<page_id>/audiences/<audience_id>/versions/."""

from django.urls import path

from dashboard.web.versions import views

urlpatterns = [
    path("", views.version_list, name="version-list"),
    path("compare/", views.version_compare, name="version-compare"),
]
