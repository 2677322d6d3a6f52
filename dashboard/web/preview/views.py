"""A page or an audience as visitors may see it. A preview runs no scripts and changes nothing."""

from typing import Any

from csp.decorators import csp_update
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from dashboard import clock
from dashboard.client import APIError
from dashboard.ledger.queries.audiences import find_version
from dashboard.previews.content import PageContent
from dashboard.previews.findings import page_findings
from dashboard.previews.models import current_pattern, site_link
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import poll_audience, read_page
from dashboard.text_diff import compare_texts
from dashboard.web.audiences.progress import version_in_progress
from dashboard.web.audiences.state import AudienceHead, head_of
from dashboard.web.ui.htmx import Request, is_moving, render_partial, wants_partial

# Each picture sets its own referrer policy. A header for the whole page would make our forms send
# `Origin: null`, which Django refuses.
allow_pictures: Any = csp_update({"img-src": ["https:"]})
METHODS = require_http_methods(["GET", "HEAD", "POST"])
"""A POST loads the pictures. The URL never does, so that a link doesn't, either."""


@METHODS
def page_preview(request: Request, page_id: str) -> HttpResponse:
    reading = read_page(page_id)
    content = PageContent(reading.value)
    return _show(request, content, reading=reading, page_reading=reading, head=None)


@METHODS
def audience_preview(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show the texts of the live and the latest version, or of `?version=` and `?compare=live`.

    The page is always read. The list of audiences is read only if it wasn't read lately, such as
    for another tab of the audience.
    """
    read_at = clock.now()
    response = run_concurrently(lambda: publishing_client().pages.get(page_id))
    reading = poll_audience(page_id, audience_id, is_moving=is_moving(request))
    head = head_of(page_id, audience_id, reading.value)
    context: dict[str, Any] = {
        "reading": reading,
        "head": head,
        "in_progress": version_in_progress(head, now=read_at),
        "site": site_link(current_pattern(), page_id, head.audience),
        **_texts(request, head),
    }
    try:
        context["page_reading"] = read_page(page_id, response=response, read_at=read_at)
    except APIError as error:
        return _show(request, None, page_error=error, **context)
    return _show(request, PageContent(context["page_reading"].value, head.audience), **context)


def _texts(request: Request, head: AudienceHead) -> dict[str, Any]:
    """Return the versions that the URL names, live before newer, and how their texts differ."""
    version_id = request.GET.get("version", "")
    ids = (head.page_id, head.audience_id, version_id)
    wanted = find_version(head.audience, *ids) if version_id else None
    version = wanted or head.latest or head.live
    is_compared = request.GET.get("compare") == "live" or not wanted
    sides = [head.live, version] if is_compared and not head.is_live(version) else [version]
    versions = [side for side in sides if side]
    texts = [version.supplementary_context for version in versions]
    return {
        "versions": versions,
        "difference": compare_texts(*texts) if len(texts) == 2 else None,
        "is_unknown": bool(version_id) and wanted is None,
    }


def _show(request: Request, content: PageContent | None, **context: Any) -> HttpResponse:
    is_update = wants_partial(request, ("preview",)) and "pictures" in request.GET
    has_pictures = request.method == "POST" or is_update
    context |= {
        "here": "pages",
        "tab": "preview",
        "content": content,
        "page": content and content.page,
        "findings": page_findings(content) if content else [],
        "has_pictures": has_pictures,
    }
    show: Any = allow_pictures(render_partial) if has_pictures else render_partial
    response: HttpResponse = show(request, "preview/preview.html", context, parts=("preview",))
    return response
