"""/pages/."""

from django.urls import path

from dashboard.web.pages import create_views, detail_views, form_views, list_views

urlpatterns = [
    path("", list_views.page_list, name="page-list"),
    path("export.csv", list_views.page_export, name="page-export"),
    path("new/", create_views.page_create, name="page-create"),
    path("new/check/", create_views.page_check, name="page-check"),
    path("new/rows/", form_views.page_rows, name="page-rows"),
    path("new/field/", form_views.page_field, name="page-field"),
    path("new/draft/", form_views.page_draft, name="page-draft"),
    path("new/discard/", form_views.page_discard, name="page-discard"),
    path("<id:page_id>/", detail_views.page_detail, name="page-detail"),
]
