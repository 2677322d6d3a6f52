"""Hold one thread at a named point while another goes on, so that a race happens in every run.

    with held_at(before_statement("INSERT INTO", "ledger_pagerecord"), record_page, older):
        record_page(newer)
    assert PageRecord.objects.get().name == "newer"

The test needs transactions of its own (`django_db(transaction=True)`). SQLite has one writer: do
not write while a thread is held inside a transaction.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import httpx
from django.db import connection, connections

from tests.support.fake_service import FakeService

PATIENCE_S = 20
"""How long a thread is waited for; nothing waits this long unless the test fails."""

Reach = Callable[[], None]
Point = Callable[[Reach], None]
"""Called in the thread before it starts; arranges that it calls `reach` at the point."""


def before_statement(*texts: str, nth: int = 1) -> Point:
    """Return the point before the nth SQL statement that contains all the texts."""

    def arrange(reach: Reach) -> None:
        left = nth

        def wrapper(execute: Any, sql: str, *arguments: Any) -> Any:
            nonlocal left
            if all(text in sql for text in texts):
                left -= 1
                if left == 0:
                    reach()
            return execute(sql, *arguments)

        connection.execute_wrappers.append(wrapper)

    return arrange


def before_transaction(nth: int = 1) -> Point:
    """Return the point before the thread's nth transaction begins."""

    def arrange(reach: Reach) -> None:
        left, begin = nth, connection.set_autocommit

        def set_autocommit(autocommit: bool, *args: Any, **options: Any) -> None:
            nonlocal left
            left -= not autocommit
            if left == 0 and not autocommit:
                reach()
            begin(autocommit, *args, **options)

        connection.set_autocommit = set_autocommit

    return arrange


def before_commit(nth: int = 1) -> Point:
    """Return the point at which the thread's nth transaction has done everything but commit."""

    def arrange(reach: Reach) -> None:
        left, commit = nth, connection.commit

        def reach_and_commit() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                reach()
            commit()

        connection.commit = reach_and_commit

    return arrange


def before_response(service: FakeService, path: str, nth: int = 1) -> Point:
    """Return the point at which the service has done what was requested, but not responded."""

    def arrange(reach: Reach) -> None:
        left, answer = nth, service.answer

        def answer_later(request: httpx.Request) -> httpx.Response:
            nonlocal left
            response = answer(request)
            if path in request.url.path:
                left -= 1
                if left == 0:
                    reach()
            return response

        service.answer = answer_later

    return arrange


def begun(point: Point, function: Callable[..., Any], *args: Any) -> Future[Any]:
    """Start a function in a thread, and return once it has reached the point; it is not held.

    Use it for a thread that is about to wait for a lock that `held_at` has another one hold.
    """
    reached = Event()

    def run() -> Any:
        connections.close_all()
        try:
            point(reached.set)
            return function(*args)
        finally:
            connections.close_all()

    thread = ThreadPoolExecutor(1)
    future = thread.submit(run)
    thread.shutdown(wait=False)
    assert reached.wait(PATIENCE_S), "the thread did not reach the point"
    return future


@contextmanager
def held_at(point: Point, function: Callable[..., Any], *args: Any) -> Iterator[Future[Any]]:
    """Run a function in a thread up to the point; it goes on when the block ends.

    Yields the future of its result. Afterwards it is done: an error of the function is raised.
    Raises AssertionError if the function never reaches the point.
    """
    reached, released = Event(), Event()

    def reach() -> None:
        reached.set()
        assert released.wait(PATIENCE_S), "the test did not let the thread go on"

    def run() -> Any:
        # A new connection, so that what a point changes of it ends with the thread.
        connections.close_all()
        try:
            point(reach)
            return function(*args)
        finally:
            reached.set()
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(run)
        try:
            assert reached.wait(PATIENCE_S), "the thread did not reach the point"
            if future.done():
                future.result()
                raise AssertionError("the thread ended without reaching the point")
            yield future
        finally:
            released.set()
        future.result(PATIENCE_S)
