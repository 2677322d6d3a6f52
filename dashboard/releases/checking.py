"""Read the items of a release from the service, and record what was found for the review.

Raises APIError if the service is silent: nothing may be judged then.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from django.db import transaction

from dashboard import clock
from dashboard.client import (
    APIError,
    AuthenticationError,
    ConnectError,
    NoResponseError,
    NotFoundError,
    RateLimitedError,
    ServerError,
)
from dashboard.contract.audiences import Audience, AudienceVersion, text_of
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.models import Operation, Publication
from dashboard.ledger.operations import OPEN
from dashboard.ledger.queries.audiences import live_publications, rolled_back_versions
from dashboard.operations.checking import PublishTarget, snapshot_version
from dashboard.operations.publish_preflight import (
    Finding,
    PageReading,
    PendingChanges,
    Severity,
    VersionVerdicts,
)
from dashboard.operations.publish_review import read_and_record_page, read_pending_changes
from dashboard.releases.drafting import CHECKED_STATES
from dashboard.releases.models import LEFT_TO_SEND, ItemState, Release, ReleaseItem, change
from dashboard.releases.planning import version_columns
from dashboard.releases.reviewing import ItemReview, changes_since, review_item, stopped_review
from dashboard.review.decisions import rejections
from dashboard.review.verdicts import verdicts_of
from dashboard.service.client import Result, publishing_client, run_concurrently
from dashboard.service.reading import ReadResult, find_audience, read_audiences
from dashboard.text_diff import count_changes
from dashboard.work.claims import Claim

T = TypeVar("T")

MAX_PARALLEL_CALLS = 5
PROGRESS_INTERVAL_S = 2.0
"""Time between two reports of progress."""

_SILENT = (NoResponseError, ServerError, RateLimitedError, AuthenticationError)
"""Errors from reading a page that say nothing about the page."""
_SILENT_FOR_ALL = (ConnectError, RateLimitedError, AuthenticationError)
"""Errors from reading a conversation that other calls would also raise."""


def check_release(release: Release, claim: Claim[Release] | None = None) -> None:
    """Read a draft or a held release, and record what was found for a person to review.

    An item that differs from what was reviewed loses its mark. Held items wait again, with their
    reason still on record. Does nothing if the release was decided on meanwhile. Raises APIError
    if the service is silent; and ClaimLostError if a worker's claim was lost, also because a
    person requested another check: this one may have read the versions before that.
    """
    on_progress = claim.renew if claim else lambda: None
    progress = _Progress(on_progress)
    items = list(release.items.filter(state__in=LEFT_TO_SEND))
    read_at = clock.now()
    reviews = read_items(items, on_progress)
    columns = {}
    for item in items:
        columns[item.pk] = {"checked_at": read_at} | review_columns(item, reviews[item.pk])
        progress.report()
    with claim.locked() if claim else transaction.atomic():
        release.refresh_from_db(from_queryset=Release.objects.select_for_update())
        if release.state not in CHECKED_STATES:
            return
        for item in items:
            # Another version may have been chosen meanwhile, or the item skipped or removed.
            same = release.items.filter(pk=item.pk, version_id=item.version_id, state=item.state)
            # A check that began later has seen more.
            same.exclude(checked_at__gt=read_at).update(**columns[item.pk])
        unsent = release.items.filter(state__in=LEFT_TO_SEND)
        change(release, needs_check=unsent.filter(digest="").exists())


def read_items(
    items: Iterable[ReleaseItem], on_progress: Callable[[], None] = lambda: None
) -> dict[int, ItemReview]:
    """Read the service for these items, and return their reviews by primary key.

    Each page is read once, with one list of its audiences; each conversation is one call. At most
    5 calls are made in parallel, and `on_progress` is called every few seconds. Raises APIError if
    the service is silent: then there is no review of any item.
    """
    items, progress = list(items), _Progress(on_progress)
    pages = _read_pages(list(dict.fromkeys(item.page_id for item in items)), progress)
    readable = [item for item in items if not pages[item.page_id].stop]
    messages = publishing_client().audiences.messages
    calls = [partial(messages, item.page_id, item.audience_id) for item in readable]
    conversations = {}
    for item, response in zip(readable, _call_all(calls, progress), strict=True):
        if isinstance(response.error, _SILENT_FOR_ALL):
            raise response.error
        # Without the texts: there are up to 500.
        changes = read_pending_changes(response.get)
        conversations[item.pk] = replace(changes, conversation=None)
    recorded = _Recorded(readable)
    reviews = {}
    for item in items:
        page = pages[item.page_id]
        reviews[item.pk] = _review(item, page, conversations.get(item.pk), recorded)
        progress.report()
    return reviews


class _Progress:
    def __init__(self, on_progress: Callable[[], None]) -> None:
        self._on_progress = on_progress
        self._reported_at = time.monotonic()

    def report(self) -> None:
        if time.monotonic() - self._reported_at >= PROGRESS_INTERVAL_S:
            self._on_progress()
            self._reported_at = time.monotonic()

    def wait_for(self, result: Result[T]) -> T:
        """Return a result, reporting progress until it is there."""
        while True:
            waiting_since = time.monotonic()
            try:
                value = result(PROGRESS_INTERVAL_S)
            except TimeoutError:
                if time.monotonic() - waiting_since < PROGRESS_INTERVAL_S:
                    # No thread was free: this one makes the call.
                    value = result()
                    break
                self.report()
            else:
                break
        self.report()
        return value


@dataclass(frozen=True)
class _Response:
    value: Any
    error: APIError | None
    requested_at: datetime

    def get(self) -> Any:
        if self.error:
            raise self.error
        return self.value


@dataclass(frozen=True)
class _PageReading:
    page: PageReading
    audiences: ReadResult[ListEnvelope[Audience]] | None = None
    stop: Finding | None = None
    """Why none of its audiences can be published; if None, `audiences` is set."""


class _Recorded:
    def __init__(self, items: Sequence[ReleaseItem]) -> None:
        self._publishes: dict[tuple[str, str], list[Operation]] = {}
        publishes = Operation.publishes.filter(
            outcome__in=OPEN, page_id__in={item.page_id for item in items}
        )
        for publish in publishes:
            key = (publish.page_id, publish.audience_id)
            self._publishes.setdefault(key, []).append(publish)
        keys = [(item.page_id, item.audience_id) for item in items]
        self._live = live_publications(keys)
        self._rolled_back_by = rolled_back_versions(keys)
        self._rejections = rejections(keys)
        self._verdicts = verdicts_of(keys)

    def open_publishes(self, item: ReleaseItem) -> list[Operation]:
        return self._publishes.get((item.page_id, item.audience_id), [])

    def rolled_back_by(self, item: ReleaseItem) -> Publication | None:
        return self._rolled_back_by.get((item.page_id, item.audience_id, item.version_id))

    def verdicts(self, item: ReleaseItem) -> VersionVerdicts:
        key = (item.page_id, item.audience_id)
        rejection = self._rejections.get((*key, item.version_id))
        return VersionVerdicts(rejection, self._verdicts.get(key, []))

    def published_by(self, item: ReleaseItem, live: AudienceVersion) -> str:
        publication = self._live.get((item.page_id, item.audience_id))
        is_recorded = publication and publication.version_id == live.version_id
        return publication.actor_name if publication and is_recorded else ""


def _read_pages(page_ids: Sequence[str], progress: _Progress) -> dict[str, _PageReading]:
    client = publishing_client()
    calls: list[Callable[[], Any]] = []
    for page_id in page_ids:
        calls += [partial(client.audiences.list, page_id), partial(client.pages.get, page_id)]
    responses = _call_all(calls, progress)
    pages = {}
    for page_id in page_ids:
        listing, page = next(responses), next(responses)
        for response in (listing, page):
            if isinstance(response.error, _SILENT):
                raise response.error
        audiences, stop = None, None
        if isinstance(page.error, NotFoundError) or isinstance(listing.error, NotFoundError):
            headline = "This page no longer exists."
            stop = Finding(Severity.STOP, headline, "The service returned 404.")
        elif listing.error:
            headline = "The audiences of this page can’t be read."
            stop = Finding(Severity.STOP, headline, str(listing.error))
        else:
            audiences = read_audiences(page_id, listing=listing.get, read_at=listing.requested_at)
        reading = read_and_record_page(page_id, page.get, page.requested_at)
        pages[page_id] = _PageReading(reading, audiences, stop)
    return pages


def _call_all(calls: Iterable[Callable[[], Any]], progress: _Progress) -> Iterator[_Response]:
    """Make calls, at most five in parallel, and yield their responses in order."""
    running: deque[Result[_Response]] = deque()
    for call in calls:
        if len(running) == MAX_PARALLEL_CALLS:
            yield progress.wait_for(running.popleft())
        running.append(run_concurrently(partial(_respond, call)))
    while running:
        yield progress.wait_for(running.popleft())


def _respond(call: Callable[[], Any]) -> _Response:
    requested_at = clock.now()
    try:
        return _Response(call(), None, requested_at)
    except APIError as error:
        return _Response(None, error, requested_at)


def _review(
    item: ReleaseItem,
    page_reading: _PageReading,
    changes: PendingChanges | None,
    recorded: _Recorded,
) -> ItemReview:
    if page_reading.audiences is None or changes is None:
        stop = page_reading.stop or Finding(Severity.STOP, "This page can’t be read.")
        return stopped_review(item, stop, page=page_reading.page.page)
    try:
        reading = find_audience(page_reading.audiences, item.page_id, item.audience_id)
    except APIError as error:
        stop = Finding(Severity.STOP, "This audience can’t be read.", str(error))
        return stopped_review(item, stop, page=page_reading.page.page)
    target = PublishTarget(item.page_id, item.audience_id, item.version_id)
    in_flight = recorded.open_publishes(item)
    others = [
        version.version_number for version in in_flight if version.version_id != item.version_id
    ]
    more = []
    if len(others) < len(in_flight):
        headline = f"Publishing version {item.version_number} hasn’t finished."
        detail = "It was requested outside this release."
        more.append(Finding(Severity.RISK, headline, detail, "versions"))
    review = review_item(
        reading,
        snapshot_version(target, reading).version,
        page=page_reading.page,
        pending=changes,
        pending_change_ids=None if changes.ids is None else [*changes.ids],
        others_in_flight=others,
        rolled_back_by=recorded.rolled_back_by(item),
        verdicts=recorded.verdicts(item),
        more=more,
        is_list_complete=not page_reading.audiences.value.has_more,
    )
    live_by = recorded.published_by(item, review.live) if review.live else ""
    return replace(review, live_by=live_by)


def review_columns(item: ReleaseItem, review: ItemReview) -> dict[str, Any]:
    live = review.live
    # A version that can't be found stays as it was reviewed.
    version = review.version or item.version
    columns = version_columns(version, live) | {
        "page_status": review.page_status,
        "pending_change_ids": review.pending_change_ids,
        "findings": [asdict(finding) for finding in review.findings],
        "digest": review.digest,
        "state": ItemState.WAITING,
        "settled_at": None,
    }
    if changes_since(item, review):
        columns |= {"reviewed_at": None, "reviewed_by_name": ""}
    texts = text_of(live), text_of(version)
    # Both texts may be as counted before.
    if not item.digest or texts != (text_of(item.live_version), text_of(item.version)):
        columns["words_added"], columns["words_removed"] = count_changes(*texts)
    return columns
