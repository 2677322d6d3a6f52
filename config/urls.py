"""Every address: the dashboard's, the admin's, and the embedded API's where it is the service."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("dashboard.web.urls")),
    path("admin/", admin.site.urls),
]
if settings.EMBEDDED_API:
    urlpatterns += [path("", include("dashboard.embedded_api.urls"))]

handler400 = "dashboard.web.views.errors.bad_request"
handler403 = "dashboard.web.views.errors.forbidden"
handler404 = "dashboard.web.views.errors.not_found"
handler500 = "dashboard.web.views.errors.server_error"
