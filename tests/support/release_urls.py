"""The URLs of the dashboard, with a view that shows what a list of audiences was posted with."""

from django.http import HttpRequest, JsonResponse
from django.urls import path

from config.urls import *  # noqa: F403
from config.urls import urlpatterns as ours
from dashboard.web.audiences.selection import selected_audiences


def received(request: HttpRequest) -> JsonResponse:
    """Return the selected audiences, and the button that was pressed."""
    return JsonResponse({"selected": selected_audiences(request.POST), **request.POST.dict()})


urlpatterns = [path("releases/new/", received, name="release-new"), *ours]
