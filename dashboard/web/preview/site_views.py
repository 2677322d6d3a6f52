"""The setting for the site's URL pattern. It shows examples before it is saved."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard import clock
from dashboard.accounts.permissions import MANAGE_SITE, requires
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.operations import actor_name
from dashboard.previews.models import (
    PLACEHOLDERS,
    SitePattern,
    current_pattern,
    pattern_problem,
    site_link,
)
from dashboard.web.ui.htmx import Request

EXAMPLES = 3


@require_http_methods(["GET", "HEAD", "POST"])
@requires(MANAGE_SITE)
def site_pattern(request: Request) -> HttpResponse:
    """Set the pattern. A new one is shown with examples first; sending it again saves it."""
    pattern = request.POST.get("pattern", current_pattern()).strip()
    problem = pattern_problem(pattern) if pattern else ""
    records = AudienceRecord.objects.exclude(live_version_id="").order_by("-pk")[:EXAMPLES]
    links = [(record, site_link(pattern, record.page_id, record.audience)) for record in records]
    if not problem and pattern and not any(link.url for _, link in links):
        problem = "No live audience is known that it leads to, so there is no example."
    is_checked = request.POST.get("checked") == pattern
    if request.method == "POST" and not problem and (is_checked or not pattern):
        SitePattern.objects.create(
            pattern=pattern, changed_at=clock.now(), changed_by_name=actor_name(request.user)
        )
        messages.success(request, "Address of the site saved.")
        return redirect("site-pattern")
    context = {
        "pattern": pattern,
        "problem": problem if request.method == "POST" else "",
        "links": links if pattern and not problem else [],
        "placeholders": PLACEHOLDERS,
        "is_new": request.method == "POST" and not problem,
    }
    status = 422 if context["problem"] else 200
    return render(request, "preview/site.html", context, status=status)
