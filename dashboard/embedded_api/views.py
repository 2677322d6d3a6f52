"""The pages that describe the service, open to all: they hold nothing of anybody's."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import get_script_prefix
from django.views.decorators.http import require_safe

from dashboard.embedded_api.api import openapi_document
from dashboard.embedded_api.description import as_html, operations, schemas


@login_not_required
@require_safe
def openapi(request: HttpRequest) -> JsonResponse:
    """Answer with the OpenAPI document."""
    return JsonResponse(openapi_document(get_script_prefix()))


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show the document to a reader. Drawn here: the usual viewers load scripts from elsewhere."""
    document = openapi_document(get_script_prefix())
    context = {
        "title": document["info"]["title"],
        "description": as_html(document["info"]["description"]),
        "operations": list(operations(document)),
        "schemas": list(schemas(document)),
    }
    return render(request, "service/docs.html", context)
