"""URLs of the JSON API, its documentation, MCP and the command line's wheel."""

from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import get_script_prefix, include, path, re_path
from django.views.decorators.http import require_safe

from dashboard.json_api.description import render_docs
from dashboard.json_api.routing import operation_urls
from dashboard.machine.acts import count
from dashboard.machine.api import api, openapi_document
from dashboard.machine.errors import ActError, not_found
from dashboard.machine.http import MachineRequest, View, machine_endpoint
from dashboard.machine.mcp import mcp
from dashboard.machine.wheel import WHEEL_NAME, build


def _counted(view: View) -> View:
    def counted(request: MachineRequest, *args: object, **kwargs: object) -> HttpResponse:
        count(request.caller, is_write=request.method not in ("GET", "HEAD"))
        response = view(request, *args, **kwargs)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allow = response.headers["Allow"]
            detail, headers = f"{request.method} isn’t allowed here.", {"Allow": allow}
            step = f"Send {allow}."
            raise ActError(HTTPStatus.METHOD_NOT_ALLOWED, detail, next_step=step, headers=headers)
        return response

    return machine_endpoint(counted)


@machine_endpoint
def unknown_path(request: MachineRequest) -> HttpResponse:
    raise not_found("This path was")


@login_not_required
@require_safe
def openapi(request: HttpRequest) -> JsonResponse:
    return JsonResponse(openapi_document(get_script_prefix()))


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    document = openapi_document(get_script_prefix())
    return render_docs(request, document, document_view="machine-openapi", title="Pressroom API")


@login_not_required
@require_safe
def wheel(request: HttpRequest) -> HttpResponse:
    """Serve the command line. It contains no data except this server's URL."""
    return HttpResponse(build(settings.PUBLIC_URL), content_type="application/octet-stream")


urlpatterns = [
    path("api/1/openapi.json", openapi, name="machine-openapi"),
    path("api/1/docs", docs, name="machine-docs"),
    path("api/1/", include((operation_urls(api, _counted), "machine"))),
    re_path(r"^api/(?:.*)$", unknown_path),
    re_path(r"^mcp/?$", mcp, name="mcp"),
    path(f"cli/{WHEEL_NAME}", wheel, name="cli-wheel"),
]
