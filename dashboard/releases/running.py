"""Run a release: one short step at a time, from what the database says.

A step changes a release only in a transaction that locks its row and finds the worker's claim in
it. An item becomes *sending* in the same transaction that records its operation, whose unique key
is the lock of one publish; the call follows the commit. So a killed worker leaves an
item that was not sent or an operation on record, and an item whose operation is on record is not
sent again: its state follows from the outcome. Nothing is sent for a release that is stopped, late
or no longer allowed, nor an item that wasn't compared with its review just before.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.client import APIError, RateLimitedError
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import mark_interrupted_unknown, mark_unknown, publish_key
from dashboard.ledger.queries.audiences import version_last_known
from dashboard.ledger.queries.operations import operation_by_key, publishes_of
from dashboard.operations.checking import PublishTarget
from dashboard.operations.execution import send
from dashboard.operations.publish import LIST_LAG, begin_publish, is_other_published_since
from dashboard.operations.verdicts import is_unchanged
from dashboard.releases.approvals import clearance_of
from dashboard.releases.approving import (
    approval_differences,
    hold_unapproved,
    void_approval,
)
from dashboard.releases.checking import MAX_PARALLEL_CALLS, check_release, read_items
from dashboard.releases.decisions import waiting_until
from dashboard.releases.following import (
    FOLLOWED,
    MAX_READ_AGE,
    given_up,
    is_followed,
    is_given_up,
    items_to_check,
    listed_change,
    message_of,
    pages_to_read,
    read_lists,
    state_of_sent,
)
from dashboard.releases.holding import (
    MAX_PAUSE,
    MAX_RETRY_AFTER,
    MIN_PAUSE,
    TOLERANCE,
    hold,
    minutes,
    note_activity,
    pause,
    pause_for_silence,
    reason_to_hold,
)
from dashboard.releases.models import HoldKind, ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import changes_since, light_items
from dashboard.releases.signals import item_ended_badly, release_finished
from dashboard.work import claims
from dashboard.work.claims import ClaimLostError

Claim: TypeAlias = claims.Claim[Release]

SENDING_POLL = timedelta(seconds=2)
"""Between looks at a call that another worker may still be making."""

PROVISIONAL_FOR = timedelta(days=1)
"""A draft that was only opened is removed then, if it was not when it was left."""

KEY_REJECTED, TOO_MANY_REQUESTS = 401, 429
"""Statuses about the key and the time, not the version: it is sent again later."""


def advance(claim: Claim) -> datetime | None:
    """Do the next step of a claimed release; return when to do the one after it, or None.

    Raises ClaimLostError if the claim was lost on the way: then another worker continues.
    """
    release = Release.objects.filter(pk=claim.row.pk).first()
    if release is None:
        raise ClaimLostError
    items = list(light_items(release))
    for item in items:
        if item.state == ItemState.SENDING:
            return _take_outcome(claim, item, is_resumed=True)
    match release.state:
        case ReleaseState.DRAFT | ReleaseState.HELD if (
            release.needs_check or release.is_provisional
        ):
            return _check(claim, release)
        case ReleaseState.WAITING_FOR_APPROVAL:
            return _wait_for_approval(claim, release, items)
        case ReleaseState.SCHEDULED:
            return _start(claim)
        case ReleaseState.RUNNING if any(item.state == ItemState.WAITING for item in items):
            return _run(claim, items)
    return _follow(claim, items)


def _check(claim: Claim, release: Release) -> datetime | None:
    """Read a draft or held release for the person who reviews it; remove a draft if nobody did."""
    removed_at = release.created_at + PROVISIONAL_FOR
    if release.is_provisional and timezone.now() >= removed_at:
        with claim.locked() as draft:
            if draft.is_provisional:
                draft.delete()
        return None
    if not release.needs_check:
        return removed_at
    problem = ""
    try:
        check_release(release, claim)
    except APIError as error:
        problem = f"The versions couldn’t be checked. {error}"
    with claim.locked() as locked:
        return pause(locked, problem, MAX_PAUSE if problem else timedelta())


def _wait_for_approval(
    claim: Claim, release: Release, items: Sequence[ReleaseItem]
) -> datetime | None:
    """Compare the items with their review if a person requested it; hold what is not approved."""
    try:
        if release.needs_check:
            _check_before_sending(
                claim, [each for each in items if each.state == ItemState.WAITING]
            )
    except APIError as error:
        with claim.locked() as unread:
            return pause(unread, f"The versions couldn’t be checked. {error}", MAX_PAUSE)
    with claim.locked() as waiting:
        if waiting.state != ReleaseState.WAITING_FOR_APPROVAL:
            return timezone.now()
        if held_at := hold_unapproved(waiting):
            return held_at
        due_at = waiting_until(waiting)
    # What was sent before it was held is followed meanwhile.
    return min(due_at, _follow(claim, items) or due_at)


def _start(claim: Claim) -> datetime:
    """Start a scheduled release that is due; hold it if it has been due for too long."""
    with claim.locked() as release:
        now = timezone.now()
        due_at = release.due_at or now
        if due_at > now:
            return due_at
        if now - due_at > TOLERANCE:
            late = f"It was due {minutes(now - due_at)} before a worker could start it."
            return hold(release, HoldKind.LATE, late)
        release.state, release.needs_check = ReleaseState.RUNNING, True
        release.started_at = release.active_at = now
        release.save(update_fields=["state", "needs_check", "started_at", "active_at"])
        return now


def _run(claim: Claim, items: Sequence[ReleaseItem]) -> datetime:
    """Do the next step of a running release: hold it, read its items, or send one."""
    with claim.locked() as release:
        if reason := reason_to_hold(release):
            if HoldKind.NOT_APPROVED in reason:
                void_approval(release, reason[1])
            return hold(release, *reason)
    waiting = [item for item in items if item.state == ItemState.WAITING]
    try:
        if release.needs_check:
            return _check_before_sending(claim, waiting)
        pages = pages_to_read(items)
        if pages and (next_step := _read_and_compare(claim, pages)):
            return next_step
        to_check = items_to_check(items)
        if to_check and (next_step := _check_again(claim, to_check)):
            return next_step
    except APIError as error:
        with claim.locked() as release:
            # Much may change in a silence: after it everything is read once more.
            release.needs_check = True
            release.save(update_fields=["needs_check"])
            return pause_for_silence(release, str(error))
    return _send(claim, waiting[0].pk)


def _check_before_sending(claim: Claim, waiting: Sequence[ReleaseItem]) -> datetime:
    """Read all that is left to send, and hold what differs from the review. Raises APIError."""
    next_step = _check_again(claim, waiting)
    with claim.locked() as release:
        release.needs_check = False
        release.save(update_fields=["needs_check"])
    return next_step or timezone.now()


def _check_again(claim: Claim, waiting: Sequence[ReleaseItem]) -> datetime | None:
    """Read items once more, all that was reviewed of them, and hold what differs.

    Returns when to do the next step if anything is held. Raises APIError.
    """
    read_at = timezone.now()
    reviews = read_items(waiting, claim.renew)
    changes = {item.pk: changes_since(item, reviews[item.pk]) for item in waiting}
    with claim.locked() as release:
        unchanged = [pk for pk, change in changes.items() if not change]
        release.items.filter(pk__in=unchanged).update(checked_at=read_at)
        changed = [(item, reviews[item.pk]) for item in waiting if changes[item.pk]]
        differences = approval_differences(release, changed)
        return _hold_changed(release, changes, read_at, differences)


def _read_and_compare(claim: Claim, page_ids: Sequence[str]) -> datetime | None:
    """Read the lists of these pages, and record what follows for each item of them.

    Returns when to do the next step if something of a running release is held. Raises APIError.
    """
    read_at = timezone.now()
    listings = read_lists(page_ids)
    with claim.locked() as release:
        items = light_items(release).filter(page_id__in=page_ids)
        for item in items.exclude(state=ItemState.WAITING).select_related("operation"):
            if is_followed(item, read_at):
                _set_state(item, *state_of_sent(item, listings[item.page_id], read_at))
                ReleaseItem.objects.filter(pk=item.pk).update(checked_at=read_at)
        if release.state != ReleaseState.RUNNING:
            return None
        waiting = items.filter(state=ItemState.WAITING)
        changes = {item.pk: listed_change(item, listings[item.page_id]) for item in waiting}
        return _hold_changed(release, changes, read_at)


def _hold_changed(
    release: Release,
    changes: dict[int, str],
    read_at: datetime,
    differences: Sequence[dict[str, str]] = (),
) -> datetime | None:
    """Hold the items that changed, within `locked`, and the release unless the others are sent.

    Returns when to do the next step if anything is held. `changes` are sentences by primary key.
    An approval is void with the release, for the `differences`, and nothing more is sent by it.
    """
    changed = {pk: change for pk, change in changes.items() if change}
    waiting = release.items.filter(pk__in=changes, state=ItemState.WAITING)
    held = {"state": ItemState.HELD, "checked_at": read_at, "settled_at": timezone.now()}
    for pk, change in changed.items():
        waiting.filter(pk=pk).update(reason=change, **held)
    note_activity(release)
    if not changed:
        return None
    if release.publishes_others:
        return timezone.now()
    reason = f"{len(changed)} versions changed after the review."
    if len(changed) == 1:
        [(pk, change)] = changed.items()
        reason = f"{release.items.values_list('audience_name', flat=True).get(pk=pk)}: {change}"
    void_approval(release, reason, differences)
    return hold(release, HoldKind.CHANGED, reason)


def _send(claim: Claim, item_pk: int) -> datetime:
    """Record the publish of an item, then send it."""
    with claim.locked() as release:
        now = timezone.now()
        item = release.items.get(pk=item_pk)
        is_running = release.state == ReleaseState.RUNNING and not release.stop_requested_at
        if not is_running or item.state != ItemState.WAITING or release.owner is None:
            return now
        if is_other_published_since(_target(item), item.checked_at):
            release.needs_check = True
            release.save(update_fields=["needs_check"])
            return now
        operation, attempt = _begin(item, release.owner)
        item.operation, item.operation_key = operation, operation.operation_key
        # As on the attempt: so another worker knows that the attempt is this item's.
        item.sent_at = attempt.sent_at if attempt else now
        item.state, item.reason = ItemState.SENDING, ""
        item.save(update_fields=["operation", "operation_key", "state", "sent_at", "reason"])
        claim.extend()
    # Without an attempt, somebody else has sent this version, and it is followed.
    error = send(operation, attempt).error if attempt else None
    return _take_outcome(claim, item, error)


def _target(item: ReleaseItem) -> PublishTarget:
    return PublishTarget(item.page_id, item.audience_id, item.version_id)


def _begin(item: ReleaseItem, owner: User) -> tuple[Operation, Attempt | None]:
    """Record the publish of an item; without an attempt, one by somebody else is in progress."""
    target = _target(item)
    publishes = publishes_of(item.page_id, item.audience_id).filter(version_id=item.version_id)
    last = publishes.order_by("-requested_at", "-pk").first()
    if last and _may_not_be_listed(last, item):
        return last, None
    record = version_last_known(*target)
    return begin_publish(
        target,
        operation_key=publish_key(*target),
        version=record.version if record else item.version,
        audience_name=item.audience_name,
        actor=owner,
        clearance=clearance_of(item.release, item),
    )


def _may_not_be_listed(last: Operation, item: ReleaseItem) -> bool:
    """Return whether the service has just accepted a publish that its list does not show yet."""
    is_recent = timezone.now() - (last.settled_at or last.requested_at) < LIST_LAG
    return bool(
        is_recent and last.outcome == Outcome.ACCEPTED and is_unchanged(last.before, item.version)
    )


def _take_outcome(
    claim: Claim, item: ReleaseItem, error: APIError | None = None, *, is_resumed: bool = False
) -> datetime:
    """Give an item that was sent the state that follows from its operation on record.

    `is_resumed`: it was sent in an earlier step, whose worker may have been killed long ago.
    """
    mark_interrupted_unknown()
    if is_resumed and claim.is_takeover and item.sent_at:
        # Its claim was renewed while the worker waited for the response: that one is gone.
        mark_unknown(
            Attempt.objects.filter(
                operation__operation_key=item.operation_key, sent_at=item.sent_at
            )
        )
    with claim.locked() as release:
        operation = operation_by_key(item.operation_key)
        if operation and operation.outcome == Outcome.SENDING:
            # Another worker, or a person, still waits for the response; at last it is interrupted.
            return timezone.now() + SENDING_POLL
        if not release.items.filter(pk=item.pk, state=ItemState.SENDING).exists():
            return timezone.now()
        note_activity(release)
        item.operation = operation
        if operation and operation.outcome == Outcome.ACCEPTED:
            _set_state(item, ItemState.IN_PROGRESS)
        elif operation is None or operation.outcome == Outcome.UNKNOWN:
            _set_state(item, ItemState.UNKNOWN, message_of(operation))
            release.needs_check = release.needs_check or is_resumed
            release.save(update_fields=["needs_check"])
        elif _is_sent_again(operation):
            return _put_back(release, item, message_of(operation), error)
        else:
            _set_state(item, ItemState.FAILED, message_of(operation))
        return timezone.now()


def _is_sent_again(operation: Operation) -> bool:
    """Return whether an operation failed for a reason that has nothing to do with the version."""
    attempt = operation.attempts.last()
    status = attempt.status_code if attempt else None
    return operation.outcome == Outcome.NOT_SENT or status in (KEY_REJECTED, TOO_MANY_REQUESTS)


def _put_back(
    release: Release, item: ReleaseItem, message: str, error: APIError | None
) -> datetime:
    """Let an item that was not published wait again, within `locked`, and pause the release."""
    is_over = release.state in (ReleaseState.CANCELED, ReleaseState.FINISHED)
    _set_state(item, ItemState.CANCELED if is_over else ItemState.WAITING, message)
    if release.state != ReleaseState.RUNNING:
        return timezone.now()
    wait = MIN_PAUSE
    if isinstance(error, RateLimitedError) and error.retry_after_s:
        wait = max(MIN_PAUSE, timedelta(seconds=error.retry_after_s))
    if wait > MAX_RETRY_AFTER:
        later = f"The service accepts the next publish in {minutes(wait)}. {message}"
        return hold(release, HoldKind.LATE, later)
    return pause(release, message, wait)


def _set_state(item: ReleaseItem, state: ItemState, reason: str = "") -> None:
    """Record the state of an item that was sent, within `locked`; nothing if it is the same."""
    if (item.state, item.reason) == (state, reason):
        return
    item.state, item.reason = state, reason
    is_open = state in (ItemState.WAITING, ItemState.IN_PROGRESS)
    item.settled_at = None if is_open else timezone.now()
    if state == ItemState.WAITING:
        item.sent_at = None
    item.save(update_fields=["state", "reason", "operation", "settled_at", "sent_at"])
    if state in (ItemState.FAILED, ItemState.UNKNOWN):
        item_ended_badly.send_robust(sender=ReleaseItem, item=item)


def _follow(claim: Claim, items: Sequence[ReleaseItem]) -> datetime | None:
    """Read what is in progress; finish a running release that has nothing left to do."""
    now = timezone.now()
    followed = [item for item in items if is_followed(item, now)]
    if not followed:
        _finish(claim)
        return None
    pages = pages_to_read(items)
    if not pages:
        return now + MAX_READ_AGE
    try:
        _read_and_compare(claim, pages)
    except APIError:
        with claim.locked():
            for item in followed:
                if item.state == ItemState.IN_PROGRESS and is_given_up(item, now):
                    _set_state(item, *given_up())
        return timezone.now() + MAX_PAUSE
    # With so many pages there may be more to read; with nothing left it is finished at once.
    is_more = len(pages) == MAX_PARALLEL_CALLS or not _is_followed_further(claim, now)
    return timezone.now() if is_more else timezone.now() + MAX_READ_AGE


def _is_followed_further(claim: Claim, now: datetime) -> bool:
    """Return whether any item of a release is still followed, as recorded by the last read."""
    sent = ReleaseItem.objects.filter(release=claim.row, state__in=FOLLOWED)
    columns = ("state", "checked_at", "changed_at", "settled_at", "sent_at")
    return any(is_followed(item, now) for item in sent.only(*columns))


def _finish(claim: Claim) -> None:
    """Finish a running release; a release in another state stays as it is."""
    with claim.locked() as release:
        if release.state == ReleaseState.RUNNING:
            release.state, release.finished_at = ReleaseState.FINISHED, timezone.now()
            release.stop_requested_at, release.pause_reason = None, ""
            columns = ["state", "finished_at", "stop_requested_at", "pause_reason"]
            release.save(update_fields=columns)
            release_finished.send_robust(sender=Release, release=release)
