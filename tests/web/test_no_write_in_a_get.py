"""A GET writes nothing but the service's data, and works on a read-only database."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import resolve

from tests.support.fake_service import FakeService
from tests.support.matrix import sampled
from tests.web.every_page import PAGES, PARTIALS, log_in_to_every_page

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

RECORDED = {
    *("pagerecord", "audiencerecord", "versionrecord", "subscriptionrecord", "listtotal"),
    *("publication", "feedentry", "servicestate"),
}
"""Tables of the ledger that record the service's data."""
SETTLES = ("version-publish", "operation")
"""Views that read the version of a publish with an unknown outcome, and may settle it."""
_WRITTEN = re.compile(r'(?:INSERT (?:OR IGNORE )?INTO|UPDATE|DELETE FROM) "(\w+)"')


@pytest.fixture
def mia(fake_service: FakeService) -> Client:
    """Log in Mia, who has every permission, with recorded data for every page."""
    return log_in_to_every_page(fake_service)


EVERY = [*((address, "") for addresses in PAGES.values() for address in addresses), *PARTIALS]
"""Every URL with its htmx target; "" is the whole page. A run opens each in one of two ways."""
WRITING = [(address, "") for name in ("page-list", "version-publish") for address in PAGES[name]]
"""URLs that write. They are always opened, to prove that the check sees writes."""


def get(mia: Client, address: str, target: str) -> Any:
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    response = mia.get(address, headers=headers)
    if response.streaming:
        b"".join(response)
    return response


@contextmanager
def read_only() -> Iterator[None]:
    """Make the database read-only."""
    is_sqlite = connection.vendor == "sqlite"
    on, off = (
        ("PRAGMA query_only = 1", "PRAGMA query_only = 0")
        if is_sqlite
        else ("SET default_transaction_read_only = on", "SET default_transaction_read_only = off")
    )
    with connection.cursor() as cursor:
        cursor.execute(on)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(off)


def test_every_page_opens_where_the_database_cannot_be_written(
    mia: Client, pytestconfig: pytest.Config
) -> None:
    mia.raise_request_exception = False
    half = sampled(EVERY, pytestconfig, turn=0, of=2)
    with read_only():
        statuses = {item: get(mia, *item).status_code for item in half}
    assert {item: status for item, status in statuses.items() if status >= 500} == {}


def test_a_get_writes_only_what_the_service_returned(
    mia: Client, pytestconfig: pytest.Config
) -> None:
    written = set()

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if match := _WRITTEN.match(sql):
            written.add((resolve(opened[0].partition("?")[0]).url_name, match[1]))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        for opened in (*WRITING, *sampled(EVERY, pytestconfig, turn=1, of=2)):
            get(mia, *opened)
    assert ("page-list", "ledger_pagerecord") in written
    others = {(view, table.removeprefix("ledger_")) for view, table in written}
    assert {other for other in others if other[1] not in RECORDED} == {SETTLES}
