"""/audiences/."""

from django.urls import path

from dashboard.web.audiences import list_views

urlpatterns = [
    path("", list_views.audience_list, name="audience-list"),
    path("export.csv", list_views.audience_export, name="audience-export"),
    path("load/", list_views.audience_load, name="audience-load"),
]
