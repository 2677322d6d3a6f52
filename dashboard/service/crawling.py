"""Read every page and its audiences into the ledger."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dashboard.client import APIError
from dashboard.contract.audiences import Audience
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem
from dashboard.ledger.page_flags import update_page_flags
from dashboard.service.reading import read_audiences, read_pages

PAGE_SIZE = 200
"""Pages per request; a service may return fewer (spec: the maximum is not shown)."""
MAX_FAILURES_IN_A_ROW = 5
"""After so many the crawl stops: the service is probably down."""


@dataclass
class Crawl:
    """The result of a crawl; each problem is a sentence."""

    pages: int = 0
    pages_in_all: int | None = None
    """The service's own total."""
    audiences: int = 0
    problems: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    """Data that the service gives no way to read, each a sentence; no failure of the crawl."""


class RateLimiter:
    """Limits the calls per second."""

    def __init__(self, calls_a_second: float) -> None:
        self._gap_s = 1 / calls_a_second
        self._next = time.monotonic()

    def wait(self) -> None:
        """Sleep until the next call may be made."""
        now = time.monotonic()
        time.sleep(max(0.0, self._next - now))
        self._next = max(now, self._next) + self._gap_s


def crawl(pace: RateLimiter, *, on_page: Callable[[Crawl], None] = lambda _: None) -> Crawl:
    """Read all pages and their audiences; call `on_page` after each page.

    A page that can't be read is reported as a problem. Raises nothing.
    """
    done = Crawl()
    failed_in_a_row = 0
    for page in _read_all_pages(pace, done):
        done.pages += 1
        is_read = _read_audiences_of(page, pace, done)
        failed_in_a_row = 0 if is_read else failed_in_a_row + 1
        on_page(done)
        if failed_in_a_row == MAX_FAILURES_IN_A_ROW:
            done.problems.append(f"Stopped after {MAX_FAILURES_IN_A_ROW} failures in a row.")
            break
    update_page_flags()  # Those recorded by an older release may be missing.
    return done


def _read_all_pages(pace: RateLimiter, done: Crawl) -> Iterator[PageItem]:
    """Yield every page of the list, as far as it can be read."""
    cursor, used = None, set[str]()
    while True:
        pace.wait()
        try:
            response = read_pages(cursor=cursor, limit=PAGE_SIZE)
        except APIError as error:
            done.problems.append(f"The list of pages: {error}")
            return
        done.pages_in_all = response.total_count
        _report_unreadable("the list of pages", response, done)
        yield from response.items
        cursor = response.next_cursor
        if not response.has_more:
            return
        if not cursor or cursor in used:
            done.problems.append("The list of pages has more, but no new cursor was returned.")
            return
        used.add(cursor)


def _read_audiences_of(page: PageItem, pace: RateLimiter, done: Crawl) -> bool:
    """Read one page's audiences; return whether that succeeded."""
    pace.wait()
    name = f"audiences of {page.name} ({page.page_id})"
    try:
        reading = read_audiences(page.page_id)
        if reading.error:
            raise reading.error
    except APIError as error:
        done.problems.append(f"The {name}: {error}")
        return False
    found = reading.value
    done.audiences += len(found.items)
    _report_unreadable(f"the {name}", found, done)
    if found.has_more:
        message = f"the API returned only {len(found.items)} of {found.total_count}"
        done.limits.append(f"The {name}: {message}.")
    return True


def _report_unreadable(
    where: str, found: ListEnvelope[PageItem] | ListEnvelope[Audience], done: Crawl
) -> None:
    done.problems.extend(
        f"In {where}, {item.path} can't be read: {item.problem}." for item in found.unreadable
    )


@contextmanager
def suppress_call_reports() -> Iterator[None]:
    """Do not log the calls to the service, and its responses if it is the built-in one."""
    quiet = {"dashboard.client": logging.WARNING, "django.request": logging.ERROR}
    before = {name: logging.getLogger(name).level for name in quiet}
    for name, level in quiet.items():
        logging.getLogger(name).setLevel(level)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
