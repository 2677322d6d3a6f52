"""Send an item of a running release, and set its state from the outcome."""

from datetime import datetime, timedelta
from typing import TypeAlias

from django.contrib.auth.models import User

from dashboard import clock
from dashboard.client import APIError, RateLimitedError
from dashboard.clock import in_words
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.operations import mark_interrupted_unknown, mark_unknown, publish_key
from dashboard.ledger.queries.audiences import version_last_known
from dashboard.ledger.queries.operations import operation_by_key, publishes_of
from dashboard.operations.checking import PublishTarget
from dashboard.operations.execution import send
from dashboard.operations.publish import (
    audience_locked,
    begin_publish,
    is_other_published_since,
    may_not_be_listed,
)
from dashboard.releases.approval_subjects import clearance_of
from dashboard.releases.following import is_sent_again, message_of
from dashboard.releases.holding import MAX_RETRY_AFTER, MIN_PAUSE, hold, note_activity, pause
from dashboard.releases.models import (
    HoldKind,
    ItemState,
    Release,
    ReleaseItem,
    ReleaseState,
    add_to_feed,
    item_ended_badly,
)
from dashboard.work import claims

Claim: TypeAlias = claims.Claim[Release]

SENDING_POLL = timedelta(seconds=2)
"""Interval between checks of a call that another worker may still be making."""


def send_item(claim: Claim, waiting: ReleaseItem) -> datetime:
    # Lock the audience first, as a review does: both would wait forever otherwise.
    with audience_locked(_target(waiting)), claim.locked() as release:
        now = clock.now()
        item = release.items.get(pk=waiting.pk)
        is_running = release.state == ReleaseState.RUNNING and not release.stop_requested_at
        if not is_running or item.state != ItemState.WAITING or release.owner is None:
            return now
        if is_other_published_since(_target(item), item.checked_at):
            release.needs_check = True
            release.save(update_fields=["needs_check"])
            add_to_feed(release.pk)
            return now
        operation, attempt = _begin(item, release.owner)
        item.operation, item.operation_key = operation, operation.operation_key
        # The same time as on the attempt, so that another worker can match the two.
        item.sent_at = attempt.sent_at if attempt else now
        item.state, item.reason = ItemState.SENDING, ""
        item.save(update_fields=["operation", "operation_key", "state", "sent_at", "reason"])
        add_to_feed(release.pk)
        claim.extend()
    # Without an attempt, this version was sent elsewhere, and the item follows that operation.
    error = send(operation, attempt).error if attempt else None
    return take_outcome(claim, item, error)


def _target(item: ReleaseItem) -> PublishTarget:
    return PublishTarget(item.page_id, item.audience_id, item.version_id)


def _begin(item: ReleaseItem, owner: User) -> tuple[Operation, Attempt | None]:
    """Record the publish of an item. The attempt is None if it is already in progress elsewhere."""
    target = _target(item)
    publishes = publishes_of(item.page_id, item.audience_id).filter(version_id=item.version_id)
    last = publishes.order_by("-requested_at", "-pk").first()
    if last and may_not_be_listed(last, item.version):
        return last, None
    record = version_last_known(*target)
    return begin_publish(
        target,
        operation_key=publish_key(*target),
        version=record.version if record else item.version,
        live=item.live_version,
        audience_name=item.audience_name,
        actor=owner,
        clearance=clearance_of(item.release, item),
        reason=PublicationReason.RELEASE,
        note=item.release.note,
        by_program=item.release.by_program,
    )


def take_outcome(
    claim: Claim, item: ReleaseItem, error: APIError | None = None, *, is_resumed: bool = False
) -> datetime:
    """Set the state of a sent item from its recorded operation; return the next step's time.

    `is_resumed` means that an earlier step sent it. Its worker may have been killed.
    """
    mark_interrupted_unknown()
    if is_resumed and claim.is_takeover and item.sent_at:
        # A worker renews its claim while it waits for the response, so the earlier one is gone.
        mark_unknown(
            Attempt.objects.filter(
                operation__operation_key=item.operation_key, sent_at=item.sent_at
            )
        )
    with claim.locked() as release:
        operation = operation_by_key(item.operation_key)
        if operation and operation.outcome == Outcome.SENDING:
            # Another worker or a person still waits for the response. It times out eventually.
            return clock.now() + SENDING_POLL
        if not release.items.filter(pk=item.pk, state=ItemState.SENDING).exists():
            return clock.now()
        note_activity(release)
        item.operation = operation
        if operation and operation.outcome == Outcome.ACCEPTED:
            set_state(item, ItemState.IN_PROGRESS)
        elif operation is None or operation.outcome == Outcome.UNKNOWN:
            set_state(item, ItemState.UNKNOWN, message_of(operation))
            release.needs_check = release.needs_check or is_resumed
            release.save(update_fields=["needs_check"])
        elif is_sent_again(operation):
            return _put_back(release, item, message_of(operation), error)
        else:
            set_state(item, ItemState.FAILED, message_of(operation))
        return clock.now()


def _put_back(
    release: Release, item: ReleaseItem, message: str, error: APIError | None
) -> datetime:
    """Return an unpublished item to waiting, within `locked`, and pause or hold the release."""
    is_over = release.state in (ReleaseState.CANCELED, ReleaseState.FINISHED)
    set_state(item, ItemState.CANCELED if is_over else ItemState.WAITING, message)
    if release.state != ReleaseState.RUNNING:
        return clock.now()
    wait = MIN_PAUSE
    if isinstance(error, RateLimitedError) and error.retry_after_s:
        wait = max(MIN_PAUSE, timedelta(seconds=error.retry_after_s))
    if wait > MAX_RETRY_AFTER:
        later = f"The service accepts the next publish in {in_words(wait)}. {message}"
        return hold(release, HoldKind.LATE, later)
    return pause(release, message, wait)


def set_state(item: ReleaseItem, state: ItemState, reason: str = "") -> None:
    """Record the state of a sent item, within `locked`. Does nothing if it is unchanged."""
    if (item.state, item.reason) == (state, reason):
        return
    item.state, item.reason = state, reason
    is_open = state in (ItemState.WAITING, ItemState.IN_PROGRESS)
    item.settled_at = None if is_open else clock.now()
    if state == ItemState.WAITING:
        item.sent_at = None
    item.save(update_fields=["state", "reason", "operation", "settled_at", "sent_at"])
    add_to_feed(item.release_id)
    if state in (ItemState.FAILED, ItemState.UNKNOWN):
        item_ended_badly.send_robust(sender=ReleaseItem, item=item)
