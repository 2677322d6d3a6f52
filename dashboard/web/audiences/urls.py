"""/audiences/ and /pages/<page_id>/audiences/<audience_id>/."""

from django.urls import path

from dashboard.web.audiences import list_views, views

urlpatterns = [
    path("audiences/", list_views.audience_list, name="audience-list"),
    path("audiences/export.csv", list_views.audience_export, name="audience-export"),
    path("audiences/load/", list_views.audience_load, name="audience-load"),
    path(
        "pages/<id:page_id>/audiences/<id:audience_id>/",
        views.audience_detail,
        name="audience-detail",
    ),
]
