"""Root URLs: the dashboard, the machine endpoints, the admin, and the embedded API if used."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("dashboard.web.shell.urls")),
    path("", include("dashboard.machine.urls")),
    path("admin/", admin.site.urls),
]
if settings.EMBEDDED_API:
    urlpatterns += [path("", include("dashboard.embedded_api.urls"))]

handler400 = "dashboard.web.shell.errors.bad_request"
handler403 = "dashboard.web.shell.errors.forbidden"
handler404 = "dashboard.web.shell.errors.not_found"
handler500 = "dashboard.web.shell.errors.server_error"
