"""Read from the service, record the response, and fall back to the last known state.

Each function calls the service at most once. If the call fails, the last known state is returned
with the error. If there is none, or the service does not have the object, the error is raised. If
the ledger can't be written, the response is still returned: see `tolerate_write_errors`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from dashboard import clock
from dashboard.client import APIError, InvalidResponseError, NotFoundError
from dashboard.contract.audiences import Audience
from dashboard.contract.conversations import Conversation
from dashboard.contract.pages import PageItem
from dashboard.contract.people import Person
from dashboard.contract.resource import ListEnvelope, UnreadableValue
from dashboard.ledger.changes import LAST_SEEN_WRITE_INTERVAL
from dashboard.ledger.queries.audiences import audience_last_known, audiences_last_known
from dashboard.ledger.queries.pages import page_last_known
from dashboard.ledger.recording import record_audiences, record_page, record_pages
from dashboard.observability.request_context import tolerate_write_errors
from dashboard.service.client import publishing_client
from dashboard.webhooks.hints import followed_pages

T = TypeVar("T")

READ_LASTS, READ_LASTS_MOVING = LAST_SEEN_WRITE_INTERVAL, timedelta(seconds=3)
"""How long a reading of a page's audiences serves those who have the page open.

The second value applies while a version is in progress. Source: our choice.
"""


@dataclass(frozen=True)
class ReadResult(Generic[T]):
    """A value and when it was read; `error` is the reason if it is not current."""

    value: T
    as_of: datetime
    error: APIError | None = None

    @property
    def is_live(self) -> bool:
        """Whether the service just returned this, so that acting on it is safe."""
        return self.error is None

    @property
    def is_gone(self) -> bool:
        """Whether the service no longer has the object."""
        return isinstance(self.error, NotFoundError)


@dataclass(frozen=True)
class AudienceLookup:
    """One audience, and whether the service still lists it."""

    audience: Audience
    listed: bool = True
    unreadable: UnreadableValue | None = None
    """Its item in the list, if that item can't be read: then the audience is as last known."""

    @property
    def is_as_listed(self) -> bool:
        """Whether the audience is as in the list, not as last known."""
        return self.listed and self.unreadable is None


def read_pages(*, cursor: str | None = None, limit: int | None = None) -> ListEnvelope[PageItem]:
    """Read and record one page of the list of pages. Raises APIError."""
    read_at = clock.now()
    response = publishing_client().pages.list(cursor=cursor, limit=limit)
    with tolerate_write_errors():
        record_pages(response, read_at=read_at)
    return response


def read_page(
    page_id: str, *, response: Callable[[], PageItem] | None = None, read_at: datetime | None = None
) -> ReadResult[PageItem]:
    """Read one page, or return its last known state.

    `response` returns the service's response if it was already requested. `read_at` is when the
    read began, or the first of several reads that are recorded together. Raises APIError.
    """
    read_at = read_at or clock.now()
    try:
        page = response() if response else publishing_client().pages.get(page_id)
    except APIError as error:
        record = None if isinstance(error, NotFoundError) else page_last_known(page_id)
        if record is None:
            raise
        return ReadResult(record.page, record.last_seen_at, error)
    with tolerate_write_errors():
        record_page(page, read_at=read_at)
    return ReadResult(page, clock.now())


def read_audiences(
    page_id: str,
    *,
    listing: Callable[[], ListEnvelope[Audience]] | None = None,
    read_at: datetime | None = None,
) -> ReadResult[ListEnvelope[Audience]]:
    """Read the audiences of a page, or return the last known ones. Raises APIError.

    `listing` returns the service's response if it was already requested, at `read_at`.
    """
    read_at = read_at or clock.now()
    try:
        response = listing() if listing else publishing_client().audiences.list(page_id)
    except APIError as error:
        records = [] if isinstance(error, NotFoundError) else list(audiences_last_known(page_id))
        if not records:
            raise
        items = [record.audience for record in records]
        seen = ListEnvelope[Audience](has_more=False, items=items, total_count=len(items))
        return ReadResult(seen, max(record.last_seen_at for record in records), error)
    with tolerate_write_errors():
        record_audiences(page_id, response.items, read_at=read_at)
    return ReadResult(response, clock.now())


def poll_audiences(page_id: str, *, is_moving: bool) -> ReadResult[ListEnvelope[Audience]]:
    """Return the audiences of a page for somebody who has it open.

    If anyone read them recently, they come from the ledger. All tabs together read a page at most
    once a minute, or every 3 seconds while a version is in progress (`is_moving`) that no worker
    follows. Raises the errors of `read_audiences`.
    """
    records = list(audiences_last_known(page_id))
    read_at = max((record.last_seen_at for record in records), default=None)
    now = clock.now()
    followed_at = followed_pages([page_id], now).get(page_id) if is_moving else None
    lasts = READ_LASTS_MOVING if is_moving and not followed_at else READ_LASTS
    if read_at is None or now - (followed_at or read_at) >= lasts:
        return read_audiences(page_id)
    read_at = max(read_at, followed_at or read_at)
    # Audiences that the service has stopped listing were last seen earlier.
    since = read_at - LAST_SEEN_WRITE_INTERVAL
    items = [record.audience for record in records if record.last_seen_at >= since]
    page = page_last_known(page_id)
    total = max(len(items), (page and page.page.audiences_count) or 0)
    seen = ListEnvelope[Audience](has_more=total > len(items), items=items, total_count=total)
    return ReadResult(seen, read_at)


def poll_audience(page_id: str, audience_id: str, *, is_moving: bool) -> ReadResult[AudienceLookup]:
    """Return one audience for somebody who has it open. Raises the errors of `read_audience`."""
    return find_audience(poll_audiences(page_id, is_moving=is_moving), page_id, audience_id)


def read_audience(page_id: str, audience_id: str) -> ReadResult[AudienceLookup]:
    """Read one audience from its page's list: the service has no endpoint for a single one.

    Raises the errors of `read_audiences` and `find_audience`.
    """
    return find_audience(read_audiences(page_id), page_id, audience_id)


def find_audience(
    reading: ReadResult[ListEnvelope[Audience]], page_id: str, audience_id: str
) -> ReadResult[AudienceLookup]:
    """Return one audience of a page's list.

    If it is missing from the list (removed, or the list is truncated), its last known state is
    returned. If it was never seen, raises NotFoundError, or InvalidResponseError if its item in
    the list can't be read.
    """
    for audience in reading.value.items:
        if audience.audience_id == audience_id:
            return ReadResult(AudienceLookup(audience), reading.as_of, reading.error)
    unreadable = None
    for item in reading.value.unreadable_items:
        if isinstance(item.raw, dict) and item.raw.get("audienceId") == audience_id:
            unreadable = item
            break
    record = audience_last_known(page_id, audience_id)
    if record is None and unreadable:
        raise InvalidResponseError(unreadable.problem, path=unreadable.path, status_code=200)
    if record is None:
        raise NotFoundError(status_code=404, message="Audience not found.", body="")
    lookup = AudienceLookup(record.audience, listed=bool(unreadable), unreadable=unreadable)
    return ReadResult(lookup, record.last_seen_at, reading.error)


def read_conversation(page_id: str, audience_id: str) -> Conversation:
    """Read a conversation. Never recorded: it is personal data. Raises APIError."""
    return publishing_client().audiences.messages(page_id, audience_id)


def read_people(
    *, words: str = "", cursor: str | None = None, limit: int | None = None
) -> ListEnvelope[Person]:
    """List or search people. Never recorded. Raises APIError."""
    people = publishing_client().people
    if words:
        return people.search(query=words, cursor=cursor, limit=limit)
    return people.list(cursor=cursor, limit=limit)


def page_name(page_id: str) -> str:
    """Return a page's name as last seen, or its id."""
    record = page_last_known(page_id)
    return record.name if record else page_id
