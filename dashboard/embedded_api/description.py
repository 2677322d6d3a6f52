"""The public documentation of the API: the OpenAPI document, and its HTML page."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import get_script_prefix
from django.views.decorators.http import require_safe

from dashboard.embedded_api.api import openapi_document
from dashboard.embedded_api.event_payloads import DELIVERY
from dashboard.json_api.description import render_docs, render_markdown


@login_not_required
@require_safe
def openapi(request: HttpRequest) -> JsonResponse:
    return JsonResponse(openapi_document(get_script_prefix()))


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    document, delivery = openapi_document(get_script_prefix()), render_markdown(DELIVERY)
    return render_docs(request, document, document_view="service-openapi", delivery=delivery)
