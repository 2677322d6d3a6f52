"""Follow sent items and compare waiting ones, using the audience lists of their pages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from dashboard import clock
from dashboard.client import APIError, NotFoundError
from dashboard.clock import in_words
from dashboard.contract.audiences import Audience
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.models import AudienceRecord, Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audiences import live_publication
from dashboard.ledger.queries.pages import page_last_known
from dashboard.operations.checking import (
    PublishTarget,
    VersionSnapshot,
    settle_from_snapshot,
    snapshot_version,
)
from dashboard.operations.publish_preflight import PageReading, PendingChanges
from dashboard.operations.publish_progress import POLLING_PERIOD, Stage, publish_progress
from dashboard.releases.checking import MAX_PARALLEL_CALLS
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import changes_since, review_item
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import ReadResult, find_audience, read_audiences
from dashboard.webhooks.hints import followed_pages

MAX_READ_AGE = timedelta(seconds=5)
"""Maximum age of the last read of an item in progress."""
MAX_CHECK_AGE = timedelta(seconds=3)
"""Maximum age of an item's full check when it is sent."""
MAX_CHECKED = 10
"""Items checked together. Items on the same page share two calls."""

KEY_REJECTED, TOO_MANY_REQUESTS = 401, 429
"""Status codes that don't concern the version, so it is sent again later."""

FOLLOWED = (ItemState.IN_PROGRESS, ItemState.UNKNOWN)
"""States of items that may still change at the service."""

Listing: TypeAlias = ReadResult[ListEnvelope[Audience]]


def is_followed(item: ReleaseItem, now: datetime) -> bool:
    """Return whether an item is in progress, or unknown and due for another read."""
    if item.state != ItemState.UNKNOWN:
        return item.state == ItemState.IN_PROGRESS
    is_read = item.checked_at and item.settled_at and item.checked_at > item.settled_at
    return _is_changed(item) or not (is_read or is_given_up(item, now))


def is_given_up(item: ReleaseItem, now: datetime) -> bool:
    return item.sent_at is None or now - item.sent_at > POLLING_PERIOD


def given_up() -> tuple[ItemState, str]:
    return (ItemState.UNKNOWN, f"It was still in progress after {in_words(POLLING_PERIOD)}.")


def pages_to_read(items: Iterable[ReleaseItem]) -> list[str]:
    """Return the pages of followed items that are due for a read, oldest read first.

    Leaves out the items in progress whose pages the worker reads for open tabs: it wakes the
    release when one has changed.
    """
    now = clock.now()
    due = [item for item in items if is_followed(item, now) and _is_stale(item, now)]
    read_for_tabs = followed_pages({item.page_id for item in due}, now) if due else {}
    due = [item for item in due if item.page_id not in read_for_tabs or _needs_read(item, now)]
    due.sort(key=lambda item: item.checked_at.timestamp() if item.checked_at else 0)
    return list(dict.fromkeys(item.page_id for item in due))[:MAX_PARALLEL_CALLS]


def _needs_read(item: ReleaseItem, now: datetime) -> bool:
    """Return whether a release must read an item's page itself."""
    is_known = item.state == ItemState.IN_PROGRESS and item.checked_at is not None
    return not is_known or _is_changed(item) or is_given_up(item, now)


def items_to_check(items: Sequence[ReleaseItem]) -> list[ReleaseItem]:
    """Return the items to check again before the next one is sent; none if its check is recent.

    After an unknown outcome, the next item is checked even if its check is recent, to find out
    whether the service responds. The batch is one larger than the number of items sent within
    MAX_CHECK_AGE. The checks of further items would expire before their turn.
    """
    now = clock.now()
    waiting = [item for item in items if item.state == ItemState.WAITING]
    checked_at = waiting[0].checked_at
    unknown = [item.settled_at for item in items if item.state == ItemState.UNKNOWN]
    is_before_unknown = any(at and checked_at and at >= checked_at for at in unknown)
    if not is_before_unknown and not _is_stale(waiting[0], now, MAX_CHECK_AGE):
        return []
    pace = sum(1 for item in items if item.sent_at and now - item.sent_at < MAX_CHECK_AGE)
    return waiting[: min(pace + 1, MAX_CHECKED)]


def _is_stale(item: ReleaseItem, now: datetime, max_age: timedelta = MAX_READ_AGE) -> bool:
    if item.checked_at is None or now - item.checked_at >= max_age:
        return True
    return _is_changed(item)


def _is_changed(item: ReleaseItem) -> bool:
    """Return whether the ledger has changed since an item was read.

    This only means that it should be read now.
    """
    return bool(item.changed_at and item.checked_at and item.changed_at >= item.checked_at)


def audience_changed() -> Q:
    audience = AudienceRecord.objects.filter(
        page_id=OuterRef("page_id"),
        audience_id=OuterRef("audience_id"),
        changed_at__gt=OuterRef("checked_at"),
    )
    return Q(Exists(audience))


def unknown_and_changed() -> QuerySet[ReleaseItem]:
    """Return unknown items whose operation was settled or audience changed since the last check.

    Includes items of ended releases. Excludes releases that a worker has claimed.
    """
    is_new = Q(changed_at=None) | Q(changed_at__lt=F("checked_at"))
    is_settled = Q(operation__settled_at__gt=F("checked_at"))
    unknown = ReleaseItem.objects.filter(state=ItemState.UNKNOWN, release__worker_id="")
    return unknown.filter(is_new, is_settled | audience_changed()).order_by()


def failed_and_live() -> QuerySet[ReleaseItem]:
    return _live_in_state(ItemState.FAILED)


def held_and_live() -> QuerySet[ReleaseItem]:
    """Return the items held while their release ran whose version has gone live elsewhere."""
    states = (ReleaseState.RUNNING, ReleaseState.HELD, ReleaseState.FINISHED)
    return _live_in_state(ItemState.HELD).filter(release__state__in=states)


def _live_in_state(state: ItemState) -> QuerySet[ReleaseItem]:
    live = AudienceRecord.objects.filter(
        page_id=OuterRef("page_id"),
        audience_id=OuterRef("audience_id"),
        live_version_id=OuterRef("version_id"),
    )
    return ReleaseItem.objects.filter(Exists(live), state=state).order_by()


def wake_releases(items: QuerySet[ReleaseItem], now: datetime) -> None:
    """Wake the releases of these changed items.

    A release that is claimed or paused keeps its time.
    """
    for release_id in sorted(set(items.order_by().values_list("release_id", flat=True))):
        with transaction.atomic():
            # Lock the release before its items, in the same order as a worker.
            release = Release.objects.select_for_update().filter(pk=release_id).first()
            items.filter(release=release_id).update(changed_at=now)
            is_asleep = release and not (release.worker_id or release.pause_reason)
            if release and is_asleep and (release.wake_at is None or release.wake_at > now):
                Release.objects.filter(pk=release_id).update(wake_at=now)


def read_lists(page_ids: Sequence[str]) -> dict[str, Listing | None]:
    """Read the audiences of some pages in parallel; None for a page that is gone.

    Raises APIError if one can't be read.
    """
    audiences, read_at = publishing_client().audiences, clock.now()
    calls = {page_id: run_concurrently(partial(audiences.list, page_id)) for page_id in page_ids}
    listings: dict[str, Listing | None] = {}
    for page_id, call in calls.items():
        try:
            listings[page_id] = read_audiences(page_id, listing=call, read_at=read_at)
        except NotFoundError:
            listings[page_id] = None
    for listing in listings.values():
        if listing and listing.error:
            raise listing.error
    return listings


def state_of_sent(
    item: ReleaseItem, listing: Listing | None, now: datetime
) -> tuple[ItemState, str]:
    """Return the state of an item that was sent, and the reason, from the list of its page.

    Settles its operation, if the list proves its outcome.
    """
    operation, snapshot, problem = item.operation, None, "This page no longer exists."
    if operation is None:
        return ItemState.UNKNOWN, message_of(None)
    if listing:
        target = PublishTarget(item.page_id, item.audience_id, item.version_id)
        try:
            snapshot = snapshot_version(target, find_audience(listing, *target[:2]))
            operation = settle_from_snapshot(operation, snapshot)
        except APIError as error:
            problem = f"This audience can’t be read. {error}"
    if is_sent_again(operation):
        is_over = item.release.state == ReleaseState.FINISHED
        return ItemState.FAILED if is_over else ItemState.WAITING, message_of(operation)
    if operation.outcome == Outcome.REJECTED:
        return ItemState.FAILED, message_of(operation)
    if snapshot is None:
        return ItemState.UNKNOWN, problem
    if operation.outcome == Outcome.ACCEPTED:
        return _state_of_accepted(item, operation, snapshot, now)
    return ItemState(item.state), item.reason


def _state_of_accepted(
    item: ReleaseItem, operation: Operation, snapshot: VersionSnapshot, now: datetime
) -> tuple[ItemState, str]:
    progress = publish_progress(operation, snapshot, usual=None, now=now)
    if progress.stage in (Stage.LIVE, Stage.REPLACED):
        return ItemState.LIVE, ""
    if progress.is_final:
        return ItemState.FAILED, f"{progress.headline}."
    return given_up() if is_given_up(item, now) else (ItemState.IN_PROGRESS, "")


def is_sent_again(operation: Operation) -> bool:
    """Return whether a publish was not carried out, for a reason other than the version."""
    if operation.outcome == Outcome.REJECTED:
        attempt = operation.attempts.last()
        return bool(attempt and attempt.status_code in (KEY_REJECTED, TOO_MANY_REQUESTS))
    return operation.outcome == Outcome.NOT_SENT


def message_of(operation: Operation | None) -> str:
    if operation is None:
        return "The publish is no longer on record."
    attempt = operation.attempts.last()
    interrupted = "The publish was interrupted before the service responded."
    return (attempt.message if attempt else "") or interrupted


def listed_change(item: ReleaseItem, listing: Listing | None) -> str:
    """Return how an item differs from its review, by its page's list; "" if it doesn't."""
    if listing is None:
        return "This page no longer exists."
    target = PublishTarget(item.page_id, item.audience_id, item.version_id)
    try:
        reading = find_audience(listing, *target[:2])
    except APIError as error:
        return f"This audience can’t be read. {error}"
    page, ids = page_last_known(item.page_id), item.pending_change_ids
    review = review_item(
        reading,
        snapshot_version(target, reading).version,
        page=PageReading(page.page if page else None),
        pending=PendingChanges(None if ids is None else len(ids)),
        pending_change_ids=ids,
        is_list_complete=not listing.value.has_more,
    )
    live_by = ""
    if review.live and review.live.version_id != item.live_version_id:
        publication = live_publication(item.page_id, item.audience_id)
        if publication and publication.version_id == review.live.version_id:
            live_by = publication.actor_name
    # The list doesn't have the page's status: that is compared when everything is read.
    return changes_since(item, replace(review, page_status=item.page_status, live_by=live_by))
