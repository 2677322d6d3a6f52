"""URLs of the embedded API: the nine operations and their documentation."""

from django.urls import URLPattern, include, path, re_path
from ninja import NinjaAPI

from dashboard.embedded_api import description
from dashboard.embedded_api.api import api, extras
from dashboard.embedded_api.http import not_found_view, service_endpoint


def _operations(of: NinjaAPI) -> list[URLPattern]:
    patterns = [
        pattern
        for pattern in of.urls[0]
        if isinstance(pattern, URLPattern) and pattern.name != "api-root"
    ]
    for pattern in patterns:
        pattern.callback = service_endpoint(pattern.callback)
    return patterns


urlpatterns = [
    # /service/: documentation, and what is beside the interface
    path("service/openapi.json", description.openapi, name="service-openapi"),
    path("service/docs", description.docs, name="service-docs"),
    path("service/", include((_operations(extras), "embedded_api_extras"))),
    # /v0/: the operations
    path("v0/", include((_operations(api), "embedded_api"))),
    re_path(r"^v0(?:/|$)", not_found_view),
]
