"""Run a release in short steps. Each step starts from the state in the database.

A step changes a release only in a transaction that locks its row and finds the worker's claim in
it. The same transaction sets an item to *sending* and records its operation, whose unique key
prevents a second publish. The call follows the commit. So a killed worker leaves either an unsent
item or a recorded operation. An item with a recorded operation gets its state from the outcome.
Nothing is sent for a release that is stopped, late or not allowed. Each item is compared with its
review just before it is sent.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from dashboard import clock
from dashboard.client import APIError
from dashboard.clock import in_minutes
from dashboard.releases.approval_requests import (
    approval_differences,
    hold_unapproved,
    request_as_read,
    void_approval,
)
from dashboard.releases.checking import (
    MAX_PARALLEL_CALLS,
    check_release,
    read_items,
    review_columns,
)
from dashboard.releases.decisions import waiting_until
from dashboard.releases.following import (
    FOLLOWED,
    MAX_READ_AGE,
    given_up,
    is_followed,
    is_given_up,
    items_to_check,
    listed_change,
    pages_to_read,
    read_lists,
    state_of_sent,
)
from dashboard.releases.holding import (
    MAX_PAUSE,
    TOLERANCE,
    hold,
    note_activity,
    pause,
    pause_for_silence,
    reason_to_hold,
)
from dashboard.releases.models import (
    HoldKind,
    ItemState,
    Release,
    ReleaseItem,
    ReleaseState,
    add_to_feed,
    release_finished,
)
from dashboard.releases.reviewing import (
    ItemReview,
    changes_since,
    changes_since_planned,
    light_items,
)
from dashboard.releases.sending import Claim, send_item, set_state, take_outcome
from dashboard.work.claims import ClaimLostError

MAX_READ_IN_A_STEP = 50
"""Items read in a step. It limits how long other releases wait. Source: our choice."""

PROVISIONAL_FOR = timedelta(days=1)
"""How long a provisional draft is kept if its user doesn't discard it."""


def advance(claim: Claim) -> datetime | None:
    """Do the next step of a claimed release; return when the following one is due, or None.

    Raises ClaimLostError if the claim was lost. Another worker may then continue.
    """
    release = Release.objects.filter(pk=claim.row.pk).first()
    if release is None:
        raise ClaimLostError
    items = list(light_items(release))
    for item in items:
        if item.state == ItemState.SENDING:
            return take_outcome(claim, item, is_resumed=True)
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
    """Read a draft or held release for review, or remove an expired provisional draft."""
    removed_at = release.created_at + PROVISIONAL_FOR
    if release.is_provisional and clock.now() >= removed_at:
        with claim.locked() as draft:
            if draft.is_provisional:
                add_to_feed(draft.pk)
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
    """Read the items if needed, then request the approval, or hold the release if it expired."""
    try:
        if to_check := _to_check_before_sending(release, items):
            return _check_before_sending(claim, to_check)
    except APIError as error:
        with claim.locked() as unread:
            return pause(unread, f"The versions couldn’t be checked. {error}", MAX_PAUSE)
    with claim.locked() as waiting:
        if waiting.state != ReleaseState.WAITING_FOR_APPROVAL:
            return clock.now()
        if waiting.is_unrequested:
            return request_as_read(waiting)
        if held_at := hold_unapproved(waiting):
            return held_at
        due_at = waiting_until(waiting)
    # Meanwhile, follow the items that were sent before a hold.
    return min(due_at, _follow(claim, items) or due_at)


def _start(claim: Claim) -> datetime:
    with claim.locked() as release:
        now = clock.now()
        due_at = release.due_at or now
        if due_at > now:
            return due_at
        if now - due_at > TOLERANCE:
            late = f"It was due {in_minutes(now - due_at)} before a worker could start it."
            return hold(release, HoldKind.LATE, late)
        release.state, release.needs_check = ReleaseState.RUNNING, True
        release.started_at = release.active_at = now
        release.save(update_fields=["state", "needs_check", "started_at", "active_at"])
        add_to_feed(release.pk)
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
        if to_check := _to_check_before_sending(release, items):
            return _check_before_sending(claim, to_check)
        pages = pages_to_read(items)
        if pages and (next_step := _read_and_compare(claim, pages)):
            return next_step
        to_check = items_to_check(items)
        if to_check and (next_step := _check_again(claim, to_check)):
            return next_step
    except APIError as error:
        with claim.locked() as release:
            # Much may change while the service is silent, so read everything again afterwards.
            release.needs_check = True
            release.save(update_fields=["needs_check"])
            return pause_for_silence(release, str(error))
    return send_item(claim, waiting[0])


def _to_check_before_sending(release: Release, items: Sequence[ReleaseItem]) -> list[ReleaseItem]:
    """Return the waiting items that must be read: all if a check is needed, else those unread."""
    waiting = [item for item in items if item.state == ItemState.WAITING]
    return [item for item in waiting if release.needs_check or item.checked_at is None]


def _check_before_sending(claim: Claim, to_check: Sequence[ReleaseItem]) -> datetime:
    """Read some waiting items, and hold those that differ from the review. Raises APIError.

    Later steps read the others, so a worker can act on other releases in between.
    """
    with claim.locked() as release:
        if release.needs_check:
            unread = release.items.filter(pk__in=[item.pk for item in to_check])
            unread.update(checked_at=None)
            release.needs_check = False
            release.save(update_fields=["needs_check"])
            add_to_feed(release.pk)
    part, others = to_check[:MAX_READ_IN_A_STEP], to_check[MAX_READ_IN_A_STEP:]
    return _check_again(claim, part, others) or clock.now()


def _check_again(
    claim: Claim, waiting: Sequence[ReleaseItem], others: Sequence[ReleaseItem] = ()
) -> datetime | None:
    """Read all reviewed content of these items again, and hold those that differ.

    If any differs, the others are read, too, so that a person sees all changes. Returns when to do
    the next step if anything is held. Raises APIError.
    """
    read_at = clock.now()
    reviews = read_items(waiting, claim.renew)
    changes = {item.pk: _change(item, reviews[item.pk]) for item in waiting}
    if others and any(changes.values()):
        return _check_again(claim, [*waiting, *others])
    with claim.locked() as release:
        unread = [item for item in waiting if not item.digest and not changes[item.pk]]
        for item in unread:
            columns = review_columns(item, reviews[item.pk])
            release.items.filter(pk=item.pk, state=ItemState.WAITING).update(**columns)
        if unread:
            add_to_feed(release.pk)
        unchanged = [pk for pk, change in changes.items() if not change]
        release.items.filter(pk__in=unchanged).update(checked_at=read_at)
        changed = [(item, reviews[item.pk]) for item in waiting if changes[item.pk]]
        differences = approval_differences(release, changed)
        return _hold_changed(release, changes, read_at, differences)


def _change(item: ReleaseItem, review: ItemReview) -> str:
    is_planned = not item.digest and item.release.rolls_back_id is not None
    return changes_since_planned(item, review) if is_planned else changes_since(item, review)


def _read_and_compare(claim: Claim, page_ids: Sequence[str]) -> datetime | None:
    """Read the lists of these pages, and update the items on them.

    Returns when to do the next step if an item of a running release is held. Raises APIError.
    """
    read_at = clock.now()
    listings = read_lists(page_ids)
    with claim.locked() as release:
        items = light_items(release).filter(page_id__in=page_ids)
        for item in items.exclude(state=ItemState.WAITING).select_related("operation"):
            if is_followed(item, read_at):
                set_state(item, *state_of_sent(item, listings[item.page_id], read_at))
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
    If the release is held, its approval becomes void and records the `differences`.
    """
    changed = {pk: change for pk, change in changes.items() if change}
    waiting = release.items.filter(pk__in=changes, state=ItemState.WAITING)
    held = {"state": ItemState.HELD, "checked_at": read_at, "settled_at": clock.now()}
    for pk, change in changed.items():
        waiting.filter(pk=pk).update(reason=change, **held)
    note_activity(release)
    if not changed:
        return None
    add_to_feed(release.pk)
    if release.publishes_others:
        return clock.now()
    reason = f"{len(changed)} versions changed after the review."
    if len(changed) == 1:
        [(pk, change)] = changed.items()
        reason = f"{release.items.values_list('audience_name', flat=True).get(pk=pk)}: {change}"
    void_approval(release, reason, differences)
    return hold(release, HoldKind.CHANGED, reason)


def _follow(claim: Claim, items: Sequence[ReleaseItem]) -> datetime | None:
    """Read the items in progress; finish a running release that has nothing left to do."""
    now = clock.now()
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
                    set_state(item, *given_up())
        return clock.now() + MAX_PAUSE
    # Continue at once if more pages may be due, or if nothing is left and it can finish.
    is_more = len(pages) == MAX_PARALLEL_CALLS or not _is_followed_further(claim, now)
    return clock.now() if is_more else clock.now() + MAX_READ_AGE


def _is_followed_further(claim: Claim, now: datetime) -> bool:
    sent = ReleaseItem.objects.filter(release=claim.row, state__in=FOLLOWED)
    columns = ("state", "checked_at", "changed_at", "settled_at", "sent_at")
    return any(is_followed(item, now) for item in sent.only(*columns))


def _finish(claim: Claim) -> None:
    """Finish a running release; a release in another state stays as it is."""
    with claim.locked() as release:
        if release.state == ReleaseState.RUNNING:
            release.state, release.finished_at = ReleaseState.FINISHED, clock.now()
            release.stop_requested_at, release.pause_reason = None, ""
            columns = ["state", "finished_at", "stop_requested_at", "pause_reason"]
            release.save(update_fields=columns)
            add_to_feed(release.pk)
            release_finished.send_robust(sender=Release, release=release)
