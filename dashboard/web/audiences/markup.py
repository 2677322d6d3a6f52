"""Functions and filters of the templates under audiences/."""

from urllib.parse import quote

from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.contract.audiences import VersionStatus
from dashboard.ledger.models.objects import LIVE, LiveStatus
from dashboard.ledger.queries.pages import NOT_GIVEN
from dashboard.ledger.states import OperationState, VersionState, state_label, version_state
from dashboard.web.ui.markup import icon

LIVE_STATUSES: dict[str, tuple[str, str, str]] = {
    LIVE: VersionState.LIVE.badge,
    LiveStatus.NOT_LIVE: ("Not live", "st-todo", "plain"),
    LiveStatus.UP_TO_DATE: ("Up to date", "st-live", "ok"),
    LiveStatus.CHANGED: ("Unpublished changes", "st-changed", "info"),
    LiveStatus.IN_PROGRESS: OperationState.IN_PROGRESS.badge,
    LiveStatus.CANCELED: ("Latest canceled", "st-cancelled", "plain"),
    LiveStatus.ROLLED_BACK: VersionState.ROLLED_BACK.badge,
    LiveStatus.REJECTED: ("Rejected", "st-rejected", "warn"),
    LiveStatus.REJECTED_FIRST: ("Rejected", "st-rejected", "warn"),
    # A flag of pages and of their tables.
    "in-flight": OperationState.IN_PROGRESS.badge,
}
AGENTS = {"yes": "Yes", "no": "No"}


def live_status_label(value: str) -> str:
    return LIVE_STATUSES[value][0]


def live_status_badge(value: str) -> SafeString:
    label, shape, tone = LIVE_STATUSES[value]
    return format_html('<span class="badge" data-tone="{}">{}{}</span>', tone, icon(shape), label)


def state_of_status(status: str) -> str:
    """Return the state of a latest version with this status. A published one is live."""
    return version_state(status, is_live=status == VersionStatus.PUBLISHED)


def version_status_label(status: str) -> str:
    return state_label(state_of_status(status))


def latest_status_label(status: str) -> str:
    return "No version" if status == NOT_GIVEN else version_status_label(status)


def agent_label(value: str) -> str:
    return AGENTS.get(value, "Unknown")


def selection_value(*ids: str) -> str:
    """Return quoted ids as the value of a check box, for `releases/selection.py`."""
    return "/".join(quote(part, safe="") for part in ids)
