"""Audiences that were selected in a list: the check boxes' values, and all that match."""

from urllib.parse import unquote

from django.http import QueryDict
from django.urls import NoReverseMatch, reverse

from dashboard.ledger.queries.audience_list import matching_keys
from dashboard.ledger.queries.audiences import audiences_last_known
from dashboard.ledger.queries.operations import publishes_of_page
from dashboard.ledger.queries.pages import is_page_archived
from dashboard.web.audiences.filters import AudienceListQuery
from dashboard.web.audiences.table import AudienceQuery, audience_rows, matching_rows

MAX_SELECTED = 500
"""Audiences that can be selected at once: the items of one release. Source: DESIGN.md."""
ON_PAGE = "in"
"""The query parameter that names the page whose own table the other parameters narrow."""

Selected = tuple[str, str]
"""The page's id and the audience's."""


def release_form_url() -> str:
    """Return the URL to which a selection is sent; empty if releases are not installed."""
    try:
        return reverse("release-new")
    except NoReverseMatch:
        return ""


def selected_audiences(form: QueryDict) -> list[Selected]:
    """Return the audiences that a posted form selects, each once, in the order of the form.

    `audience` has one value for each; or, with `all_matching`, all that match the query string in
    `query`. At most one more than MAX_SELECTED. Values that are no check box's are left out.
    """
    if form.get("all_matching"):
        return matching_audiences(QueryDict(form.get("query", "").removeprefix("?")))
    found = dict.fromkeys(filter(None, map(parse_value, form.getlist("audience"))))
    return [*found][: MAX_SELECTED + 1]


def parse_value(value: str) -> Selected | None:
    """Return the audience of a check box's value (`selection_value`), or None if it is none."""
    page_id, separator, audience_id = value.partition("/")
    parts = unquote(page_id), unquote(audience_id)
    is_valid = separator and all(parts) and "\0" not in "".join(parts)
    return parts if is_valid else None


def matching_audiences(query: QueryDict) -> list[Selected]:
    """Return the audiences that a list shows with this query string, in its order.

    The list of all audiences, or with `in=` the table of that page. At most one more than
    MAX_SELECTED, so that "more than 500" can be said.
    """
    limit = MAX_SELECTED + 1
    if page_id := query.get(ON_PAGE, "").replace("\0", ""):
        return _matching_on_page(page_id, AudienceQuery.from_params(query))[:limit]
    listed = AudienceListQuery.from_params(query)
    return matching_keys(listed.filters, sort=listed.order, limit=limit)


def _matching_on_page(page_id: str, query: AudienceQuery) -> list[Selected]:
    audiences = [record.audience for record in audiences_last_known(page_id)]
    rows = audience_rows(
        page_id,
        audiences,
        is_page_archived=is_page_archived(page_id),
        publishes=publishes_of_page(page_id),
    )
    return [(page_id, row.audience_id) for row in matching_rows(rows, query) if row.audience_id]
