"""A GET writes nothing but the service's data, and works on a read-only database."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import AttemptResult
from tests.conftest import logged_in, person
from tests.support.fake_service import FakeService
from tests.support.matrix import sampled
from tests.support.seeding import (
    seed_delivery,
    seed_notification,
    seed_release,
    seed_subscription,
    seed_view,
)
from tests.web.activity.test_activity import operation
from tests.web.every_page import PAGES, PARTIALS, answer

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

RECORDED = {
    *("pagerecord", "audiencerecord", "versionrecord", "subscriptionrecord", "listtotal"),
    "outsidepublish",
}
"""Tables of the ledger that record the service's data."""
SETTLES = ("version-publish", "operation")
"""Opening a publish of unknown outcome reads its version, and may settle the outcome."""
_WRITTEN = re.compile(r'(?:INSERT (?:OR IGNORE )?INTO|UPDATE|DELETE FROM) "(\w+)"')


@pytest.fixture
def mia(fake_service: FakeService) -> Client:
    """Log in Mia, who may do everything, with two operations and an otherwise empty ledger."""
    fake_service.answer = answer
    seed_subscription()
    seed_delivery()
    seed_view(None)
    seed_release(1)
    seed_release(2, state="running", started_at=timezone.now())
    seed_release(3, state="finished", started_at=timezone.now(), finished_at=timezone.now())
    user = person("mia", "Publishers", "Administrators")
    seed_notification(user)
    operation(user, "key-done")
    operation(user, "key-unknown", ending=AttemptResult(Outcome.UNKNOWN))
    return logged_in(user)


EVERY = [*((address, "") for addresses in PAGES.values() for address in addresses), *PARTIALS]
"""Every URL with the target of htmx, "" for a whole page. A run opens each in one of two ways."""
WRITING = [(address, "") for name in ("page-list", "version-publish") for address in PAGES[name]]
"""Those that write, without which a watch that sees nothing would pass: always opened."""


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
        statuses = {each: get(mia, *each).status_code for each in half}
    assert {each: status for each, status in statuses.items() if status >= 500} == {}


def test_a_get_writes_only_what_the_service_returned(
    mia: Client, pytestconfig: pytest.Config
) -> None:
    written = set()

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if found := _WRITTEN.match(sql):
            written.add((resolve(opened[0].partition("?")[0]).url_name, found[1]))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        for opened in (*WRITING, *sampled(EVERY, pytestconfig, turn=1, of=2)):
            get(mia, *opened)
    assert ("page-list", "ledger_pagerecord") in written
    others = {(view, table.removeprefix("ledger_")) for view, table in written}
    assert {each for each in others if each[1] not in RECORDED} == {SETTLES}
