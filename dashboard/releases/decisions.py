"""Decisions of a person on a release, from publishing it to rolling it back or retrying it.

Each is one transaction. Of two simultaneous decisions only one succeeds. The other raises
ReleaseError, like any decision that the state doesn't allow. The caller checks permissions.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from dashboard import clock
from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.approvals.requests import ApprovalError, end_request, valid_emergency_reason
from dashboard.ledger.models.operations import actor_name
from dashboard.releases.approval_subjects import (
    Plan,
    needs_approval,
    release_refusal,
    request_for,
    void_for_plan,
)
from dashboard.releases.drafting import decide, request_check
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import (
    LEFT_TO_SEND,
    NOT_SENT,
    ItemState,
    Release,
    ReleaseItem,
    ReleaseState,
    add_to_feed,
    change,
)
from dashboard.releases.reviewing import blocked, blocked_reason, board_digest, light_items, risks
from dashboard.releases.schedules import ScheduledMoment

MAX_UNTYPED = 25
"""A user must type the number of versions above this, or if any has a risk. Our choice."""

SCHEDULE_CHANGED = (
    "The schedule was changed since you opened this page. Review it, then save again."
)

LIVE_ELSEWHERE = "This version is live: it was published elsewhere. Nothing is left to do."

IN_PROGRESS = (ItemState.SENDING, ItemState.IN_PROGRESS)
"""States of items that were sent and are not settled."""


def publish(
    release: Release,
    user: User,
    entered_count: str,
    displayed_digest: str,
    *,
    publishes_others: bool = False,
    emergency_reason: str | None = None,
    by_program: str = "",
) -> None:
    """Have a worker check a draft, scheduled or held release again, and send what waits.

    `entered_count` is the number of versions as typed by the user, `displayed_digest` the
    `board_digest` of the page on which the user decided. Blocked items become held and don't
    count. With `publishes_others`, items that pass the check are sent even if others are held.
    `emergency_reason` is an administrator's reason for publishing without a required approval.
    `by_program` names the token and the program that the user decided by.
    """
    startable = (ReleaseState.DRAFT, ReleaseState.SCHEDULED, ReleaseState.HELD)
    with decide(release, *startable):
        confirm(release, entered_count, displayed_digest)
        save(
            release,
            **decided_by(user, by_program),
            **_cleared(release, user, Plan(None, publishes_others), emergency_reason),
            **NO_SCHEDULE,
            **running_from_now(release),
            publishes_others=publishes_others,
        )


def start_rollback(release: Release, user: User) -> None:
    """Start a new rollback without a review. A worker reads it and holds items that changed.

    Held items don't hold the others. If the rule needs an approval, the worker requests it after
    reading all items. The caller creates the release in the same transaction.
    """
    columns = running_from_now(release) | {"publishes_others": True}
    if needs_approval(release):
        columns |= {"state": ReleaseState.WAITING_FOR_APPROVAL, "started_at": None}
    save(release, **decided_by(user), **columns)


def continue_release(
    release: Release,
    user: User,
    entered_count: str,
    displayed_digest: str,
    *,
    publishes_others: bool = False,
) -> None:
    with decide(release, ReleaseState.HELD):
        publish(release, user, entered_count, displayed_digest, publishes_others=publishes_others)


def schedule(
    release: Release,
    user: User,
    moment: ScheduledMoment,
    entered_count: str,
    displayed_digest: str,
    *,
    publishes_others: bool = False,
) -> None:
    """Have a worker publish a draft at a moment; otherwise as `publish`.

    A held release can be scheduled, too, if nothing of it was sent.
    """
    with decide(release, ReleaseState.DRAFT, ReleaseState.HELD):
        require_unsent(release)
        confirm(release, entered_count, displayed_digest)
        save(
            release,
            **decided_by(user),
            **_cleared(release, user, Plan(moment.instant, publishes_others)),
            **scheduled_for(moment),
            state=ReleaseState.SCHEDULED,
            publishes_others=publishes_others,
            needs_check=False,
        )


def reschedule(release: Release, user: User, moment: ScheduledMoment) -> ApprovalRequest | None:
    """Change the moment of a scheduled release. The user becomes its owner.

    An approval covers one moment, so another moment voids it. If the rule needs an approval, it is
    requested again and the request returned. Raises ReleaseError if somebody else changed the
    schedule after `release` was read.
    """
    displayed_due_at = release.due_at
    with decide(release, ReleaseState.SCHEDULED):
        if release.due_at != displayed_due_at:
            raise ReleaseError(SCHEDULE_CHANGED)
        is_moved = release.due_at != moment.instant
        columns = decided_by(user) | scheduled_for(moment)
        if not is_moved or (release.approval is None and not needs_approval(release)):
            save(release, **columns, state=ReleaseState.SCHEDULED)
            return None
        plan = Plan(moment.instant, release.publishes_others)
        void_for_plan(release, plan, f"{actor_name(user)} moved it to another time.")
        if not needs_approval(release):
            save(release, **columns, state=ReleaseState.SCHEDULED, approval=None)
            return None
        save(release, **columns, state=ReleaseState.WAITING_FOR_APPROVAL)
        approval = request_for(release, user)
        save(release, approval=approval)
        save(release, wake_at=waiting_until(release))
    return approval


def waiting_until(release: Release) -> datetime:
    """Return when a release is held if it hasn't been approved by then."""
    if release.approval is None:
        return clock.now()
    return min(filter(None, (release.approval.expires_at, release.due_at)))


def cancel_schedule(release: Release, user: User) -> None:
    with decide(release, ReleaseState.SCHEDULED):
        reason = f"{actor_name(user)} canceled the schedule."
        end_request(release.approval, RequestState.WITHDRAWN, reason)
        make_draft(release)


def stop(release: Release, user: User) -> None:
    """Have a running release stop after the version that is being sent."""
    with decide(release, ReleaseState.RUNNING):
        if release.stop_requested_at:
            return
        changed: dict[str, Any] = {
            "stop_requested_at": clock.now(),
            "stop_requested_by_name": actor_name(user),
        }
        if release.pause_reason:
            # No worker is sending, so let one stop the release at once.
            changed |= {"wake_at": clock.now(), "worker_id": ""}
        save(release, **changed)


def cancel(release: Release, user: User, by_program: str = "") -> None:
    """Cancel the unsent items of a release that isn't running.

    The release becomes finished if something was sent, else canceled. Versions in progress are
    still followed.
    """
    with decide(release, *_CANCELABLE):
        act = f"{actor_name(user)} canceled the release"
        reason = f"{act} {by_program}".rstrip() + "."
        end_request(release.approval, RequestState.WITHDRAWN, reason)
        unsent = release.items.filter(state__in=LEFT_TO_SEND)
        unsent.update(state=ItemState.CANCELED, reason=reason, settled_at=clock.now())
        _end(release)


_CANCELABLE = (
    *(ReleaseState.DRAFT, ReleaseState.WAITING_FOR_APPROVAL),
    *(ReleaseState.SCHEDULED, ReleaseState.HELD),
)


def skip_item(item: ReleaseItem, user: User) -> None:
    release = item.release
    with decide(release, ReleaseState.HELD):
        unsent = release.items.filter(state__in=LEFT_TO_SEND)
        skipped = unsent.filter(pk=item.pk).update(
            state=ItemState.CANCELED,
            reason=f"Skipped by {actor_name(user)}.",
            settled_at=clock.now(),
        )
        if not skipped:
            raise ReleaseError("Not skipped: this version was already sent or canceled.")
        add_to_feed(release.pk)
        if not unsent.exists():
            _end(release)


def set_live(failed: QuerySet[ReleaseItem]) -> None:
    """Set failed items to live: their version is live after all."""
    with transaction.atomic():
        release_ids = dict(failed.values_list("pk", "release_id"))
        items = ReleaseItem.objects.filter(pk__in=release_ids, state=ItemState.FAILED)
        if items.update(state=ItemState.LIVE, reason="", settled_at=clock.now()):
            add_to_feed(*set(release_ids.values()))


def skip_live(held: QuerySet[ReleaseItem]) -> None:
    """Cancel held items whose version another publish made live.

    A held release with nothing left to send ends.
    """
    for release_id in sorted(set(held.values_list("release_id", flat=True))):
        with transaction.atomic():
            release = Release.objects.select_for_update().filter(pk=release_id).first()
            skipped = held.filter(release=release_id).update(
                state=ItemState.CANCELED, reason=LIVE_ELSEWHERE, settled_at=clock.now()
            )
            if skipped:
                add_to_feed(release_id)
            unsent = ReleaseItem.objects.filter(release=release_id, state__in=LEFT_TO_SEND)
            if skipped and release and release.state == ReleaseState.HELD and not unsent.exists():
                _end(release)


def number_to_type(items: Iterable[ReleaseItem]) -> int | None:
    """Return the number of versions to be sent if a user must type it, else None."""
    waiting = (item for item in items if item.state == ItemState.WAITING)
    sendable = [item for item in waiting if not blocked(item)]
    has_risk = any(risks(item) for item in sendable)
    return len(sendable) if has_risk or len(sendable) > MAX_UNTYPED else None


def confirm(release: Release, entered_count: str, displayed_digest: str) -> None:
    """Hold the blocked items. Raises ReleaseError if the rest may not be sent as confirmed."""
    items = list(light_items(release))
    waiting = [item for item in items if item.state == ItemState.WAITING]
    if not items:
        raise ReleaseError("This release is empty. Add at least one version.")
    if any(not item.digest for item in waiting):
        raise ReleaseError("The first check hasn’t finished. Publish when it’s done.")
    if all(map(blocked, waiting)):
        raise ReleaseError("No version of this release can be sent: they are blocked or held.")
    if displayed_digest != board_digest(release, items):
        raise ReleaseError("Something changed since you opened this page. Review it again.")
    number = number_to_type(items)
    if number and entered_count.strip() != str(number):
        sentence = f"Not confirmed. Review the warnings, then type {number}."
        raise ReleaseError(sentence, field="typed")
    for item in waiting:
        if blocked(item):
            release.items.filter(pk=item.pk).update(
                state=ItemState.HELD, reason=blocked_reason(item), settled_at=clock.now()
            )


def require_unsent(release: Release) -> None:
    """Raise ReleaseError if any item was sent, because the rest can't be scheduled."""
    if release.items.exclude(state__in=NOT_SENT).exists():
        raise ReleaseError("Some versions were already sent, so the rest can’t be scheduled.")


def make_draft(release: Release) -> None:
    release.items.filter(state=ItemState.HELD).update(
        state=ItemState.WAITING, reason="", settled_at=None
    )
    save(release, **NO_SCHEDULE, state=ReleaseState.DRAFT, decided_at=None)
    request_check(release)


def _cleared(
    release: Release, user: User, plan: Plan, emergency_reason: str | None = None
) -> dict[str, Any]:
    """Return the columns that let a release be sent by a plan.

    Raises ReleaseError if a required approval is missing. Voids an approval that isn't required and
    doesn't match the plan.
    """
    if emergency_reason is not None and needs_approval(release):
        try:
            reason = valid_emergency_reason(user, emergency_reason)
        except ApprovalError as error:
            raise ReleaseError(str(error), field=error.field) from error
        void_for_plan(release, plan, f"{actor_name(user)} decided to publish it without approval.")
        return {"emergency_reason": reason, "approval": None}
    columns = {"emergency_reason": ""}
    release.emergency_reason = ""
    if not (problem := release_refusal(release, plan)):
        return columns
    if needs_approval(release):
        raise ReleaseError(f"Not sent. {problem}", field="approval")
    void_for_plan(release, plan, f"{actor_name(user)} published or scheduled it otherwise.")
    return columns | {"approval": None}


def _end(release: Release) -> None:
    now = clock.now()
    states = set(release.items.values_list("state", flat=True))
    if states & set(IN_PROGRESS):
        # A worker follows the rest, and finishes it.
        save(release, state=ReleaseState.RUNNING, active_at=now, needs_check=False, wake_at=now)
        return
    was_sent = bool(states - {ItemState.CANCELED})
    state = ReleaseState.FINISHED if was_sent else ReleaseState.CANCELED
    save(release, state=state, finished_at=now, needs_check=False, wake_at=None)


NO_SCHEDULE = {"due_at": None, "time_zone": "", "due_as_typed": ""}


def decided_by(user: User, by_program: str = "") -> dict[str, Any]:
    """Return the columns that record who decided, and clear an earlier stop or pause."""
    return {
        "owner": user,
        "owner_name": actor_name(user),
        "by_program": by_program,
        "decided_at": clock.now(),
        "stop_requested_at": None,
        "stop_requested_by_name": "",
        "pause_reason": "",
    }


def running_from_now(release: Release) -> dict[str, Any]:
    """Return the columns that have a worker check a release again, and send what waits."""
    now = clock.now()
    return {
        "state": ReleaseState.RUNNING,
        "started_at": release.started_at or now,
        "active_at": now,
        "needs_check": True,
        "wake_at": now,
    }


def scheduled_for(moment: ScheduledMoment) -> dict[str, Any]:
    return {
        "due_at": moment.instant,
        "time_zone": moment.zone,
        "due_as_typed": moment.as_typed,
        "wake_at": moment.instant,
    }


def save(release: Release, **columns: Any) -> None:
    """Change a locked release. If the state changes, a worker loses its claim."""
    if "state" in columns:
        columns |= {"worker_id": "", "is_provisional": False}
    change(release, **columns)
