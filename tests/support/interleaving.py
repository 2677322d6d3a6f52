"""Hold one thread at a point while another continues, so that a race happens in every run.

    with held_at(before_statement("INSERT INTO", "ledger_pagerecord"), record_page, older):
        record_page(newer)
    assert PageRecord.objects.get().name == "newer"

The test needs its own transactions (`django_db(transaction=True)`). SQLite has one writer, so
don't write while a thread is held inside a transaction.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from threading import Event, Semaphore, Thread, current_thread
from typing import Any

import httpx
from django.db import connection, connections

from tests.support.fake_service import FakeService

PATIENCE_S = 60
"""Longest wait for a thread. Only a failing test waits this long."""

Reach = Callable[[], None]
Point = Callable[[Reach], None]
"""Called in the thread before the function. Makes the thread call `reach` at the point."""


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


def between_transactions() -> Point:
    """Return each point before a transaction, or before a statement outside one."""

    def arrange(reach: Reach) -> None:
        begin = connection.set_autocommit

        def wrapper(execute: Any, sql: str, *arguments: Any) -> Any:
            if connection.get_autocommit() and not sql.startswith("BEGIN"):
                reach()
            return execute(sql, *arguments)

        def set_autocommit(autocommit: bool, *args: Any, **options: Any) -> None:
            if not autocommit:
                reach()
            begin(autocommit, *args, **options)

        connection.execute_wrappers.append(wrapper)
        connection.set_autocommit = set_autocommit

    return arrange


def before_commit(nth: int = 1) -> Point:
    """Return the point where the thread's nth transaction has done everything but commit."""

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
    """Return the point where the service has handled the request but not responded."""

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
    """Start a function in a thread, and return once it reaches the point; don't hold it there.

    Use it for a thread that is about to wait for a lock of a thread in `held_at`.
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


def is_anyone_waiting() -> bool:
    """Return whether a thread waits for a lock of another, on PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])


@contextmanager
def held_at(point: Point, function: Callable[..., Any], *args: Any) -> Iterator[Future[Any]]:
    """Run a function in a thread up to the point, and continue it when the block ends.

    Yields the future of its result, which is done after the block. Raises the function's error, and
    AssertionError if the function never reaches the point.
    """
    reached, released = Event(), Event()

    def reach() -> None:
        reached.set()
        assert released.wait(PATIENCE_S), "the test did not let the thread go on"

    def run() -> Any:
        # A new connection, so that what a point changes on it ends with the thread.
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


class KilledError(BaseException):
    """Raised to end a thread as if its process were killed."""


@dataclass(eq=False)
class Actor:
    """A function in its own thread, which continues when it is its turn."""

    name: str
    thread: Thread
    is_killed: bool = False
    error: BaseException | None = None
    turn: Semaphore = field(default_factory=lambda: Semaphore(0))


class Turns:
    """Runs functions in threads, one at a time, in random order.

    The same seed gives the same order. A thread may lose its turn where it begins a transaction,
    and where the test calls `reach` for it.
    """

    def __init__(self, random: Random, *, on_turn: Callable[[Actor | None], None]) -> None:
        self._random, self._on_turn = random, on_turn
        self._is_over = Semaphore(0)
        self.actors: list[Actor] = []
        """Actors that have begun and not ended, in the order in which they began."""
        self.current: Actor | None = None

    def begin(self, name: str, function: Callable[[], object]) -> Actor:
        """Start a function in a thread that waits for its first turn."""

        def run() -> None:
            connections.close_all()
            connection.ensure_connection()
            between_transactions()(lambda: self.reach(0.2))
            self._is_over.release()
            try:
                self._wait_for_turn(actor)
                function()
            except BaseException as error:  # noqa: BLE001  # raised by `go_on`
                actor.error = error
            finally:
                connections.close_all()
                self.actors.remove(actor)
                self._is_over.release()

        actor = Actor(name, Thread(target=run, daemon=True))
        self.actors.append(actor)
        actor.thread.start()
        assert self._is_over.acquire(timeout=PATIENCE_S), f"{name} did not start"
        self._on_turn(None)
        return actor

    def reach(self, probability: float = 1.0) -> None:
        """Let another actor continue with this probability; do nothing if no actor calls it."""
        actor = self.current
        if actor is None or actor.thread is not current_thread():
            return
        if actor.is_killed:
            raise KilledError
        if self._random.random() < probability:
            self._is_over.release()
            self._wait_for_turn(actor)

    @contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Let the current actor keep its turn in the block."""
        current, self.current = self.current, None
        try:
            yield
        finally:
            self.current = current

    def go_on(self, actor: Actor) -> None:
        """Let an actor continue until it loses its turn. Raises its error if it failed."""
        self.current = actor
        self._on_turn(actor)
        actor.turn.release()
        assert self._is_over.acquire(timeout=PATIENCE_S), f"{actor.name} is stuck"
        self.current = None
        self._on_turn(None)
        if actor.error and not actor.is_killed:
            raise actor.error

    def kill(self, actor: Actor) -> None:
        """End an actor at its current point."""
        actor.is_killed = True
        self.go_on(actor)

    def _wait_for_turn(self, actor: Actor) -> None:
        assert actor.turn.acquire(timeout=PATIENCE_S * 3), f"{actor.name} never had a turn"
        if actor.is_killed:
            raise KilledError
