"""Reading everything once: every page, and every page's audiences, into the ledger."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dashboard.client import APIError
from dashboard.contract.audiences import Audience
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem
from dashboard.ledger.standings import note_standings
from dashboard.web.readings import read_audiences, read_pages

PART = 200
"""Pages asked for at a time; a service may give fewer (spec: the most is not shown)."""
FAILURES_IN_A_ROW = 5
"""After so many the service is taken to be down, and the rest is left for another time."""


@dataclass
class Crawl:
    """What was read; each problem is a sentence."""

    pages: int = 0
    pages_in_all: int | None = None
    """As the service says."""
    audiences: int = 0
    problems: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    """What the service gives no way to read, each in a sentence: no fault of this crawl."""


class Pace:
    """Lets through at most so many calls a second."""

    def __init__(self, calls_a_second: float) -> None:
        self._gap_s = 1 / calls_a_second
        self._next = time.monotonic()

    def wait(self) -> None:
        """Sleep until the next call may be made."""
        now = time.monotonic()
        time.sleep(max(0.0, self._next - now))
        self._next = max(now, self._next) + self._gap_s


def crawl(pace: Pace, *, on_page: Callable[[Crawl], None] = lambda _: None) -> Crawl:
    """Read all pages and their audiences; `on_page` hears of each page when it is done.

    One that can't be read is a problem of the crawl and not its end. Raises nothing.
    """
    done = Crawl()
    failed_in_a_row = 0
    for page in _pages(pace, done):
        done.pages += 1
        is_read = _read_audiences_of(page, pace, done)
        failed_in_a_row = 0 if is_read else failed_in_a_row + 1
        on_page(done)
        if failed_in_a_row == FAILURES_IN_A_ROW:
            done.problems.append(f"Stopped after {FAILURES_IN_A_ROW} failures in a row.")
            break
    note_standings()  # As it is for each page, but for what an older version wrote meanwhile.
    return done


def _pages(pace: Pace, done: Crawl) -> Iterator[PageItem]:
    """Return every page of the list, part by part, as far as the list can be read."""
    cursor, used = None, set[str]()
    while True:
        pace.wait()
        try:
            part = read_pages(cursor=cursor, limit=PART)
        except APIError as error:
            done.problems.append(f"The list of pages: {error}")
            return
        done.pages_in_all = part.total_count
        _note_unreadable("the list of pages", part, done)
        yield from part.items
        cursor = part.next_cursor
        if not part.has_more:
            return
        if not cursor or cursor in used:
            done.problems.append("The list of pages has more, and no new cursor to ask for it.")
            return
        used.add(cursor)


def _read_audiences_of(page: PageItem, pace: Pace, done: Crawl) -> bool:
    """Read one page's audiences; tell whether the service gave them."""
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
    _note_unreadable(f"the {name}", found, done)
    if found.has_more:
        said = f"{len(found.items)} of {found.total_count}, and no way to ask for the rest"
        done.limits.append(f"The {name}: {said}.")
    return True


def _note_unreadable(
    where: str, found: ListEnvelope[PageItem] | ListEnvelope[Audience], done: Crawl
) -> None:
    done.problems.extend(
        f"In {where}, {item.path} can't be read: {item.problem}." for item in found.unreadable
    )
