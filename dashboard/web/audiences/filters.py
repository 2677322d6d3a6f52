"""Search, filters and order of the list of audiences, from and to its URL."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from dashboard.contract.audiences import VersionStatus
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.audiences import LiveStatus
from dashboard.ledger.queries.audience_list import (
    AUDIENCE_SORTS,
    DEFAULT_AUDIENCE_SORT,
    AudienceFilters,
    AudienceTally,
    page_options,
)
from dashboard.ledger.queries.filter_values import values_found
from dashboard.ledger.queries.pages import NOT_GIVEN
from dashboard.web.ui.columns import Column, Columns, ShownColumns
from dashboard.web.ui.density import density_param
from dashboard.web.ui.ignored_values import KnownValues
from dashboard.web.ui.query_params import clean_param, search_param
from dashboard.web.ui.saved_views import hint_param
from dashboard.web.ui.tables import Chip, FilterOption, Heading, choices, heading

AGENTS = ("yes", "no", NOT_GIVEN)
MAX_VALUES = 50
"""Of one filter. Our choice."""
FILTER_FIELDS = {"page": "pages", "live": "live", "status": "statuses", "agent": "agents"}
"""The query parameter of each filter, and its field of AudienceFilters."""
SORTS = ("name", "-live", "-updated")
"""The sortable columns, in the direction of the first click."""
COLUMNS = Columns(
    (
        Column("name", "Audience", sort="name"),
        Column("latest", "Latest version"),
        Column("live", "Live version", sort="live"),
        Column("status", "Live status"),
        Column("agent", "New page agent", classes="hide-when-medium"),
        Column("updated", "Updated", sort="updated", classes="numeric"),
        Column("created", "Created", classes="numeric"),
        Column("seen", "Last checked", classes="numeric"),
        Column("id", "Audience ID"),
    ),
    default=("name", "latest", "live", "status", "agent", "updated"),
)
DEFAULT_COLUMNS = COLUMNS.choose("")
KNOWN_VALUES = {
    "page": KnownValues("Page", find=partial(values_found, PageRecord, "page_id")),
    "live": KnownValues("Live status", {*LiveStatus}),
    "status": KnownValues(
        "Latest status",
        {*VersionStatus, NOT_GIVEN},
        partial(values_found, AudienceRecord, "latest_status"),
    ),
    "agent": KnownValues("New page agent", {*AGENTS}),
    "sort": KnownValues("Order", {*AUDIENCE_SORTS}),
}
"""The values of the list's filters."""


@dataclass(frozen=True)
class AudienceListQuery:
    """What the list shows: `?q= page= live= status= agent= sort= columns= density=`."""

    filters: AudienceFilters
    sort: str = ""
    """One of AUDIENCE_SORTS, or empty."""
    columns: ShownColumns = DEFAULT_COLUMNS
    density: str = ""
    """One of DENSITIES, or empty."""
    view: str = ""
    """The hint of the saved view that is shown: see `web/ui/saved_views.py`."""

    @classmethod
    def from_params(cls, params: QueryDict) -> "AudienceListQuery":
        """Parse the query string; unknown live statuses, agents and orders are dropped."""

        def values(name: str) -> tuple[str, ...]:
            cleaned = (clean_param(value) for value in params.getlist(name))
            return tuple(filter(None, dict.fromkeys(cleaned)))[:MAX_VALUES]

        sort = params.get("sort", "")
        pages = dict.fromkeys(value.replace("\0", "") for value in params.getlist("page"))
        filters = AudienceFilters(
            words=search_param(params),
            pages=tuple(filter(None, pages))[:MAX_VALUES],
            live=tuple(value for value in values("live") if value in [*LiveStatus]),
            statuses=values("status"),
            agents=tuple(value for value in values("agent") if value in AGENTS),
        )
        return cls(
            filters,
            sort if sort in AUDIENCE_SORTS else "",
            columns=COLUMNS.choose(params.get("columns", "")),
            density=density_param(params),
            view=hint_param(params),
        )

    @property
    def is_filtered(self) -> bool:
        """Whether audiences are filtered out, so that the total counts matches."""
        return self.filters != AudienceFilters()

    @property
    def order(self) -> str:
        """The order of the list: one of AUDIENCE_SORTS."""
        return self.sort or DEFAULT_AUDIENCE_SORT

    def url(self, **more: str | int) -> str:
        """Return the query string of this query, such as `?q=acme&live=changed`."""
        params: dict[str, Any] = {"q": self.filters.words}
        params |= {name: getattr(self.filters, field) for name, field in FILTER_FIELDS.items()}
        params |= {"sort": self.sort, "columns": self.columns.param}
        params |= {"density": self.density, "view": self.view} | more
        given = {name: value for name, value in params.items() if value not in ("", ())}
        return "?" + urlencode(given, doseq=True)

    def chips(self) -> list[Chip]:
        """Return every active filter, with the URL that removes it."""

        def without(**changes: Any) -> str:
            return replace(self, filters=replace(self.filters, **changes)).url()

        words = self.filters.words
        chips = [Chip("words", words, without(words=""))] if words else []
        for kind, field in FILTER_FIELDS.items():
            chosen = getattr(self.filters, field)
            for value in chosen:
                rest = tuple(one for one in chosen if one != value)
                chips.append(Chip(kind, value, without(**{field: rest})))
        return chips

    @cached_property
    def headings(self) -> dict[str, Heading]:
        """The columns that can be sorted by: `name`, `live`, `updated`."""

        def sorted_by(sort: str) -> str:
            return replace(self, sort=sort).url()

        return {sort.removeprefix("-"): heading(self.order, sort, sorted_by) for sort in SORTS}


@dataclass(frozen=True)
class PageOption:
    """A page that the list can be narrowed to."""

    page_id: str
    name: str
    is_chosen: bool


def list_filters(query: AudienceListQuery, tally: AudienceTally) -> dict[str, list[FilterOption]]:
    """Return the options of each filter but the page, with the number of audiences for each."""
    filters = query.filters

    def options(known: Any, column: str, chosen: tuple[str, ...]) -> list[FilterOption]:
        return choices(known, tally.by(column, filters), chosen)

    return {
        "live": options(LiveStatus, "live_status", filters.live),
        "status": options(VersionStatus, "latest_status", filters.statuses),
        "agent": options(AGENTS, "new_page_agent", filters.agents),
    }


def page_filter(query: AudienceListQuery, words: str) -> list[PageOption]:
    """Return the chosen pages, and some with these words in their names; two queries at most."""
    chosen = query.filters.pages
    found = page_options(words, chosen)
    return [PageOption(page_id, name or page_id, page_id in chosen) for page_id, name in found]
