"""URLs of the embedded API: the nine operations and their documentation."""

from django.urls import include, path, re_path

from dashboard.embedded_api.api import api, extras, openapi_document
from dashboard.embedded_api.event_payloads import DELIVERY
from dashboard.embedded_api.http import not_found_view, service_endpoint
from dashboard.json_api.description import document_urls, render_markdown

urlpatterns = [
    # /service/: documentation, and operations outside the interface specification
    *document_urls("service/", "service", openapi_document, delivery=render_markdown(DELIVERY)),
    path("service/", include((extras.operation_urls(service_endpoint), "embedded_api_extras"))),
    # /v0/: the operations
    path("v0/", include((api.operation_urls(service_endpoint), "embedded_api"))),
    re_path(r"^v0(?:/|$)", not_found_view),
]
