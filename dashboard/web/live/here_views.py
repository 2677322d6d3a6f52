"""The view to which a tab reports its place. It responds with who else is there."""

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from dashboard.accounts.permissions import PUBLISH, may
from dashboard.live.models import Doing
from dashboard.live.presence import leave, report
from dashboard.review.runs import move_to
from dashboard.web.live.here import DOING, openable_place, who_is_at
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import int_param


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Target")
def here(request: Request) -> HttpResponse:
    """Show who else is at `place`. A POST first records that a tab is there, too.

    A POST without a place means that the tab is closed or shows something else. If htmx targets a
    row, the response is the mark of that row instead of the line.
    """
    if not settings.PRESENCE:
        raise Http404
    if request.method != "POST":
        return _show(request, openable_place(request, request.GET.get("place", "")))
    tab = request.POST.get("tab", "")
    if not (tab.isalnum() and tab.isascii() and len(tab) <= 36):
        raise Http404
    if not request.POST.get("place"):
        leave(request.user.pk, tab)
        return HttpResponse(status=204)
    place = openable_place(request, request.POST["place"])
    doing = request.POST.get("doing", "")
    is_denied = doing == Doing.DECIDING and not may(request, PUBLISH)
    if is_denied or doing not in DOING.get(place.partition(":")[0], ()):
        raise Http404
    is_idle = "idle" in request.POST
    report(
        request.user.pk,
        tab,
        place,
        Doing(doing),
        version_number=int_param(request.POST.get("version", "")) or None,
        is_idle=is_idle,
    )
    if not is_idle:
        move_to(request.user.pk, tab, place)
    return _show(request, place)


def _show(request: Request, place: str) -> HttpResponse:
    at = who_is_at(request, place)
    key = (request.htmx.target or "").removeprefix("here-")
    return render(request, "live/here.html", {"at": at, "key": "" if key == at.kind else key})
