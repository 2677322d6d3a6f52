"""A page or an audience as visitors may see it. A preview runs no scripts and changes nothing."""

from typing import Any

from csp.decorators import csp_update
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from dashboard import clock
from dashboard.client import APIError
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.previews.content import PageContent
from dashboard.previews.findings import page_findings
from dashboard.previews.models import current_pattern, site_link
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import ReadResult, poll_audience, read_page
from dashboard.web.audiences.progress import version_in_progress
from dashboard.web.audiences.state import head_of
from dashboard.web.preview.drawing import chosen_texts, not_drawn
from dashboard.web.ui.htmx import Request, is_moving, render_partial, wants_partial

WIDTHS = {"phone": 360, "tablet": 768, "desktop": 0}
"""Widths of the preview in pixels; 0 for all available width."""

# Each picture sets its own referrer policy. A header for the whole page would make our forms send
# `Origin: null`, which Django refuses.
allow_pictures: Any = csp_update({"img-src": ["https:"]})
METHODS = require_http_methods(["GET", "HEAD", "POST"])
"""A POST loads the pictures. The URL never does, so that a link doesn't, either."""


@METHODS
def page_preview(request: Request, page_id: str) -> HttpResponse:
    reading = read_page(page_id)
    return _show(request, {"reading": reading, "head": None}, reading)


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
    context = {
        "reading": reading,
        "head": head,
        "tab": "preview",
        "in_progress": version_in_progress(head, now=read_at),
        "texts": chosen_texts(head, request.GET),
        "site": site_link(current_pattern(), page_id, head.audience),
    }
    try:
        page_reading = read_page(page_id, response=response, read_at=read_at)
    except APIError as error:
        return _show(request, context | {"page_error": error}, None)
    return _show(request, context, page_reading, head.audience)


def _show(
    request: Request,
    context: dict[str, Any],
    page_reading: ReadResult[PageItem] | None,
    audience: Audience | None = None,
) -> HttpResponse:
    page = page_reading.value if page_reading else None
    content = PageContent.of(page, audience) if page else None
    width = request.GET.get("width", "")
    is_update = wants_partial(request, ("preview",)) and "pictures" in request.GET
    has_pictures = request.method == "POST" or is_update
    context |= {
        "here": "pages",
        "page_reading": page_reading,
        "page": page,
        "content": content,
        "findings": page_findings(content) if content else [],
        "not_drawn": not_drawn(content, of_audience=audience is not None) if content else {},
        "width": width if width in WIDTHS else "phone",
        "widths": WIDTHS,
        "hidden": request.GET.getlist("hide"),
        "has_pictures": has_pictures,
        "hosts": sorted({picture.host for picture in content.pictures} - {""}) if content else [],
    }
    show: Any = allow_pictures(render_partial) if has_pictures else render_partial
    response: HttpResponse = show(request, "preview/preview.html", context, parts=("preview",))
    return response
