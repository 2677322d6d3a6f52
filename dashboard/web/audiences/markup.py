"""Functions and filters of the templates under audiences/."""

from urllib.parse import quote

from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.ledger.models.audiences import LiveStatus
from dashboard.web.ui.markup import icon

LIVE_STATUSES = {
    LiveStatus.LIVE: ("Live", "st-live", "ok"),
    LiveStatus.NOT_LIVE: ("Not live", "st-todo", "plain"),
    LiveStatus.CHANGED: ("Unpublished changes", "st-changed", "info"),
    LiveStatus.IN_PROGRESS: ("In progress", "st-processing", "work"),
    LiveStatus.CANCELED: ("Latest canceled", "st-cancelled", "plain"),
}
AGENTS = {"yes": "Yes", "no": "No"}


def live_status_label(value: str) -> str:
    """Return the words of a live status."""
    return LIVE_STATUSES[LiveStatus(value)][0]


def live_status_badge(value: str) -> SafeString:
    """Render a live status: a shape and its words."""
    label, shape, tone = LIVE_STATUSES[LiveStatus(value)]
    return format_html('<span class="badge" data-tone="{}">{}{}</span>', tone, icon(shape), label)


def agent_label(value: str) -> str:
    """Return the words of a filter value of the new page agent."""
    return AGENTS.get(value, "Unknown")


def selection_value(*ids: str) -> str:
    """Return ids as the value of a check box, each quoted; the form of a release reads it."""
    return "/".join(quote(each, safe="") for each in ids)
