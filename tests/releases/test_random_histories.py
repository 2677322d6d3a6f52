"""Whatever happens, nothing is sent twice, late, without permission or other than reviewed.

Each history is random. It has releases and decisions, edits from outside, faults of the service,
and three workers, which are killed at any write or call, or suspended while another continues. The
service checks each publish that arrives. HISTORIES sets the number of histories; HISTORY runs one
by its seed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from dashboard.approvals.rule import is_rollback
from dashboard.clock import CLAIM
from dashboard.ledger.queries.audiences import outside_publications
from dashboard.releases import decisions, next_drafts
from dashboard.releases.drafting import create_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.following import MAX_READ_AGE
from dashboard.releases.holding import TOLERANCE
from dashboard.releases.models import ENDED, ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import board_digest, reviewed_fields
from dashboard.releases.worker import run_pending
from tests.support.clock import Clock
from tests.support.histories import ReleaseHistories, ReleaseHistory
from tests.support.many_audiences import Key
from tests.support.release_service import (
    KilledError,
    PublishingAudiences,
    Way,
    accepts,
    fails,
    kills,
    responds,
)

WORKERS = ("one", "two", "three")
WAYS: dict[str, Way] = {
    "accepted": accepts,
    "rejected": responds(409, "No"),
    "too many": responds(429, "Slow down", Retry_After="20"),
    "much too many": responds(429, "Slow down", Retry_After="900"),
    "key rejected": responds(401),
    "failed": responds(500),
    "never reached": fails(httpx.ConnectError, is_carried_out=False),
    "lost, done": fails(httpx.ReadTimeout, is_carried_out=True),
    "lost, not done": fails(httpx.ReadTimeout, is_carried_out=False),
    "killed, done": kills(is_carried_out=True),
    "killed, not done": kills(is_carried_out=False),
}
SURELY_NOT_DONE = ("rejected", "too many", "much too many", "key rejected", "never reached")
serial = count()


class StrictService(PublishingAudiences):
    """Responds to each publish at random, and fails the test if the publish may not arrive."""

    def __init__(self, history: "History") -> None:
        super().__init__()
        self.history = history
        self.way = self.choose
        self.listed: dict[Key, Any] = {}
        """Each audience as last listed, with the time."""
        self.conversations: dict[Key, Any] = {}
        """The pending changes of each audience as last read, with the time."""
        self.maybe_done: list[int] = []
        """The item of each publish that may have been carried out."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method != "POST" and self.history.is_silent:
            raise httpx.ConnectTimeout("silent", request=request)
        response = super().__call__(request)
        if request.url.path.endswith("/audiences"):
            for key, audience in self.audiences.items():
                self.listed[key] = (timezone.now(), deepcopy(audience))
        if request.url.path.endswith("/messages"):
            page_id, _, audience_id, _ = unquote(request.url.path).split("/")[3:7]
            key = (page_id, audience_id)
            self.conversations[key] = (timezone.now(), self.pending.get(key, []))
        return response

    def choose(self, service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        # Another worker's publish may arrive while this one is checked, and time may pass.
        operation_key, arrived_at = self.operation_keys[-1], timezone.now()
        is_rare = self.history.random.random() < self.history.fault_rate
        way = self.history.random.choice(sorted(WAYS)) if is_rare else "accepted"
        item = ReleaseItem.objects.select_related("release").get(operation_key=operation_key)
        self.check_arrival(item, key, arrived_at)
        if way not in SURELY_NOT_DONE:
            self.maybe_done.append(item.pk)
        self.history.log(f"publish {key[1]}: {way}")
        return WAYS[way](service, key, version_id)

    def check_arrival(self, item: ReleaseItem, key: Key, now: datetime) -> None:
        """Fail unless this publish may arrive now."""
        release = item.release
        assert self.operation_keys.count(item.operation_key) == 1, "a key arrived twice"
        assert item.pk not in self.maybe_done, "it was sent before"
        assert release.state == ReleaseState.RUNNING
        assert release.stop_requested_at is None, "it was stopped"
        assert self.history.has_right, "the owner has lost the right"
        assert release.active_at
        assert now - release.active_at <= TOLERANCE + CLAIM, "it is late"
        if release.due_at and release.started_at:
            assert release.started_at - release.due_at <= TOLERANCE, "it was started late"
        self.check_review(item, key, now)

    def check_review(self, item: ReleaseItem, key: Key, now: datetime) -> None:
        """Fail unless the audience was just listed as it was reviewed."""
        read_at, pending = self.conversations[key]
        assert item.release.decided_at
        assert read_at >= item.release.decided_at, "nothing was checked after the decision"
        assert item.pending_change_ids == pending
        listed_at, audience = self.listed[key]
        assert now - listed_at <= MAX_READ_AGE + CLAIM, "it was not read again"
        latest, live = audience["latestVersion"], audience["publishedVersion"]
        assert live["versionId"] == item.live_version_id
        headlines = [finding["headline"] for finding in item.findings]
        if latest["versionId"] == item.version_id:
            reviewed = reviewed_fields(item.version)
            assert reviewed
            assert (latest["status"], latest["supplementaryContext"]) == reviewed[2:4]
        elif not is_rollback(item.version, item.live_version):
            assert f"Version {latest['versionNumber']} is newer." in headlines


class History(ReleaseHistory):
    """One random history."""

    def __init__(self, seed: int, clock: Clock, user: User) -> None:
        super().__init__(seed, clock, user)
        self.is_silent = self.is_interleaved = False
        self.has_right = True
        self.outside: set[tuple[str, str, str]] = set()
        """Ids of the page, audience and version of each publish from outside."""
        self.fault_rate = self.random.choice([0.0, 0.3, 0.6])
        self.statements_left = self.others_statements_left = 10**9
        self.worker = ""
        """Name of the running worker."""
        self.service = StrictService(self)
        self.service.is_fast = self.random.random() < 0.5
        self.grant(True)

    def log(self, event: str) -> None:
        """Record an event for the failure message."""
        self.events.append(event)

    def run(self) -> None:
        """Create some releases, take random steps, then let the workers finish."""
        pages = [f"page_{next(serial)}" for _ in range(self.random.choice([1, 2]))]
        self.keys = [
            key
            for page_id in pages
            for key in self.service.add(self.random.randint(1, 3), page_id=page_id)
        ]
        for _ in range(self.random.choice([1, 1, 2])):
            self.create()
        for _ in range(self.random.randint(5, 25)):
            event = self.random.choice(EVENTS)
            self.log(event.__name__)
            with suppress(ReleaseError):
                event(self)
        self.end()

    def release(self) -> Release:
        return self.random.choice(list(Release.objects.all()))

    def create(self) -> None:
        keys = self.random.sample(self.keys, self.random.randint(1, len(self.keys)))
        with suppress(ReleaseError):
            create_release(name="", note="", audiences=keys, user=self.user)
        self.work_undisturbed()

    def publish(self) -> None:
        release = self.release()
        entered = str(sum(item.state == ItemState.WAITING for item in release.items.all()))
        others = self.random.random() < 0.5
        digest = board_digest(release)
        decisions.publish(release, self.user, entered, digest, publishes_others=others)

    def schedule(self) -> None:
        release = self.release()
        drafts = Release.objects.filter(pk=release.pk, state=ReleaseState.DRAFT, needs_check=False)
        due_at = timezone.now() + timedelta(minutes=self.random.choice([1, 5, 30]))
        now = timezone.now()
        drafts.update(state=ReleaseState.SCHEDULED, due_at=due_at, wake_at=due_at, decided_at=now)

    def oversleep(self) -> None:
        """Schedule a release, and run no worker for a while."""
        self.schedule()
        self.clock.advance(self.random.choice([600, 1300, 3000]))

    def stop(self) -> None:
        decisions.stop(self.release(), self.user)

    def cancel(self) -> None:
        if self.random.random() < 0.3:
            decisions.cancel(self.release(), self.user)

    def roll_back(self) -> None:
        next_drafts.roll_back(self.release(), self.user)
        self.work_undisturbed()

    def retry_failed(self) -> None:
        next_drafts.retry_failed(self.release(), self.user)
        self.work_undisturbed()

    def check_held(self) -> None:
        held = Release.objects.filter(state=ReleaseState.HELD)
        held.update(needs_check=True, wake_at=timezone.now())
        self.work()

    def edit(self) -> None:
        self.service.edit(self.random.choice(self.keys))

    def edit_text(self) -> None:
        version = self.service.audiences[self.random.choice(self.keys)]["latestVersion"]
        version["supplementaryContext"] = f"Runs {next(serial)} trucks."

    def propose_change(self) -> None:
        self.service.pending[self.random.choice(self.keys)] = [f"change_{next(serial)}"]

    def publish_outside(self) -> None:
        key = self.random.choice(self.keys)
        version_id = self.service.audiences[key]["latestVersion"]["versionId"]
        self.service.go_live(key, version_id)
        self.outside.add((*key, version_id))

    def go_live(self) -> None:
        self.service.all_go_live()

    def fall_silent(self) -> None:
        self.is_silent = not self.is_silent
        cache.clear()

    def change_right(self) -> None:
        self.grant(self.random.random() < 0.6)

    def grant(self, has_right: bool) -> None:
        self.has_right = has_right
        groups = Group.objects.filter(name="Publishers") if has_right else []
        self.user.groups.set(groups)

    def let_time_pass(self) -> None:
        self.clock.advance(self.random.choice([1, 6, 30, 70, 600, 1000]))

    def work(self) -> None:
        """Run a worker for a while. It may be killed, or suspended while another runs."""
        self.statements_left = self.random.choice([10**9, self.random.randint(1, 80)])
        with suppress(KilledError), self.disturbed():
            for _ in range(self.random.randint(1, 6)):
                self.run_worker(self.random.choice(WORKERS))
                self.clock.advance(self.random.choice([1, 6]))

    def work_undisturbed(self) -> None:
        with suppress(KilledError):
            run_pending(WORKERS[0])

    @contextmanager
    def disturbed(self) -> Iterator[None]:
        """Kill the worker at a random write, or suspend it between two transactions."""

        def execute(run: Callable[..., Any], sql: str, params: Any, *args: Any) -> Any:
            if "releases_releaseitem" in sql and ItemState.SENDING in (params or ()):
                self.check_claim(sql)
            is_write = sql.startswith(("INSERT", "UPDATE", "DELETE"))
            if self.is_interleaved:
                self.others_statements_left -= is_write
                if self.others_statements_left == 0:
                    raise KilledError
                return run(sql, params, *args)
            self.statements_left -= is_write
            if is_write and self.statements_left == 0:
                if self.random.random() < 0.5:
                    run(sql, params, *args)
                self.log("killed")
                raise KilledError
            if not connection.in_atomic_block and self.random.random() < 0.02:
                self.go_on_with_another_worker()
            return run(sql, params, *args)

        with connection.execute_wrapper(execute):
            yield

    def go_on_with_another_worker(self) -> None:
        """Suspend a worker for a while; meanwhile another worker may run."""
        self.is_interleaved = True
        self.others_statements_left = self.random.choice([10**9, self.random.randint(1, 40)])
        try:
            self.clock.advance(self.random.choice([0, 3, 61, 120]))
            self.log("suspended")
            if self.random.random() < 0.7:
                with suppress(KilledError):
                    self.run_worker(self.random.choice(WORKERS))
        finally:
            self.is_interleaved = False

    def run_worker(self, worker: str) -> None:
        """Let a worker do what is due, perhaps while another is suspended."""
        suspended, self.worker = self.worker, worker
        try:
            run_pending(worker)
        finally:
            self.worker = suspended

    def check_claim(self, sql: str) -> None:
        """Fail if a worker starts to send an item of a release that it has not claimed."""
        if not sql.startswith("UPDATE"):
            return
        claimed = Release.objects.filter(worker_id=self.worker, wake_at__gte=timezone.now())
        assert claimed.filter(state=ReleaseState.RUNNING).exists(), "the claim was lost"

    def end(self) -> None:
        """Let everything finish, and check that it has."""
        self.is_silent, self.fault_rate, self.service.is_fast = False, 0.0, True
        cache.clear()
        for _ in range(60):
            self.service.all_go_live()
            run_pending(WORKERS[0])
            wakes = Release.objects.filter(wake_at__isnull=False).values_list("wake_at", flat=True)
            if not wakes:
                break
            # Versions in progress are read more often, and given up after half an hour.
            self.clock.advance(max(60.0, (min(wakes) - timezone.now()).total_seconds()))
        assert not wakes, "it never ends"
        for release in Release.objects.all():
            states = set(release.items.values_list("state", flat=True))
            may_wait = release.state in (ReleaseState.HELD, ReleaseState.DRAFT)
            assert release.state not in (ReleaseState.RUNNING, ReleaseState.SCHEDULED)
            assert states <= {*ENDED, *([ItemState.WAITING] if may_wait else [])}
        pages = {page_id for page_id, _ in self.keys}
        listed = outside_publications().filter(page_id__in=pages)
        assert {*listed.values_list("page_id", "audience_id", "version_id")} <= self.outside


EVENTS = (
    *(History.publish, History.publish, History.publish, History.schedule, History.stop),
    *(History.cancel, History.check_held, History.edit, History.edit_text, History.go_live),
    *(History.publish_outside, History.fall_silent, History.change_right, History.let_time_pass),
    *(History.roll_back, History.retry_failed, History.propose_change, History.oversleep),
    History.change_right,
    *(History.work,) * 10,
)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_no_history_sends_what_is_forbidden(
    release_histories: ReleaseHistories,
) -> None:
    release_histories.run(History, exhaustive_count=1000)
