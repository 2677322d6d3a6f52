"""One cell of the matrix: one fault of one operation on one page."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.service.client import close_publishing_client
from tests.faults.kinds import Kind
from tests.faults.pages import READS, WRITES, Reads, Writes
from tests.faults.service import broken
from tests.support import wire
from tests.support.html import text
from tests.support.matrix import covering
from tests.support.seeding import seed_audiences, seed_pages, seed_subscription

LIMIT_S = 0.6
"""Time limit of a call in the matrix, enough to connect and send on a busy machine."""
CALLS = 2
"""Number of calls of the broken operation that a page may wait for in sequence."""
OWN_S = 15.0
"""Time that our own code may take for a page, on a machine that is busy with other tests."""

MISSING = (Kind.NOT_THERE, Kind.GONE)

Fault = TypeVar("Fault")


def faults_of(
    page: Reads | Writes, cells: list[tuple[Reads | Writes, Fault]], config: pytest.Config
) -> list[Fault]:
    """Return the faults to try on a page.

    In a run, each page has at least one, and each fault is tried on one page. With `--exhaustive`,
    every page has all faults that apply to it.
    """
    if config.getoption("exhaustive"):
        return [fault for item, fault in cells if item is page]
    taken = covering(cells, set, config.option.matrix_seed)
    return [fault for item, fault in taken if item is page]


@contextmanager
def undone() -> Iterator[None]:
    """Undo everything that a cell does."""
    broken.sent.clear()
    try:
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
    finally:
        cache.clear()
        close_publishing_client()


def remember_everything() -> None:
    """Fill the ledger with everything that the pages of the matrix show."""
    seed_pages(wire.page())
    seed_audiences(wire.audience())
    seed_subscription()


def words_of(response: Any) -> str:
    """Return the visible text, or the whole text of a streamed export."""
    body = response.getvalue() if response.streaming else response.content
    return text(body.decode())


def alike(page: Reads | Writes) -> Sequence[Reads | Writes]:
    """Return the pages among which each fault is tried once in a run."""
    return READS if isinstance(page, Reads) else WRITES


def meet(client: Client, page: Reads | Writes, kind: Kind, sentence: str) -> None:
    """Open a page, or send its form, while its operation fails."""
    if isinstance(page, Reads):
        read(client, page, kind, sentence)
    else:
        write(client, page, kind, sentence)


def read(client: Client, page: Reads, kind: Kind, sentence: str) -> None:
    """Open a page while its operation fails, and check what it says."""
    broken.operation, broken.only_changes = page.operation, False
    start = time.monotonic()
    response = client.get(page.address)
    words = words_of(response)
    assert time.monotonic() - start < CALLS * LIMIT_S + OWN_S
    assert broken.sent, "the fault was never met"
    if kind is Kind.NONE or page.survives:
        assert response.status_code == 200, words
    elif kind in MISSING:
        status, sentence = (kind is Kind.GONE and page.gone) or page.not_there
        assert response.status_code == status, words
        assert sentence in words
    elif page.is_remembered:
        assert response.status_code == 200, words
        assert "last known" in words
        assert "Try again" in words or "Read again" in words
    else:
        assert response.status_code == kind.value.status, words
        assert kind.value.title in words
        assert "Try again" in words
    assert sentence in words or page.survives or kind in MISSING, words


def write(client: Client, form: Writes, kind: Kind, sentence: str) -> None:
    """Send a form while its operation fails, and check the record and the page."""
    broken.operation, broken.only_changes = form.operation, True
    start = time.monotonic()
    response = form.send(client)
    words = words_of(response)
    assert time.monotonic() - start < CALLS * LIMIT_S + OWN_S
    assert len(broken.sent) <= 1, "a write was sent twice"
    assert response.status_code in {200, 409, 422, 502, 503, 504}, words
    operation = Operation.objects.get()
    assert operation.outcome == kind.value.outcome, words
    if sentence:
        record = words_of(client.get(f"/activity/{operation.operation_key}/"))
        assert sentence in record, record
