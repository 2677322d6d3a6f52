"""All audiences that match what a list is narrowed to, to be selected together."""

from django.http import QueryDict

from dashboard.ledger.queries.audience_list import matching_keys
from dashboard.ledger.queries.audiences import audiences_last_known
from dashboard.ledger.queries.operations import publishes_of_page
from dashboard.ledger.queries.pages import is_page_archived
from dashboard.releases.models import MAX_ITEMS
from dashboard.web.audiences.filters import AudienceListQuery
from dashboard.web.audiences.table import AudienceQuery, audience_rows, matching_rows

ON_PAGE = "in"
"""The query parameter that names the page whose own table the other parameters narrow."""

Selected = tuple[str, str]
"""The page's id and the audience's."""


def matching_audiences(query: QueryDict) -> list[Selected]:
    """Return the audiences that a list shows with this query string, in its order.

    The list of all audiences, or with `in=` the table of that page. At most one more than
    MAX_ITEMS, so that "more than 500" can be said.
    """
    limit = MAX_ITEMS + 1
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
        planned={},  # Nothing is selected or sorted by it, and the rows are not shown.
    )
    return [(page_id, row.audience_id) for row in matching_rows(rows, query) if row.audience_id]
