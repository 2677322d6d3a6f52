"""The crawler reads every page and its audiences into the ledger.

A bounded pool of threads makes the calls; one thread records the responses. Pages whose `updatedAt`
is unchanged are read, too: publishing a version does not change it.
"""

import logging
import math
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Event
from typing import Any, TypeAlias, cast

from django.conf import settings
from django.db import connection
from django.utils.text import capfirst

from dashboard import clock
from dashboard.client import (
    APIError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    single_attempt,
    wait_before_retry_s,
)
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.models import AudienceRecord, Crawl, PageRecord, VersionRecord
from dashboard.ledger.queries.pages import update_page_flags
from dashboard.ledger.recording import record_audiences, record_pages
from dashboard.observability.request_context import RequestNotes, request_context
from dashboard.service.circuit_breaker import HeldBackError
from dashboard.service.client import publishing_client
from dashboard.service.conformance import write_deviations
from dashboard.service.crawl_speed import CrawlSpeed
from dashboard.service.health import write_calls
from dashboard.work.tasks import close_lost_connections

PAGE_SIZE = 100
"""Pages per request; a service may return fewer (spec: the maximum is not shown)."""
MAX_CALLS_IN_PROGRESS = 64
MAX_FAILURES_IN_A_ROW = 5
"""Failed pages, or pauses, after which the crawl stops: the service is probably down."""
PAUSE_S, MIN_PAUSE_S, MAX_PAUSE_S = 5.0, 1.0, 300.0
"""Pause after a 429 without Retry-After or while the circuit breaker is open; doubled each time."""
SAVE_S = 5.0
"""Interval at which the progress is saved and the claim renewed."""
ANALYZE_ROWS = 1_000
"""A crawl that adds at least this many rows, and doubles their number, ends with ANALYZE."""

Response: TypeAlias = ListEnvelope[PageItem] | ListEnvelope[Audience]

_logger = logging.getLogger("dashboard.crawl")


@dataclass
class _Part:
    """One response of the list of pages. A crawl resumes at the first part that is not done."""

    cursor: str
    calls_left: int = 1
    """Calls that are not done: one for the part itself, and one for each of its pages."""
    pages: int = 0
    audiences: int = 0


@dataclass
class _Call:
    """A call to make, for a part of the list of pages or for the audiences of a page."""

    part: _Part
    page_id: str = ""
    """Empty for the list of pages."""
    page_name: str = ""
    attempts: int = 0
    begun_at: float = 0.0
    read_at: datetime = field(default_factory=clock.now)
    notes: RequestNotes = field(default_factory=lambda: RequestNotes(""))

    @property
    def title(self) -> str:
        if not self.page_id:
            return "the list of pages"
        return f"the audiences of {self.page_name} ({self.page_id})"


class Crawler:
    """Runs the crawl until its end, a failure or `stop`. It waits while it is paused.

    It updates `crawl`, and passes it to `save` every few seconds. `save` may raise.
    """

    def __init__(
        self, crawl: Crawl, *, rate: float, stop: Event, save: Callable[[Crawl], object]
    ) -> None:
        self.crawl = crawl
        self.problems: list[str] = []
        """Sentences about what could not be read."""
        self.limits: list[str] = []
        """Sentences about what the service gives no way to read. The crawl has not failed."""
        self._stop, self._save = stop, save
        # A service in this process shares the database connection of its caller's thread.
        self._is_in_process = bool(settings.SERVICE_TRANSPORT)
        self._max_calls = 1 if self._is_in_process else min(math.ceil(rate), MAX_CALLS_IN_PROGRESS)
        self._request_id = f"crawl-{secrets.token_hex(6)}"
        self._pages = deque[_Call]()
        self._parts = deque[_Part]()
        self._list: _Call | None = None
        self._cursors = set[str]()
        self._is_part_done = False
        self._in_progress: dict[Future[Response], _Call] = {}
        self._failures_in_a_row = self._pauses_in_a_row = 0
        self._paused_until = 0.0
        self._calls_before = crawl.calls
        self._speed = CrawlSpeed(rate, self._max_calls, is_in_process=self._is_in_process)
        self._resumed_at = crawl.checkpoint.get("cursor", "")
        self._begin_list(self._resumed_at)

    @property
    def is_finished(self) -> bool:
        return not (self._parts or self.crawl.failure)

    def run(self) -> None:
        rows_before, begun_at, saved_at = _count_rows(), time.monotonic(), 0.0
        with self._pool() as pool:
            while self._step(pool):
                if self._is_part_done or time.monotonic() - saved_at >= SAVE_S:
                    saved_at, self._is_part_done = time.monotonic(), False
                    self._measure(saved_at - begun_at)
                    self._save(self.crawl)
        self._measure(time.monotonic() - begun_at)
        if self.is_finished:
            update_page_flags()  # Pages recorded by an older release may lack them.
        if _count_rows() - rows_before >= max(ANALYZE_ROWS, rows_before):
            # The database plans queries with the row counts of its last ANALYZE.
            with connection.cursor() as cursor:
                for model in (PageRecord, AudienceRecord, VersionRecord):
                    cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")

    @contextmanager
    def _pool(self) -> Iterator[Executor]:
        if self._is_in_process:
            yield _SameThread()
            return
        with ThreadPoolExecutor(self._max_calls, thread_name_prefix="crawl") as pool:
            yield pool

    def _step(self, pool: Executor) -> bool:
        """Begin a call, or wait for a response and record it; return False at the end."""
        is_ending = bool(self._stop.is_set() or self.crawl.failure)
        has_more = bool(self._pages or self._list)
        if not self._in_progress and (is_ending or not has_more):
            return False
        may_begin = has_more and not is_ending and len(self._in_progress) < self._max_calls
        begun_at = time.monotonic()
        pause_s = max(0.0, self._paused_until - begun_at)
        wait_s = max(self._speed.wait_s(), pause_s)
        if may_begin and not wait_s:
            self.crawl.pause_reason = ""
            self._begin(pool)
            return True
        timeout_s = min(wait_s, SAVE_S) if may_begin else SAVE_S
        done = set[Future[Response]]()
        if self._in_progress:
            done, _ = wait(self._in_progress, timeout=timeout_s, return_when=FIRST_COMPLETED)
        else:
            self._stop.wait(timeout_s)
        reason = "pause" if pause_s else "limit" if may_begin else "service"
        self._speed.seconds[reason] += time.monotonic() - begun_at
        for future in done:
            self._take(self._in_progress.pop(future), future)
        return True

    def _begin_list(self, cursor: str) -> None:
        part = _Part(cursor)
        self._parts.append(part)
        self._list = _Call(part)
        self._cursors.add(cursor)

    def _begin(self, pool: Executor) -> None:
        # Read the list ahead, so that there are always pages whose audiences can be read.
        if self._list and len(self._pages) < self._max_calls:
            call, self._list = self._list, None
        else:
            call = self._pages.popleft()
        call.attempts += 1
        call.notes = RequestNotes(self._request_id)
        call.begun_at, call.read_at = time.monotonic(), clock.now()
        self._speed.begin()
        client = publishing_client()
        request: Callable[[], Response]
        if call.page_id:
            request = partial(client.audiences.list, call.page_id)
        else:
            cursor = call.part.cursor or None
            request = partial(client.pages.list, cursor=cursor, limit=PAGE_SIZE)
        self._in_progress[pool.submit(_send, request, call.notes)] = call

    def _take(self, call: _Call, future: "Future[Response]") -> None:
        """Record a response, or its error. One bad page does not stop the others."""
        self._speed.seconds["calls"] += time.monotonic() - call.begun_at
        # The call's own thread does not write to the database.
        write_calls(call.notes)
        write_deviations(call.notes)
        try:
            response = future.result()
            self._record(call, response)
        except APIError as error:
            self._fail(call, error)
            return
        except Exception as error:
            _logger.exception("A response could not be recorded")
            close_lost_connections()
            self._give_up(call, f"could not be recorded ({type(error).__name__})")
            return
        self._failures_in_a_row = self._pauses_in_a_row = 0
        self._end(call.part)

    def _record(self, call: _Call, response: Response) -> None:
        for item in response.unreadable_items:
            self._report(f"In {call.title}, {item.path} can't be read: {item.problem}.")
        if not call.page_id:
            self._record_pages(call.part, cast("ListEnvelope[PageItem]", response), call.read_at)
            return
        response = cast("ListEnvelope[Audience]", response)
        record_audiences(call.page_id, response.items, read_at=call.read_at)
        call.part.pages += 1
        call.part.audiences += len(response.items)
        if response.has_more:
            count = f"the API returned only {len(response.items)} of {response.total_count}"
            self.limits.append(f"{capfirst(call.title)}: {count}.")

    def _record_pages(
        self, part: _Part, response: ListEnvelope[PageItem], read_at: datetime
    ) -> None:
        record_pages(response, read_at=read_at)
        self.crawl.pages_in_all = response.total_count
        calls = [_Call(part, page.page_id, page.name) for page in response.items]
        self._pages.extend(calls)
        part.calls_left += len(calls)
        cursor = response.next_cursor
        if not response.has_more:
            return
        if not cursor or cursor in self._cursors:
            self.crawl.failure = "The list of pages has more, but no new cursor was returned."
            self._report(self.crawl.failure)
            return
        self._begin_list(cursor)

    def _fail(self, call: _Call, error: APIError) -> None:
        if isinstance(error, HeldBackError | RateLimitedError):
            self._pause(call, error)
            return
        # The client's rule decides what may be retried. The crawl's rate replaces the wait.
        if wait_before_retry_s(
            error, method="GET", attempt=call.attempts, remaining_s=math.inf, jitter=0
        ):
            self._repeat(call)
            return
        is_resumed = not call.page_id and call.part.cursor and call.part.cursor == self._resumed_at
        if is_resumed and isinstance(error, InvalidRequestError | NotFoundError):
            # The service rejects the saved cursor: start over.
            self._parts.clear()
            self._cursors.clear()
            self.crawl.checkpoint = {}
            self._begin_list("")
            return
        self._give_up(call, str(error))

    def _pause(self, call: _Call, error: APIError) -> None:
        call.attempts -= 1
        self._repeat(call)
        if isinstance(error, HeldBackError):
            self._speed.calls -= 1  # It was not sent.
        now = time.monotonic()
        if now < self._paused_until:
            return  # Another call in progress has already paused the crawl.
        self._pauses_in_a_row += 1
        if self._pauses_in_a_row > MAX_FAILURES_IN_A_ROW:
            self.crawl.failure = f"Stopped after {MAX_FAILURES_IN_A_ROW} pauses in a row. {error}"
            self._report(self.crawl.failure)
            return
        pause_s = PAUSE_S * 2 ** (self._pauses_in_a_row - 1)
        if isinstance(error, RateLimitedError):
            self._speed.rate_limits += 1
            if error.retry_after_s is not None:
                # Wait until the calls in progress have been rejected, too.
                pause_s = max(error.retry_after_s, MIN_PAUSE_S)
        self._paused_until = now + min(pause_s, MAX_PAUSE_S)
        self.crawl.pause_reason = str(error)
        self._save(self.crawl)

    def _repeat(self, call: _Call) -> None:
        if call.page_id:
            self._pages.append(call)
        else:
            self._list = call

    def _give_up(self, call: _Call, reason: str) -> None:
        self._report(f"{capfirst(call.title)}: {reason}")
        if not call.page_id:
            self.crawl.failure = self.crawl.last_problem
            return
        call.part.pages += 1
        self._failures_in_a_row += 1
        self._end(call.part)
        if self._failures_in_a_row == MAX_FAILURES_IN_A_ROW:
            count = f"Stopped after {MAX_FAILURES_IN_A_ROW} failures in a row."
            self.crawl.failure = f"{count} {self.crawl.last_problem}"
            self.problems.append(count)

    def _report(self, problem: str) -> None:
        self.problems.append(problem)
        self.crawl.problems += 1
        self.crawl.last_problem = problem

    def _end(self, part: _Part) -> None:
        """Count a finished call of a part; save how far the list is read without a gap."""
        part.calls_left -= 1
        done = self.crawl.checkpoint
        while self._parts and not self._parts[0].calls_left:
            first, self._is_part_done = self._parts.popleft(), True
            done = {
                "cursor": self._parts[0].cursor if self._parts else "",
                "pages": done.get("pages", 0) + first.pages,
                "audiences": done.get("audiences", 0) + first.audiences,
            }
        self.crawl.checkpoint = done
        self.crawl.pages = done.get("pages", 0) + sum(part.pages for part in self._parts)
        self.crawl.audiences = done.get("audiences", 0) + sum(
            part.audiences for part in self._parts
        )

    def _measure(self, elapsed_s: float) -> None:
        calls = self._speed.calls
        self.crawl.calls = self._calls_before + calls
        if calls and elapsed_s:
            self.crawl.calls_per_second = calls / elapsed_s
            self.crawl.speed = self._speed.sentence(elapsed_s)


class _SameThread(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future = Future[Any]()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  # raised by `result`
            future.set_exception(error)
        return future


def _send(request: Callable[[], Response], notes: RequestNotes) -> Response:
    # The notes collect facts about the call for the thread that writes to the database.
    with request_context(notes), single_attempt():
        return request()


def _count_rows() -> int:
    return PageRecord.objects.count() + AudienceRecord.objects.count()
