"""What the service answers otherwise than its specification says, for administrators; and what
browsers report of our policy.
"""

import json
import re
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.ledger.differences import forget_differences, list_differences, note_differences
from dashboard.ledger.sightings import Sighting
from dashboard.web.http import Request, render_part
from dashboard.web.permissions import UPDATE_SUBSCRIPTION, demand

BROWSER, VIOLATION = "Browser", "Held back by the policy of our pages"
FOR_ADMINISTRATORS = (
    "How the service differs from its specification is for the group Administrators."
)
_DIRECTIVE = re.compile(r"[a-z-]{1,40}")


@require_http_methods(["GET", "HEAD", "POST"])
def service_watch(request: Request) -> HttpResponse:
    """List the differences, the last seen first; a POST begins to count anew."""
    demand(request, UPDATE_SUBSCRIPTION, refusal=FOR_ADMINISTRATORS)
    if request.method == "POST":
        forget_differences()
        messages.success(request, "Counting begins anew.")
        return redirect("service-watch")
    return render_part(request, "service/watch.html", {"differences": list_differences()})


@csrf_exempt
@require_POST
def policy_report(request: Request) -> HttpResponse:
    """Count what a person's browser held back. It says nothing of who, and of the page its path.

    The browser posts by itself, so no token of a form goes along; whoever sends made-up reports
    has to be logged in, and fills a bounded list.
    """
    # Ten thousand bytes and more.
    if len(request.headers.get("Content-Length", "")) > 4:
        return HttpResponse(status=413)
    try:
        report = json.loads(request.body)["csp-report"]
        directive = str(report.get("effective-directive") or report["violated-directive"])
        blocked, page = str(report.get("blocked-uri", "")), str(report.get("document-uri", ""))
        where = urlsplit(blocked)
        said = f"{where.scheme}://{where.netloc}" if where.netloc else blocked.partition(":")[0]
        path = urlsplit(page).path
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return HttpResponse(status=400)
    if not _DIRECTIVE.fullmatch(directive.partition(" ")[0]):
        return HttpResponse(status=400)
    place = directive.partition(" ")[0]
    note_differences([Sighting(BROWSER, VIOLATION, place, _plain(said), _plain(path))])
    return HttpResponse(status=204)


def _plain(text: str) -> str:
    return text.replace("\0", "").encode(errors="replace").decode()[:200]
