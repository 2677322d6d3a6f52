"""Reading from the service, remembering what was seen, and falling back to what is known.

Each function asks the service once. When it does not answer, what was last seen is returned
with the error beside it; where nothing was ever seen, or the service says that the thing is
not there, the error is raised and becomes a page of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from django.utils import timezone

from dashboard.client import APIError, BadAnswerError, NotFoundError
from dashboard.contract.audiences import Audience
from dashboard.contract.conversations import Conversation
from dashboard.contract.envelope import ListEnvelope, UnreadableItem
from dashboard.contract.pages import PageItem
from dashboard.contract.people import Person
from dashboard.ledger import recording
from dashboard.ledger.queries.audiences import audience_last_known, audiences_last_known
from dashboard.ledger.queries.pages import page_last_known
from dashboard.web.service import publishing_client

T = TypeVar("T")


@dataclass(frozen=True)
class Reading(Generic[T]):
    """A value and the time it was true; `error` says why it is not from now."""

    value: T
    as_of: datetime
    error: APIError | None = None

    @property
    def is_live(self) -> bool:
        """Whether the service just gave this, so that acting on it is safe."""
        return self.error is None

    @property
    def is_gone(self) -> bool:
        """Whether the service answered, and knows no such thing any more."""
        return isinstance(self.error, NotFoundError)


@dataclass(frozen=True)
class FoundAudience:
    """One audience, and whether the service still lists it."""

    audience: Audience
    listed: bool = True
    unreadable: UnreadableItem | None = None
    """Its place in the list, where what stands there can't be read: then it is as last known."""

    @property
    def is_as_listed(self) -> bool:
        """Whether this is what the list says, and not what was known before."""
        return self.listed and self.unreadable is None


def read_pages(*, cursor: str | None = None, limit: int | None = None) -> ListEnvelope[PageItem]:
    """Read and remember one part of the list of pages. Raises APIError."""
    asked_at = timezone.now()
    found = publishing_client().pages.list(cursor=cursor, limit=limit)
    recording.remember_pages(found, asked_at=asked_at)
    return found


def read_page(page_id: str) -> Reading[PageItem]:
    """Read one page, or what is known of it."""

    asked_at = timezone.now()

    def ask() -> PageItem:
        page = publishing_client().pages.get(page_id)
        recording.remember_page(page, asked_at=asked_at)
        return page

    def known() -> tuple[PageItem, datetime] | None:
        record = page_last_known(page_id)
        return (record.page, record.last_seen_at) if record else None

    return _read(ask, known)


def read_audiences(
    page_id: str,
    *,
    listing: Callable[[], ListEnvelope[Audience]] | None = None,
    asked_at: datetime | None = None,
) -> Reading[ListEnvelope[Audience]]:
    """Read the audiences of a page, or those that are known.

    `listing` gives the service's answer where it was asked for already, at that moment.
    """
    asked_at = asked_at or timezone.now()

    def ask() -> ListEnvelope[Audience]:
        found = listing() if listing else publishing_client().audiences.list(page_id)
        recording.remember_audiences(page_id, found.items, asked_at=asked_at)
        return found

    def known() -> tuple[ListEnvelope[Audience], datetime] | None:
        records = list(audiences_last_known(page_id))
        if not records:
            return None
        seen = ListEnvelope[Audience](
            has_more=False, items=[r.audience for r in records], total_count=len(records)
        )
        return seen, max(record.last_seen_at for record in records)

    return _read(ask, known)


def read_audience(page_id: str, audience_id: str) -> Reading[FoundAudience]:
    """Read one audience through its page's list: the service has no address for one alone.

    An audience that the list does not hold (any more, or because the list is cut) is returned
    as last known. Where it was never seen, raises NotFoundError, or BadAnswerError for one that
    the list holds in a way that can't be read.
    """
    reading = read_audiences(page_id)
    for audience in reading.value.items:
        if audience.audience_id == audience_id:
            return Reading(FoundAudience(audience), reading.as_of, reading.error)
    unreadable = _unreadable_audience(reading.value, audience_id)
    record = audience_last_known(page_id, audience_id)
    if record is None and unreadable:
        raise BadAnswerError(unreadable.problem, path=unreadable.path, status_code=200)
    if record is None:
        raise never_seen("audience")
    found = FoundAudience(record.audience, listed=bool(unreadable), unreadable=unreadable)
    return Reading(found, record.last_seen_at, reading.error)


def read_conversation(page_id: str, audience_id: str) -> Conversation:
    """Read a conversation. Never remembered: it is other people's data. Raises APIError."""
    return publishing_client().audiences.messages(page_id, audience_id)


def read_people(
    *, words: str = "", cursor: str | None = None, limit: int | None = None
) -> ListEnvelope[Person]:
    """List or search people. Never remembered. Raises APIError."""
    people = publishing_client().people
    if words:
        return people.search(query=words, cursor=cursor, limit=limit)
    return people.list(cursor=cursor, limit=limit)


def never_seen(what: str) -> NotFoundError:
    """Return the error of a thing that neither the service's list nor the ledger holds."""
    return NotFoundError(
        status_code=404,
        said=f"No such {what} in the service's list, and none was seen here.",
        body="",
    )


def page_name(page_id: str) -> str:
    """Return a page's name as last seen, or its id."""
    record = page_last_known(page_id)
    return record.name if record else page_id


def _unreadable_audience(found: ListEnvelope[Audience], audience_id: str) -> UnreadableItem | None:
    for item in found.unreadable:
        if isinstance(item.raw, dict) and item.raw.get("audienceId") == audience_id:
            return item
    return None


def _read(ask: Callable[[], T], known: Callable[[], tuple[T, datetime] | None]) -> Reading[T]:
    try:
        return Reading(ask(), timezone.now())
    except NotFoundError:
        raise
    except APIError as error:
        remembered = known()
        if remembered is None:
            raise
        return Reading(*remembered, error=error)
