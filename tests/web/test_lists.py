"""What every list does by its definition, whatever that declares."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Q
from django.http import QueryDict
from django.test import Client

from config.settings import BASE_DIR
from dashboard.web.activity.filters import ACTIVITY, OUTSIDE
from dashboard.web.approvals.listing import APPROVALS
from dashboard.web.audiences.filters import AGENT, AUDIENCES
from dashboard.web.audiences.table import AUDIENCES_OF_PAGE
from dashboard.web.lists.columns import Column, Columns, no_cell
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import Choice, Day, Filter
from dashboard.web.lists.state import ListState
from dashboard.web.notifications.delivery_views import DELIVERIES
from dashboard.web.pages.filters import PAGES
from dashboard.web.people.query import PEOPLE
from dashboard.web.releases.listing import RELEASES
from dashboard.web.webhooks.listing import WEBHOOKS
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.seeding import seed_audiences
from tests.support.templates import environment
from tests.web.every_page import answer

LISTS = {
    "activity": ACTIVITY,
    "outside": OUTSIDE,
    "approvals": APPROVALS,
    "audiences": AUDIENCES,
    "audiences of a page": AUDIENCES_OF_PAGE,
    "deliveries": DELIVERIES,
    "pages": PAGES,
    "people": PEOPLE,
    "releases": RELEASES,
    "webhooks": WEBHOOKS,
}
every_list = pytest.mark.parametrize("definition", LISTS.values(), ids=LISTS)
COLUMNS_OF = {"/pages/": PAGES, "/audiences/": AUDIENCES, "/people/": PEOPLE}
SIZE = Choice(
    *("size", "Size"),
    several=True,
    values=("small", "large"),
    label_of=str.capitalize,
    column="size",
)
READS_OF_OTHER_PAGES = {
    *("conversations/snapshot.py", "publishing/dialog.py", "releases/progress.py"),
    "live/views.py",
}
"""Modules that read a parameter of the same name for a page that isn't a list."""


def value_of(a_filter: Filter) -> str:
    """Return a valid value of a filter."""
    if isinstance(a_filter, Day):
        return "2026-03-12"
    return str(next(iter(a_filter.values), "any")) if isinstance(a_filter, Choice) else "any"


def full_state(definition: ListDefinition) -> ListState:
    """Return a list state with a value for each filter."""
    params = QueryDict(mutable=True)
    for item in definition.narrowing:
        params[item.param] = value_of(item)
    return ListState.parse(definition, params)


@every_list
def test_an_empty_value_filters_nothing(definition: ListDefinition) -> None:
    query = "&".join(f"{item.param}=&{item.param}=%00" for item in definition.narrowing)
    state = ListState.parse(definition, QueryDict(query))
    assert not state.is_filtered
    assert (state.chips, state.condition, state.url()) == ([], Q(), "?")


@every_list
def test_paging_and_sorting_keep_every_filter(definition: ListDefinition) -> None:
    state = full_state(definition)
    assert all(state.chosen.values())
    urls = [heading.url for heading in state.headings().values()]
    urls += [state.url_from(50)] if definition.start else []
    for url in urls:
        again = ListState.parse(definition, QueryDict(url.removeprefix("?")))
        assert again.chosen == state.chosen, url


@every_list
def test_a_chip_removes_its_filter_alone(definition: ListDefinition) -> None:
    state = full_state(definition)
    for chip in state.chips:
        rest = ListState.parse(definition, QueryDict(chip.url.removeprefix("?")))
        assert rest.chosen == {**state.chosen, chip.filter: ()}


@every_list
def test_every_heading_changes_the_order_and_back(definition: ListDefinition) -> None:
    state = ListState.parse(definition, QueryDict())
    for first, heading in state.headings().items():
        sorted_once = ListState.parse(definition, QueryDict(heading.url.removeprefix("?")))
        assert sorted_once.order != state.order
        again = QueryDict(sorted_once.headings()[first].url.removeprefix("?"))
        assert ListState.parse(definition, again).order not in ("", sorted_once.order)


@every_list
def test_a_saved_query_opens_the_same_list(definition: ListDefinition) -> None:
    state = full_state(definition)
    query = QueryDict(state.query)
    saved = QueryDict(definition.saved_query(query))
    assert ListState.parse(definition, saved).chosen == state.chosen
    assert definition.saved_query(saved) == definition.saved_query(query)


@pytest.mark.django_db
@pytest.mark.parametrize(("url", "definition"), COLUMNS_OF.items(), ids=COLUMNS_OF)
def test_every_column_has_a_cell(
    as_viewer: Client, fake_service: FakeService, url: str, definition: ListDefinition
) -> None:
    fake_service.answer = answer
    seed_audiences(wire.audience())
    assert definition.columns
    names = [column.name for column in definition.columns.all]
    page = as_viewer.get(url, {"columns": ",".join(names)}).text
    rows = [row for row in page.split("<tr ")[1:] if 'role="rowheader"' in row]
    assert rows
    assert {row.count("<td ") for row in rows} == {len(names) - 1}


def test_an_unknown_column_fails_loudly() -> None:
    with pytest.raises(LookupError, match="size"):
        no_cell(Column("size", "Size"))
    with pytest.raises(LookupError, match="size"):
        Columns((Column("name", "Name"),), default=("name", "size"))


def test_an_export_of_an_unknown_column_fails_loudly() -> None:
    with pytest.raises(KeyError):
        assert replace(AUDIENCES, csv=("size",)).cells


@pytest.mark.parametrize("definition", COLUMNS_OF.values(), ids=COLUMNS_OF)
def test_every_column_is_exported(definition: ListDefinition) -> None:
    assert definition.columns
    assert {column.csv for column in definition.columns.all} <= {*definition.cells}


def test_an_undeclared_filter_fails_loudly() -> None:
    state = ListState.parse(WEBHOOKS, QueryDict())
    reads: list[Callable[[], Any]] = [lambda: state["agent"], lambda: state.value(AGENT)]
    for read in reads:
        with pytest.raises(KeyError):
            read()


def test_a_new_filter_and_column_are_one_declaration_each() -> None:
    assert AUDIENCES.columns
    size = Column("size", "Size", sort="-size", value="size")
    columns = (*AUDIENCES.columns.all, size)
    definition = replace(
        AUDIENCES,
        filters=(*AUDIENCES.filters, SIZE),
        columns=Columns(columns, AUDIENCES.columns.default),
    )
    params = QueryDict("size=large&size=huge&columns=name,size&sort=size&after=50")
    state = ListState.parse(definition, params)
    macros = environment().get_template("lists/macros.html").module
    options = SIZE.options({"large": 3}, state.values(SIZE))
    assert state.condition == Q(size__in=("large",))
    assert definition.saved_query(params) == "size=huge&size=large&sort=size&columns=name%2Csize"
    assert "Remove filter: Size: Large" in text(str(macros.chips(state)))  # type: ignore[attr-defined]
    assert "Large 3" in text(str(macros.menu_filter(SIZE, options)))  # type: ignore[attr-defined]
    assert definition.cells == [*AUDIENCES.cells, size.csv]
    headings = elements(str(macros.column_headings(state)), "th")  # type: ignore[attr-defined]
    assert [item.attributes["aria-sort"] for item in headings] == ["none", "ascending"]


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("agent", {"dashboard/web/audiences/filters.py", "templates/audiences/_list_macros.html"}),
        ("brand", {"dashboard/web/pages/filters.py", "templates/pages/_row.html"}),
        ("outcome", {"dashboard/web/activity/filters.py"}),
    ],
)
def test_a_filter_or_column_touches_two_files(name: str, files: set[str]) -> None:
    named = re.compile(rf"""(Column|[Cc]hoice\w*)\(\s*\*?\(?"{name}"|column\.name == "{name}\"""")
    sources = [*BASE_DIR.glob("dashboard/web/**/*.py"), *BASE_DIR.glob("templates/**/*.html")]
    readers = {
        str(path.relative_to(BASE_DIR)) for path in sources if named.search(path.read_text())
    }
    assert readers == files


def test_only_the_definition_reads_list_parameters() -> None:
    params = {item.param for definition in LISTS.values() for item in definition.narrowing}
    read = re.compile(
        rf"""\b(?:GET|params|query)(?:\.get(?:list)?\(|\[)["'](?:{"|".join(sorted(params))})["']"""
    )
    web = Path(BASE_DIR / "dashboard/web")
    modules = {
        str(path.relative_to(web)) for path in web.rglob("*.py") if read.search(path.read_text())
    }
    assert modules == READS_OF_OTHER_PAGES


def test_no_list_of_the_ledger_needs_a_distinct() -> None:
    for definition in (ACTIVITY, AUDIENCES, PAGES, WEBHOOKS):
        assert "DISTINCT" not in str(full_state(definition).find().query).upper()
