"""Hold or pause releases. Call within a lock, except `hold_restored`, which locks them itself."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from dashboard import clock
from dashboard.approvals.changes import RESTORED
from dashboard.approvals.models import RequestState
from dashboard.approvals.requests import end_request
from dashboard.approvals.rule import right_problem
from dashboard.clock import in_minutes
from dashboard.ledger.models import Attempt
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.releases.approval_subjects import release_refusal
from dashboard.releases.models import (
    NOT_SENT,
    HoldKind,
    ItemState,
    Release,
    ReleaseState,
    add_to_feed,
    change,
    release_held,
)
from dashboard.work.claims import back_off

TOLERANCE = timedelta(minutes=15)
"""How late a release may still be sent, because a review gets outdated. Source: our choice."""
MAX_RETRY_AFTER = timedelta(minutes=10)
"""A longer Retry-After holds the release, because it would be too late afterwards."""
MIN_PAUSE, MAX_PAUSE = timedelta(seconds=5), timedelta(seconds=40)
MAX_UNKNOWN_IN_A_ROW = 3
MAX_FAILURES = 5
"""Consecutive unexpected failures, which take about 15 minutes."""
FAILED = "Pressroom failed unexpectedly at this release. The error was logged."

ACTIVE = (ReleaseState.WAITING_FOR_APPROVAL, ReleaseState.SCHEDULED, ReleaseState.RUNNING)
"""States in which a worker sends versions, or will, without another decision of the owner."""


def reason_to_hold(release: Release) -> tuple[HoldKind, str] | None:
    if release.stop_requested_at:
        return HoldKind.STOPPED, f"{release.stop_requested_by_name} stopped it."
    inactive = clock.now() - (release.active_at or clock.now())
    if inactive > TOLERANCE and release.pause_reason:
        paused = f"Nothing could be sent for {in_minutes(inactive)}. {release.pause_reason}"
        return HoldKind.SILENT, paused
    if inactive > TOLERANCE:
        return HoldKind.LATE, f"No worker ran for {in_minutes(inactive)}."
    kind = OperationKind.PUBLISH_VERSION
    if problem := right_problem(release.owner, release.owner_name, kind):
        return HoldKind.NOT_ALLOWED, problem
    if problem := release_refusal(release):
        return HoldKind.NOT_APPROVED, problem
    unknown = f"The last {MAX_UNKNOWN_IN_A_ROW} publishes have an unknown outcome."
    return (HoldKind.SILENT, unknown) if _ends_in_unknown(release) else None


def _ends_in_unknown(release: Release) -> bool:
    sent = release.items.filter(sent_at__gte=release.decided_at or release.created_at)
    interrupted = Attempt.objects.filter(
        operation=OuterRef("operation"), outcome=Outcome.UNKNOWN, ended_at=None
    )
    # Skip publishes whose worker was killed: the service has responded to a check since.
    is_checked = Q(Exists(interrupted), state=ItemState.UNKNOWN, checked_at__gt=F("settled_at"))
    last = sent.exclude(state__in=NOT_SENT).exclude(is_checked).order_by("-sent_at", "-pk")
    states = list(last.values_list("state", flat=True)[:MAX_UNKNOWN_IN_A_ROW])
    return states == [ItemState.UNKNOWN] * MAX_UNKNOWN_IN_A_ROW


def hold(release: Release, kind: HoldKind, reason: str) -> datetime:
    """Hold a release; return when to follow what is still in progress."""
    now = clock.now()
    sent = release.items.exclude(state__in=NOT_SENT).count()
    done = {0: "Nothing was sent.", 1: "One version was sent before."}
    # After a restore, the count would miss versions sent since the backup.
    if kind != HoldKind.RESTORED:
        reason = f"{reason} {done.get(sent, f'{sent} versions were sent before.')}"
    change(
        release,
        state=ReleaseState.HELD,
        hold_kind=kind,
        hold_reason=reason,
        held_at=now,
        stop_requested_at=None,
        pause_reason="",
        needs_check=False,
    )
    release_held.send_robust(sender=Release, release=release)
    return now


def pause(release: Release, sentence: str, wait: timedelta) -> datetime:
    if release.pause_reason != sentence:
        change(release, pause_reason=sentence)
    return clock.now() + wait


def pause_for_silence(release: Release, sentence: str) -> datetime:
    """Pause a release that can't be read, for longer as the silence lasts."""
    silence = clock.now() - (release.active_at or clock.now())
    return pause(release, sentence, min(MAX_PAUSE, max(MIN_PAUSE, silence)))


def fail(release: Release) -> datetime | None:
    """Record an unexpected failure; return when to try again, or None after MAX_FAILURES.

    After the last one, an active release is held and the check of a draft ends.
    """
    release.failures += 1
    release.save(update_fields=["failures"])
    if release.failures < MAX_FAILURES:
        return pause(release, FAILED, back_off(release.failures))
    if release.state == ReleaseState.WAITING_FOR_APPROVAL:
        end_request(release.approval, RequestState.VOID, FAILED)
    if release.state in ACTIVE:
        hold(release, HoldKind.ERROR, FAILED)
    change(release, failures=0, needs_check=False, pause_reason="")
    return None


def note_activity(release: Release) -> None:
    """Record that a worker made progress, so the release is neither late nor paused."""
    if release.pause_reason:
        add_to_feed(release.pk)
    release.active_at, release.pause_reason = clock.now(), ""
    release.save(update_fields=["active_at", "pause_reason"])


def hold_restored() -> int:
    """Hold the active releases of a restored backup; return how many."""
    with transaction.atomic():
        releases = Release.objects.select_for_update().filter(state__in=ACTIVE)
        for release in (held := list(releases)):
            end_request(release.approval, RequestState.VOID, RESTORED)
            # A worker still follows what was in progress.
            release.wake_at, release.worker_id = hold(release, HoldKind.RESTORED, RESTORED), ""
            release.save(update_fields=["wake_at", "worker_id"])
    return len(held)
