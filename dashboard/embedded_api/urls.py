"""URLs of the embedded API: the nine operations and their documentation."""

from django.urls import include, path, re_path

from dashboard.embedded_api.api import api, docs, extras, openapi
from dashboard.embedded_api.http import not_found_view, service_endpoint
from dashboard.json_api.routing import operation_urls

urlpatterns = [
    # /service/: documentation, and operations outside the interface specification
    path("service/openapi.json", openapi, name="service-openapi"),
    path("service/docs", docs, name="service-docs"),
    path("service/", include((operation_urls(extras, service_endpoint), "embedded_api_extras"))),
    # /v0/: the operations
    path("v0/", include((operation_urls(api, service_endpoint), "embedded_api"))),
    re_path(r"^v0(?:/|$)", not_found_view),
]
