"""The rows of a list that a URL shows, and the response with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.http import HttpResponse
from django.shortcuts import render
from django_htmx.http import replace_url, reswap, retarget

from dashboard.contract.resource import UnreadableValue
from dashboard.web.lists.state import ListState
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.query_params import PAGE_SIZE

Row = TypeVar("Row")


@dataclass(frozen=True)
class Window(Generic[Row]):
    """Some rows of a list, and how many there are in all."""

    items: Sequence[Row]
    total: int
    """Number of rows in the list, or of matches."""
    before: int = 0
    """Number of rows before these."""
    next_url: str = ""
    """Query string of the next rows; empty if there are none."""
    is_cut: bool = False
    """Whether the service has more rows but sent no cursor."""
    unreadable: Sequence[UnreadableValue] = ()

    @property
    def loaded_count(self) -> int:
        """The number of loaded rows, including those before these."""
        return self.before + len(self.items) + len(self.unreadable)

    @property
    def next_count(self) -> int:
        """The maximum number of rows that "load more" adds."""
        return min(PAGE_SIZE, max(self.total - self.loaded_count, 1))


def render_list(
    request: Request,
    template: str,
    context: dict[str, Any],
    *,
    state: ListState,
    added: int,
    parts: tuple[str, ...] = ("more",),
) -> HttpResponse:
    """Render a list or the partial that htmx targets, and update the URL in the browser.

    `added` is the number of rows that "Load more" adds. Its partial is "more" or "rows".
    """
    target = request.htmx.target
    context["are_added"] = target == "rows"
    response = render_partial(request, template, context, parts=parts)
    if target == "results":
        # A form also sends its empty fields. Show the URL without them.
        return replace_url(response, state.saved.url)
    if target in ("more", "rows"):
        return replace_url(response, state.url_of_loaded(request, added))
    return response


def render_all_results(request: Request, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render all results, even if htmx targets a smaller partial."""
    response = render(request, f"{template}#results", context | {"are_added": False})
    return reswap(retarget(response, "#results"), "outerHTML")
