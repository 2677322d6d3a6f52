"""URLs of the JSON API, its documentation, MCP and the command line's wheel."""

from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import include, path, re_path
from django.views.decorators.http import require_safe

from dashboard.json_api.description import document_urls
from dashboard.json_api.endpoint import View
from dashboard.json_api.problems import ProblemError
from dashboard.machine.acts import count
from dashboard.machine.api import api, openapi_document
from dashboard.machine.errors import DOCS
from dashboard.machine.http import MachineRequest, machine_endpoint
from dashboard.machine.mcp import mcp
from dashboard.machine.wheel import WHEEL_NAME, build


def _counted(view: View) -> View:
    def counted(request: MachineRequest, *args: object, **kwargs: object) -> HttpResponse:
        count(request.caller, is_write=request.method != "GET")
        return view(request, *args, **kwargs)

    return machine_endpoint(counted)


@machine_endpoint
def unknown_path(request: MachineRequest) -> HttpResponse:
    step = f"Find the path in {DOCS}."
    raise ProblemError(HTTPStatus.NOT_FOUND, "There’s nothing at this path.", next_step=step)


@login_not_required
@require_safe
def wheel(request: HttpRequest) -> HttpResponse:
    """Serve the command line. It contains no data except this server's URL."""
    return HttpResponse(build(settings.PUBLIC_URL), content_type="application/octet-stream")


urlpatterns = [
    *document_urls("api/1/", "machine", openapi_document, title="Pressroom API"),
    path("api/1/", include((api.operation_urls(_counted), "machine"))),
    re_path(r"^api/(?:.*)$", unknown_path),
    re_path(r"^mcp/?$", mcp, name="mcp"),
    path(f"cli/{WHEEL_NAME}", wheel, name="cli-wheel"),
]
