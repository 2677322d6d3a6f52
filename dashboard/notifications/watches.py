"""Notice what becomes true as time passes, in a worker, once a minute.

Several workers may notice the same: the key of the event is unique, and what has to be known from
one time to the next is in the database.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone

from dashboard.client import APIError, NoResponseError, ServerError
from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import ApprovalRequest, Operation, VersionRecord
from dashboard.ledger.models import Delivery as ReceivedDelivery
from dashboard.ledger.models.approvals import RequestState
from dashboard.ledger.models.audiences import IN_FLIGHT
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.receiver import get_receiver
from dashboard.notifications.digests import make_digests
from dashboard.notifications.followed_changes import compare_followed
from dashboard.notifications.models import Event, WatchState
from dashboard.notifications.outages import INTERVAL, Outage, after_failure, forgotten_after
from dashboard.notifications.receivers import (
    facts_of,
    record_expired,
    record_missed_schedule,
    subject_of,
)
from dashboard.notifications.recording import Concerned, Subject, record_event
from dashboard.operations.checking import read_version_state
from dashboard.operations.publish_progress import DEFAULT_LONG, Progress, Stage, publish_progress
from dashboard.operations.typical_times import TypicalTimes, typical_times
from dashboard.releases.holding import TOLERANCE
from dashboard.releases.models import Release, ReleaseState
from dashboard.service.client import publishing_client
from dashboard.service.health import MAX_REASON_CHARACTERS
from dashboard.work.tasks import WorkerTask, attempt_each

WATCH_S = INTERVAL.total_seconds()
SERVICE = "service"
"""The name of the row of `WatchState` about the service."""
FOLLOWED_FOR = timedelta(hours=2)
"""A publish that was sent earlier is not looked at any more."""
FORGOTTEN = timedelta(days=1)
"""A schedule that was missed earlier, and a request that expired earlier, are no news."""
SOONEST_STUCK = timedelta(seconds=10)
MAX_READS = 5
"""Audiences that are read again at one time, to see whether a publish is stuck."""
MIN_SILENCE = timedelta(hours=1)
MIN_RECEIVED, MAX_RECEIVED = 20, 1_000
"""Events of the receiver, to say what is usual."""


def look_once(stop: threading.Event | None = None) -> None:
    """Look for everything once, unless stopped meanwhile; an error of one stops no other."""
    now = timezone.now()
    looks: list[Callable[[datetime], object]] = [
        watch_schedules,
        watch_approvals,
        watch_publishes,
        watch_receiver,
        compare_followed,
        make_digests,
    ]
    if not settings.EMBEDDED_API:
        # The built-in API is this same process: it can't be unreachable.
        looks.append(watch_service)
    running = (look for look in looks if not (stop and stop.is_set()))
    attempt_each(running, lambda look: look(now))


def watch_schedules(now: datetime) -> None:
    """Notify of releases that no worker has started in time."""
    earliest = _EARLIEST_SCHEDULE.first()
    if earliest is None or earliest.due_at >= now - TOLERANCE:
        return
    late = (now - FORGOTTEN, now - TOLERANCE)
    releases = Release.objects.filter(state=ReleaseState.SCHEDULED, due_at__range=late)
    attempt_each(releases, record_missed_schedule)


def watch_approvals(now: datetime) -> None:
    """Notify of requests that have expired; that of a release is also ended by its worker."""
    earliest = _EARLIEST_EXPIRY.first()
    if earliest is None or earliest.expires_at > now:
        return
    lately = (now - FORGOTTEN, now)
    approvals = ApprovalRequest.objects.filter(state=RequestState.OPEN, expires_at__range=lately)
    attempt_each(approvals, record_expired)


def watch_publishes(now: datetime) -> None:
    """Notify of publishes that take longer than 95% of those before.

    The audience is read again first: perhaps the version went live, and was not read since.
    """
    latest = _LATEST_PUBLISH.first()
    if latest is None or latest.requested_at < now - FOLLOWED_FOR:
        return
    version = VersionRecord.objects.filter(
        page_id=OuterRef("page_id"),
        audience_id=OuterRef("audience_id"),
        version_id=OuterRef("version_id"),
        status__in=IN_FLIGHT,
    )
    waiting = Operation.objects.filter(
        Exists(version),
        kind=OperationKind.PUBLISH_VERSION,
        outcome=Outcome.ACCEPTED,
        requested_at__range=(now - FOLLOWED_FOR, now - SOONEST_STUCK),
    )
    candidates = list(waiting.order_by("requested_at"))
    if not candidates:
        return
    usual = typical_times(now.date())
    longest = usual.p95 if usual else DEFAULT_LONG
    slow = [each for each in candidates if now - each.requested_at > longest]
    known = Event.objects.filter(key__in=[_stuck_key(each) for each in slow])
    noticed = set(known.values_list("key", flat=True))
    fresh = [each for each in slow if _stuck_key(each) not in noticed]
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

    attempt_each(_in_turn(fresh, now), watch)


def _in_turn(operations: Sequence[Operation], now: datetime) -> Sequence[Operation]:
    """Return some of the operations, others each time: one that isn't stuck may stay among them."""
    start = int(now.timestamp() / WATCH_S) * MAX_READS % max(1, len(operations))
    return [*operations[start:], *operations[:start]][:MAX_READS]


def _record_stuck(operation: Operation, progress: Progress, usual: TypicalTimes | None) -> None:
    longest = usual.p95 if usual else DEFAULT_LONG
    record_event(
        "publish_stuck",
        _stuck_key(operation),
        subject_of(operation),
        {
            **facts_of(operation),
            "so_far": _in_words(progress.elapsed),
            "usual": _in_words(longest),
        },
        actor=operation.actor,
        concerned=Concerned(owners=[operation.actor]),
    )


def _in_words(duration: timedelta) -> str:
    """Return a duration as on the pages, in whole seconds: "45 s", "1 min 55 s", "1 h 05 min"."""
    minutes, seconds = divmod(round(duration.total_seconds()), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    if minutes == 0:
        return f"{seconds} s"
    return f"{minutes} min {seconds:02} s" if seconds else f"{minutes} min"


def _stuck_key(operation: Operation) -> str:
    return f"operation:{operation.pk}:stuck"


def watch_service(now: datetime) -> None:
    """Call the service once; notify when it was unreachable for 5 minutes, and when it is back."""
    try:
        publishing_client().pages.list(limit=1)
        problem = ""
    except (NoResponseError, ServerError) as error:
        problem = str(error)[:MAX_REASON_CHARACTERS]
    except APIError:
        problem = ""
    note_service(now, is_reachable=not problem, reason=problem)


def ongoing_outage(now: datetime) -> Outage | None:
    """Return the outage that a worker has noticed in its latest check; one query."""
    value = WatchState.objects.filter(name=SERVICE).values_list("value", flat=True).first()
    outage = Outage.from_json(value or {})
    return outage if outage and now - outage.last_failure_at <= forgotten_after() else None


def note_service(now: datetime, *, is_reachable: bool, reason: str = "") -> None:
    """Record whether the service responded. Workers share one row; any response counts."""
    with _locked_state(SERVICE, now) as state:
        before = Outage.from_json(state.value)
        after = None if is_reachable else after_failure(before, now, reason)
        state.value = after.to_json() if after else {}
        was_reported = before is not None and before.is_reported
        if before and was_reported and after is None:
            _record_outage("service_back", "back", before, now)
        elif after and after.is_reported and not was_reported:
            _record_outage("service_unreachable", "unreachable", after, now)


def _record_outage(kind: str, key: str, outage: Outage, now: datetime) -> None:
    key = f"{key}:{outage.since:%Y%m%d%H%M%S%f}"
    record_event(kind, key, Subject(reverse("service-watch")), {"minutes": outage.minutes(now)})


@contextmanager
def _locked_state(name: str, now: datetime) -> Iterator[WatchState]:
    """Lock a row of what is known, and save it if it was changed."""
    with transaction.atomic():
        WatchState.objects.get_or_create(name=name, defaults={"changed_at": now})
        state = WatchState.objects.select_for_update().get(name=name)
        before = state.value
        yield state
        if state.value != before:
            state.changed_at = now
            state.save(update_fields=["value", "changed_at"])


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


_EARLIEST_SCHEDULE = CompiledQuery(
    lambda: (
        Release.objects.filter(state=ReleaseState.SCHEDULED, due_at__isnull=False)
        .order_by("due_at")
        .values_list("due_at", named=True)[:1]
    )
)
_EARLIEST_EXPIRY = CompiledQuery(
    lambda: (
        ApprovalRequest.objects.filter(state=RequestState.OPEN, expires_at__isnull=False)
        .order_by("expires_at")
        .values_list("expires_at", named=True)[:1]
    )
)
_LATEST_PUBLISH = CompiledQuery(
    lambda: (
        Operation.objects.filter(kind=OperationKind.PUBLISH_VERSION, outcome=Outcome.ACCEPTED)
        .order_by("-requested_at")
        .values_list("requested_at", named=True)[:1]
    )
)

WATCH = WorkerTask(lambda _, stop: look_once(stop), every_s=WATCH_S)
