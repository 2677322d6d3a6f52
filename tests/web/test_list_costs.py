"""The queries and URL look-ups of a list do not grow with its length."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls.resolvers import URLResolver

from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.models import Audience, Page, Person
from tests.support import wire
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db
MOST_QUERIES = 14
"""Four of them are for the session, the user and two permissions. One each finds planned versions,
finds the saved views of the tabs and the sidebar, counts unread notifications, reads the end of the
feed, and finds who else has the audiences open. A page also finds whether its viewer follows it."""


def pages(count: int) -> str:
    Page.objects.bulk_create(
        Page(tenant=default_tenant(), name=f"Page {n}", title="A page", brand_id="brand_1")
        for n in range(count)
    )
    return "/pages/"


def pages_searched(count: int) -> str:
    seed_pages(*(wire.page(pageId=f"page_{n}", name=f"Page {n}") for n in range(count)))
    return "/pages/?q=page&status=published&sort=name"


def people(count: int) -> str:
    Person.objects.bulk_create(
        Person(tenant=default_tenant(), name=f"Person {n}", email=f"{n}@people.example")
        for n in range(count)
    )
    return "/people/"


def audiences(count: int) -> str:
    page = Page.objects.create(
        tenant=default_tenant(), name="A page", title="A page", brand_id="brand_1"
    )
    Audience.objects.bulk_create(
        Audience(tenant=default_tenant(), page=page, computed_name=f"Audience {n}")
        for n in range(count)
    )
    return f"/pages/{page.pk}/?show=100"


def all_audiences(count: int) -> str:
    for page in range(5):
        items = (wire.audience(audienceId=f"aud_{page}_{n}") for n in range(count // 5))
        seed_audiences(*items, page_id=f"page_{page}")
    return "/audiences/?q=aud&live=changed&sort=name"


LISTS = [pages, pages_searched, people, audiences, all_audiences]


@contextmanager
def queries_of_ours() -> Iterator[list[str]]:
    """Yield a list that collects queries from outside the embedded API."""
    created: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        frames = traceback.walk_stack(None)
        if not any("/embedded_api/" in frame.f_code.co_filename for frame, _ in frames):
            created.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield created


def queries_for(browser: Client, address: str) -> list[str]:
    """Return the queries of the second view of a list."""
    rows_of(browser, address)
    with queries_of_ours() as queries:
        rows_of(browser, address)
    return queries


def rows_of(browser: Client, address: str) -> int:
    """Open a list and check that it has rows; return their number."""
    answer = browser.get(address)
    assert answer.status_code == 200
    rows = answer.text.count('<th scope="row"')
    assert rows >= 10, address
    return rows


@pytest.mark.parametrize("fill", LISTS)
def test_a_longer_list_makes_no_more_queries(
    as_publisher: Client, fill: Callable[[int], str]
) -> None:
    short = queries_for(as_publisher, fill(25))
    assert len(short) <= MOST_QUERIES, short
    longer = queries_for(as_publisher, fill(75))
    assert len(longer) == len(short), longer


@pytest.mark.parametrize("fill", LISTS)
def test_a_longer_list_resolves_no_more_urls(
    as_publisher: Client, fill: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    look_up = URLResolver._reverse_with_prefix  # type: ignore[attr-defined]

    def noted(self: URLResolver, name: str, *args: Any, **kwargs: Any) -> Any:
        looked_up.append(name)
        return look_up(self, name, *args, **kwargs)

    monkeypatch.setattr(URLResolver, "_reverse_with_prefix", noted)

    def look_ups_for(count: int) -> list[str]:
        address = fill(count)
        rows_of(as_publisher, address)
        looked_up.clear()
        rows_of(as_publisher, address)
        return sorted(looked_up)

    assert look_ups_for(10) == look_ups_for(40)
