"""The export of comments: one line per comment, and per time a thread was resolved or reopened."""

from django.http import StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from dashboard.comments.queries import exported_comments
from dashboard.web.ui.csv import Cell, csv_response
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import MAX_TEXT_LENGTH

CELLS = (
    Cell("Thread", "thread_id"),
    Cell("On", "thread.kind"),
    Cell("Page", "thread.page_id"),
    Cell("Audience", "thread.audience_id"),
    Cell("Object", "thread.object_id"),
    Cell("Version", "thread.version_number"),
    Cell("Quote", "thread.quote"),
    Cell("State", lambda line: "open" if line.thread.is_open else "resolved"),
    Cell("Line", "kind"),
    Cell("Author", "author_name"),
    Cell("Written", "created_at"),
    Cell("Edited", "edited_at"),
    Cell("Deleted", "deleted_at"),
    Cell("Text", "body"),
)


@require_GET
def comment_export(request: Request) -> StreamingHttpResponse:
    """Download all comments, or those of `?place=`."""
    place = request.GET.get("place", "").replace("\0", "")[: 10 * MAX_TEXT_LENGTH]
    name = f"comments-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, CELLS, exported_comments(place))
