"""Functions and filters of the templates under pages/."""

from dashboard.contract.pages import PageItem
from dashboard.web.ui.markup import STATUSES


def page_status(value: str) -> str:
    """Return the label of a page's status; an unknown one has its own name."""
    label, _, _ = STATUSES.get(value, (value, "", ""))
    return "Unknown" if value == "none" else label


FLAG_LABELS = {
    "live": "Live",
    "not-live": "Not live",
    "changed": "Unpublished changes",
    "in-flight": "In progress",
}


def flag_label(value: str) -> str:
    """Return the label of an audience flag."""
    return FLAG_LABELS[value]


def footer_link_count(page: PageItem) -> int:
    """Count the links of all footer groups."""
    return sum(len(group.links or []) for group in page.footer_links or [])
