"""Load the audiences that weren't read yet, in bounded batches."""

from dataclasses import dataclass, replace
from functools import partial

from django.http import QueryDict

from dashboard import clock
from dashboard.client import APIError, NotFoundError
from dashboard.ledger.queries.audience_list import audience_coverage, unread_pages
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import read_audiences, read_pages
from dashboard.web.ui.query_params import int_param

PAGES_PER_CALL = 200
"""Pages in one call of the list of pages."""
PAGES_PER_BATCH = 20
"""Pages whose audiences one batch reads."""
CALLS_AT_ONCE = 5


@dataclass(frozen=True)
class LoadStep:
    cursor: str = ""
    """Cursor of the next call of the list of pages; empty at the start."""
    after: int = 0
    """Primary key of the last page whose audiences were requested; 0 at the start."""
    error: APIError | None = None
    """Why loading stopped, if it did. It can be continued."""
    is_done: bool = False

    @classmethod
    def from_params(cls, params: QueryDict) -> "LoadStep | None":
        """Parse `cursor=` and `after_page=`; None before loading begins (no `after_page=`)."""
        after = params.get("after_page")
        return None if after is None else cls(params.get("cursor", ""), int_param(after))

    @property
    def params(self) -> dict[str, str | int]:
        return {"cursor": self.cursor, "after_page": self.after}

    @property
    def continues(self) -> bool:
        return not (self.is_done or self.error)


def load_next_batch(step: LoadStep) -> LoadStep:
    """Load a batch of the list of pages until all pages are known, then batches of audiences.

    A page that the service no longer has is left out. Any other failure stops loading. The failed
    pages are skipped when loading continues, so that one page can't block the rest.
    """
    if not audience_coverage().has_all_pages:
        try:
            reading = read_pages(cursor=step.cursor or None, limit=PAGES_PER_CALL)
        except APIError as error:
            return replace(step, error=error)
        cursor = reading.next_cursor or ""
        if reading.has_more and cursor and cursor != step.cursor:
            return replace(step, cursor=cursor, error=None)
    return _read_unread_pages(step)


def _read_unread_pages(step: LoadStep) -> LoadStep:
    """Read the audiences of the next unread pages, a few pages at a time."""
    after = step.after
    pages = unread_pages(after=after, limit=PAGES_PER_BATCH)
    for first in range(0, len(pages), CALLS_AT_ONCE):
        chunk = pages[first : first + CALLS_AT_ONCE]
        after, failure = chunk[-1].pk, _read_at_once([page.page_id for page in chunk])
        if failure:
            return LoadStep(after=after, error=failure)
    return LoadStep(after=after, is_done=len(pages) < PAGES_PER_BATCH)


def _read_at_once(page_ids: list[str]) -> APIError | None:
    """Read the audiences of these pages; return the first failure. A missing page is none."""
    read_at, client = clock.now(), publishing_client()
    calls = {
        page_id: run_concurrently(partial(client.audiences.list, page_id)) for page_id in page_ids
    }
    failures: list[APIError] = []
    for page_id, listing in calls.items():
        try:
            reading = read_audiences(page_id, listing=listing, read_at=read_at)
        except NotFoundError:
            continue
        except APIError as error:
            failures.append(error)
        else:
            failures += [reading.error] if reading.error else []
    return failures[0] if failures else None
