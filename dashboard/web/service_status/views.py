"""The service's deviations from its specification, and browsers' CSP reports."""

import json
import re
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST
from tzdata import IANA_VERSION

from dashboard import clock
from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, requires
from dashboard.client import APIError
from dashboard.ledger.deviations import BROWSER, ContractDeviation, record_browser_report
from dashboard.ledger.feed import delay_warning
from dashboard.ledger.models import DeviationRecord
from dashboard.limits import seconds_to_wait
from dashboard.service.reading import read_pages
from dashboard.web.ui.htmx import Request, render_partial, safe_return_url
from dashboard.web.ui.request_body import BodyTooLargeError, IncompleteBodyError, read_body

VIOLATION = "Blocked by the Content Security Policy"
MAX_REPORT_BYTES = 10_000
MAX_REPORTS_PER_MINUTE = 30
"""Limit for each user."""
FOR_ADMINISTRATORS = "API conformance is for administrators only."
_DIRECTIVE = re.compile(r"[a-z-]{1,40}")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(UPDATE_SUBSCRIPTION, refusal=FOR_ADMINISTRATORS)
def service_watch(request: Request) -> HttpResponse:
    """List the deviations, most recent first. A POST deletes them."""
    deviations = DeviationRecord.objects.all()
    if request.method == "POST":
        deviations.delete()
        messages.success(request, "Counts reset.")
        return redirect("service-watch")
    context = {
        "deviations": deviations,
        "zone_data": IANA_VERSION,
        "warnings": [*filter(None, (clock.warning(), delay_warning()))],
    }
    return render_partial(request, "service/watch.html", context)


@require_POST
def service_check(request: Request) -> HttpResponse:
    """Call the service once, and return to the page that got no response."""
    try:
        read_pages(limit=1)
    except APIError as error:
        messages.error(request, str(error))
    return redirect(safe_return_url(request, "next", reverse("overview")))


@csrf_exempt
@require_POST
def policy_report(request: Request) -> HttpResponse:
    """Record a CSP violation reported by a browser, without the user or the page's query string.

    Browsers post reports without a CSRF token. A forged report needs a login, and reports fill a
    bounded list of their own.
    """
    if wait := seconds_to_wait(f"reports:{request.user.pk}", at_most=MAX_REPORTS_PER_MINUTE):
        return HttpResponse(status=429, headers={"Retry-After": str(wait)})
    try:
        body = read_body(request, at_most=MAX_REPORT_BYTES)
    except BodyTooLargeError:
        return HttpResponse(status=413)
    except IncompleteBodyError:
        return HttpResponse(status=400)
    try:
        report = json.loads(body)["csp-report"]
        directive = str(report.get("effective-directive") or report["violated-directive"])
        blocked, page = str(report.get("blocked-uri", "")), str(report.get("document-uri", ""))
        url = urlsplit(blocked)
        origin = f"{url.scheme}://{url.netloc}" if url.netloc else blocked.partition(":")[0]
        path = urlsplit(page).path
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return HttpResponse(status=400)
    name = directive.partition(" ")[0]
    if not _DIRECTIVE.fullmatch(name):
        return HttpResponse(status=400)
    record_browser_report(ContractDeviation(BROWSER, VIOLATION, name, _plain(origin), _plain(path)))
    return HttpResponse(status=204)


def _plain(text: str) -> str:
    return text.replace("\0", "").encode(errors="replace").decode()[:200]
