"""/pages/."""

from django.urls import path

from dashboard.web.pages import create_views, views

urlpatterns = [
    path("", views.page_list, name="page-list"),
    path("export.csv", views.page_export, name="page-export"),
    path("new/", create_views.page_create, name="page-create"),
    path("new/draft/", create_views.page_draft, name="page-draft"),
    path("<id:page_id>/", views.page_detail, name="page-detail"),
]
