"""Each peer's pages are under /admin/."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from tests.benchmarks.peers.models import A_LIST, LISTS

if settings.PEER == "wagtail":
    from wagtail.admin import urls as wagtail_urls

    urlpatterns = [path("admin/", include(wagtail_urls))]
else:
    for model, options in LISTS.items():
        admin.site.register(model, type("Admin", (admin.ModelAdmin,), options | A_LIST))
    urlpatterns = [path("admin/", admin.site.urls)]
