"""The embedded API's addresses: the nine operations, and the pages that describe them."""

from django.urls import URLPattern, include, path, re_path

from dashboard.embedded_api import views
from dashboard.embedded_api.api import api
from dashboard.embedded_api.http import nothing_here, of_the_service


def _operations() -> list[URLPattern]:
    """Return the API's patterns, each open to callers with a key; its home page is left out."""
    found = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern)]
    patterns = [pattern for pattern in found if pattern.name != "api-root"]
    for pattern in patterns:
        pattern.callback = of_the_service(pattern.callback)
    return patterns


urlpatterns = [
    # /service/: what the service is
    path("service/openapi.json", views.openapi, name="service-openapi"),
    path("service/docs", views.docs, name="service-docs"),
    # /v0/: the service
    path("v0/", include((_operations(), "embedded_api"))),
    re_path(r"^v0(?:/|$)", nothing_here),
]
