"""One audience: what it sets for itself, beside what is in effect."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from dashboard.client import APIError
from dashboard.contract.pages import PageItem
from dashboard.ledger.models import Operation
from dashboard.ledger.queries.operations import publishes_of
from dashboard.ledger.queries.pages import page_last_known
from dashboard.ledger.receiver import last_reported_publish
from dashboard.web.audience_fields import metadata_rows, override_rows
from dashboard.web.audience_head import AudienceHead, head_of
from dashboard.web.http import Request, render_part
from dashboard.web.publishers import publish_behind
from dashboard.web.readings import read_audience, read_page

METADATA_VIEWS = ("set", "differs", "all")


@require_GET
def audience_detail(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show one audience; `?metadata=` chooses the fields set here, those that differ, or all."""
    reading = read_audience(page_id, audience_id)
    found = reading.value
    head = head_of(page_id, audience_id, found)
    chosen = request.GET.get("metadata", "")
    rows = metadata_rows(found.audience)
    page = _page(page_id, may_ask=reading.is_live)
    context = {
        "here": "pages",
        "tab": "overview",
        "reading": reading,
        "head": head,
        "audience": found.audience,
        "overrides": override_rows(found.audience, page),
        "page_known": page is not None,
        "metadata_view": chosen if chosen in METADATA_VIEWS else "set",
        "metadata": {
            "set": [row for row in rows if row.is_set],
            "differs": [row for row in rows if row.differs],
            "all": rows,
        },
        "published_by": _published_by(head),
        "reported": last_reported_publish(audience_id),
    }
    return render_part(request, "audiences/detail.html", context, parts=("metadata",))


def _page(page_id: str, *, may_ask: bool) -> PageItem | None:
    """Return the page as last seen; where it never was, ask for it, once."""
    if record := page_last_known(page_id):
        return record.page
    try:
        return read_page(page_id).value if may_ask else None
    except APIError:
        return None  # the column says so; the audience itself can be shown


def _published_by(head: AudienceHead) -> Operation | None:
    """Return the operation that published the live version from here, if one did."""
    if head.live is None:
        return None
    publishes = publishes_of(head.page_id, head.audience_id)
    return publish_behind(head.live, publishes.filter(version_id=head.live.version_id))
