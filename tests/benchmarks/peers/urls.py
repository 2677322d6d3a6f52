"""Each peer's pages stand under /admin/."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

if settings.PEER == "wagtail":
    from wagtail.admin import urls as wagtail_urls

    urlpatterns = [path("admin/", include(wagtail_urls))]
else:
    urlpatterns = [path("admin/", admin.site.urls)]
