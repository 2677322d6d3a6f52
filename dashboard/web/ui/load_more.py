"""Lists with "Load more": the URL holds how much is loaded, for Back and reload."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.http import QueryDict

from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import int_param

PAGE_SIZE = 50
"""Rows that each step adds."""
MAX_SHOWN = 200
"""Rows that one URL shows at most: they are fetched in one request."""


def size_param(query: QueryDict) -> int:
    """Return the number of rows in `?show=`, between PAGE_SIZE and MAX_SHOWN."""
    return min(max(int_param(query.get("show", "")), PAGE_SIZE), MAX_SHOWN)


def browser_query(request: Request) -> QueryDict:
    """Return the query string of the URL that the browser shows."""
    return QueryDict(urlsplit(request.htmx.current_url_abs_path or "").query)


def params_for_all_rows(request: Request, start: Sequence[str], added: int) -> dict[str, str | int]:
    """Return the query parameters that show the earlier rows and the added ones.

    `start` names the parameters that say where the rows begin. If there are more rows than one
    URL shows, the parameters show the added ones alone.
    """
    query = browser_query(request)
    size = size_param(query) + added
    if size > MAX_SHOWN:
        query, size = request.GET, PAGE_SIZE
    params = {name: value for name in start if (value := query.get(name))}
    return params | ({"show": size} if size > PAGE_SIZE else {})
