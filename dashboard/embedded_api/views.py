"""The public documentation of the API."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import get_script_prefix
from django.views.decorators.http import require_safe

from dashboard.embedded_api.api import openapi_document
from dashboard.embedded_api.description import events, operations, render_markdown, schemas
from dashboard.embedded_api.event_payloads import DELIVERY


@login_not_required
@require_safe
def openapi(request: HttpRequest) -> JsonResponse:
    """Return the OpenAPI document."""
    return JsonResponse(openapi_document(get_script_prefix()))


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Render the document. The usual viewers load scripts from other hosts."""
    document = openapi_document(get_script_prefix())
    context = {
        "title": document["info"]["title"],
        "description": render_markdown(document["info"]["description"]),
        "operations": list(operations(document)),
        "events": list(events(document)),
        "delivery": render_markdown(DELIVERY),
        "schemas": list(schemas(document)),
    }
    return render(request, "service/docs.html", context)
