"""Checks that a worker runs once a minute, for what happens by the passing of time.

Several workers may notice the same. An event's key is unique, and all state between two checks is
in the database.
"""

import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import pairwise

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse

from dashboard import clock
from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.client import APIError, NoResponseError, ServerError
from dashboard.clock import in_words
from dashboard.ledger.models import Operation, ServiceState, VersionRecord
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.models.operations import Outcome
from dashboard.notifications.digests import make_digests
from dashboard.notifications.models import Event
from dashboard.notifications.receivers import (
    facts_of,
    record_expired,
    record_missed_schedule,
    subject_of,
)
from dashboard.notifications.recording import Subject, record_event
from dashboard.operations.checking import read_version_state
from dashboard.operations.publish_progress import (
    DEFAULT_LONG,
    PublishProgress,
    Stage,
    TypicalTimes,
    publish_progress,
    typical_times,
)
from dashboard.releases.holding import TOLERANCE
from dashboard.releases.models import Release, ReleaseState
from dashboard.service.circuit_breaker import FAILURE_THRESHOLD
from dashboard.service.client import publishing_client
from dashboard.service.outages import CHECKED_EVERY
from dashboard.webhooks.models import ReceivedDelivery
from dashboard.webhooks.receiver import get_receiver
from dashboard.work.tasks import WorkerTask, attempt_each

UNREACHABLE_AFTER = timedelta(minutes=5)
"""Source: our choice."""
WATCH_S = CHECKED_EVERY.total_seconds()
"""Seconds between two checks, not counting the time that a check takes."""
FOLLOWED_FOR = timedelta(hours=2)
"""Publishes that were sent longer ago aren't watched."""
FORGOTTEN = timedelta(days=1)
"""Schedules missed and requests expired longer ago aren't reported."""
SOONEST_STUCK = timedelta(seconds=10)
MAX_READS = 5
"""Audiences read again in one check, to see whether a publish is stuck."""
MIN_SILENCE = timedelta(hours=1)
MIN_RECEIVED, MAX_RECEIVED = 20, 1_000
"""Number of received events that tell the usual pause: at least, at most."""


def watch_schedules(now: datetime) -> None:
    late = (now - FORGOTTEN, now - TOLERANCE)
    releases = Release.objects.filter(state=ReleaseState.SCHEDULED, due_at__range=late)
    attempt_each(releases, record_missed_schedule)


def watch_approvals(now: datetime) -> None:
    """Notify of expired requests. A release's worker also ends the request of its release."""
    lately = (now - FORGOTTEN, now)
    approvals = ApprovalRequest.objects.filter(state=RequestState.OPEN, expires_at__range=lately)
    attempt_each(approvals, record_expired)


def watch_publishes(now: datetime) -> None:
    """Notify of publishes that take longer than 95% of earlier ones.

    The audience is read again first, as the version may have gone live since the last read.
    """
    version = VersionRecord.objects.filter(
        page_id=OuterRef("page_id"),
        audience_id=OuterRef("audience_id"),
        version_id=OuterRef("version_id"),
        status__in=IN_FLIGHT,
    )
    waiting = Operation.publishes.filter(
        Exists(version),
        outcome=Outcome.ACCEPTED,
        requested_at__range=(now - FOLLOWED_FOR, now - SOONEST_STUCK),
    )
    candidates = list(waiting.order_by("requested_at"))
    if not candidates:
        return
    usual = typical_times(now.date())
    longest = usual.p95 if usual else DEFAULT_LONG
    slow = [publish for publish in candidates if now - publish.requested_at > longest]
    noticed_keys = Event.objects.filter(key__in=[_stuck_key(publish) for publish in slow])
    noticed = set(noticed_keys.values_list("key", flat=True))
    fresh = [publish for publish in slow if _stuck_key(publish) not in noticed]
    silent: list[APIError] = []

    def watch(operation: Operation) -> None:
        if silent:
            return  # The others would take as long to fail.
        snapshot = read_version_state(operation)
        if snapshot.error:
            silent.append(snapshot.error)
            return
        progress = publish_progress(operation, snapshot, usual=usual, now=now)
        if progress.stage == Stage.IN_PROGRESS and progress.is_long:
            _record_stuck(operation, progress, usual)

    # Start at another one each time, as publishes that aren't stuck may stay in the list.
    start = int(now.timestamp() / WATCH_S) * MAX_READS % max(1, len(fresh))
    attempt_each([*fresh[start:], *fresh[:start]][:MAX_READS], watch)


def _record_stuck(
    operation: Operation, progress: PublishProgress, usual: TypicalTimes | None
) -> None:
    longest = usual.p95 if usual else DEFAULT_LONG
    record_event(
        "publish_stuck",
        _stuck_key(operation),
        subject_of(operation),
        {**facts_of(operation), "so_far": in_words(progress.elapsed), "usual": in_words(longest)},
        actor=operation.actor,
        owners=[operation.actor],
    )


def _stuck_key(operation: Operation) -> str:
    return f"operation:{operation.pk}:stuck"


def watch_service(now: datetime) -> None:
    """Check whether the service responds, and notify of a long outage.

    A failed call is repeated, so that FAILURE_THRESHOLD failures begin an outage. The client
    records the result of each call.
    """
    for _ in range(FAILURE_THRESHOLD):
        try:
            publishing_client().pages.list(limit=1)
        except (NoResponseError, ServerError):
            continue
        except APIError:
            pass
        break
    report_outage(now)


def report_outage(now: datetime) -> None:
    """Notify when the service has been out for 5 minutes, and when it is back.

    Workers share one row.
    """
    with transaction.atomic():
        state = ServiceState.objects.select_for_update().exclude(began_at=None).first()
        if state is None or state.began_at is None:
            return
        if state.is_out and not state.is_reported:
            if now - state.began_at < UNREACHABLE_AFTER:
                return
            kind, key, end = "service_unreachable", "unreachable", now
        elif state.is_reported and state.ended_at:
            kind, key, end = "service_back", "back", state.ended_at
        else:
            return
        state.is_reported = state.is_out
        state.save(update_fields=["is_reported"])
        facts = {"minutes": round((end - state.began_at) / timedelta(minutes=1))}
        key = f"{key}:{state.began_at:%Y%m%d%H%M%S%f}"
        record_event(kind, key, Subject(reverse("service-watch")), facts)


def watch_receiver(now: datetime) -> None:
    """Notify when the receiver has had no event for longer than ever in the last 30 days."""
    last = ReceivedDelivery.objects.order_by("-pk").values_list("pk", "received_at").first()
    if last is None or now - last[1] < MIN_SILENCE:
        return
    receiver, key = get_receiver(), f"silent:{last[0]}"
    if not receiver.is_on or Event.objects.filter(key=key).exists():
        return
    times = ReceivedDelivery.objects.order_by("-pk").values_list("received_at", flat=True)
    received = sorted(times[:MAX_RECEIVED])
    if len(received) < MIN_RECEIVED:
        return
    longest = max(later - earlier for earlier, later in pairwise(received))
    since = max(last[1], receiver.changed_at or last[1])
    if now - since > max(longest, MIN_SILENCE):
        facts = {"hours": _hours(now - since), "usual": _hours(longest)}
        record_event("receiver_silent", key, Subject(reverse("receiver")), facts)


def _hours(duration: timedelta) -> float:
    return round(duration / timedelta(hours=1), 1)


LEDGER_WATCHES = (watch_schedules, watch_approvals, watch_receiver, make_digests)
"""Watches that don't call the service."""


def _look_at_service(_worker_id: str, stop: threading.Event) -> None:
    # The built-in API runs in this process, so it can't be unreachable.
    watches = () if settings.EMBEDDED_API else (watch_service,)
    _look((*watches, watch_publishes), stop)


def _look(watches: Iterable[Callable[[datetime], object]], stop: threading.Event) -> None:
    running = (watch for watch in watches if not stop.is_set())
    attempt_each(running, lambda watch: watch(clock.now()))


WATCH = WorkerTask(lambda _, stop: _look(LEDGER_WATCHES, stop), every_s=WATCH_S)
WATCH_SERVICE = WorkerTask(_look_at_service, every_s=WATCH_S)
"""Runs apart from WATCH, so that a slow service doesn't delay digests."""
