"""…/preview/ of a page and of an audience, and /accounts/settings/site/."""

from django.urls import path

from dashboard.web.preview import site_views, views

urlpatterns = [
    path("pages/<id:page_id>/preview/", views.page_preview, name="page-preview"),
    path(
        "pages/<id:page_id>/audiences/<id:audience_id>/preview/",
        views.audience_preview,
        name="audience-preview",
    ),
    path("accounts/settings/site/", site_views.site_pattern, name="site-pattern"),
]
