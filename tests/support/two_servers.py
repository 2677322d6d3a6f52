"""Two servers that share a database and interrupt each other at random.

A server has a wrong clock and a worker. What it does may be interrupted or killed between two
transactions and in each call. The service may be slow, or lose a request or its response. The same
seed gives the same history.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone

from dashboard import clock as database_clock
from dashboard.client import APIError
from dashboard.clock import call_limit, interrupted_after
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import mark_interrupted_unknown
from dashboard.operations.checking import PublishTarget, check_outcome
from dashboard.operations.execution import send
from dashboard.operations.publish import OvertakenError, begin_reviewed_publish, publish_in_progress
from dashboard.operations.publish_review import review_publish
from dashboard.operations.resending import resend_publish, review_again
from dashboard.releases import decisions
from dashboard.releases.drafting import create_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.holding import ACTIVE
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.running import advance
from dashboard.releases.worker import claim_due, in_states, record_error, run_pending
from dashboard.service.reading import read_audiences
from dashboard.work.claims import Claim, ClaimLostError
from dashboard.work.tasks import work_through
from tests.support.clock import Clock
from tests.support.histories import ReleaseHistory
from tests.support.interleaving import Actor, Turns
from tests.support.many_audiences import Key

MAX_ACTORS = 5
MAX_CLOCK_DIFFERENCE_S = 40
SURELY_ARRIVED_AFTER_S = 20
WAYS = ("rejected", "not reached", "lost", *("done",) * 2, *("late",) * 3)
DECISIONS = (*("publish",) * 6, *("others",) * 4, "stop", "cancel")
OTHER_STATES = tuple(state for state in ReleaseState if state not in ACTIVE)

Serve = Callable[[httpx.Request], httpx.Response]


@dataclass(frozen=True)
class Server:
    """A machine and how far its clock is ahead of the database's, in seconds."""

    name: str
    ahead_s: float


class TwoServers(ReleaseHistory):
    """Two servers, their time, and what people and workers do on them."""

    keys: Sequence[Key]

    def __init__(self, seed: int, clock: Clock, user: User) -> None:
        super().__init__(seed, clock, user)
        self.now_s, self.server = clock.ahead_s, Server("service", 0)
        half = MAX_CLOCK_DIFFERENCE_S / 2
        self.servers = [Server(name, self.random.uniform(-half, half)) for name in "ab"]
        self.fault_rate = self.random.choice([0.0, 0.3, 0.8])
        self.turns = Turns(self.random, on_turn=self.on_turn)
        self.claims: dict[Actor, tuple[Server, Claim[Release]]] = {}
        self.homes: dict[Actor, Server] = {}
        self.late: list[tuple[float, Callable[[], object]]] = []
        """When late publishes were sent, whose client has given up, and how to carry them out."""
        self.in_call: set[Actor | None] = set()
        self.publishing: set[Actor | None] = set()
        """Actors in a call that publishes."""

    def log(self, event: str) -> None:
        """Record an event for the failure message."""
        self.events.append(f"{self.now_s:.2f} {event}")

    # Time and machines

    @contextmanager
    def on(self, server: Server | None) -> Iterator[None]:
        """Run the block on a machine. None is the service, which has the database's clock."""
        before = self.server
        self.move_to(server)
        try:
            yield
        finally:
            self.move_to(before)

    def move_to(self, server: Server | None) -> None:
        """Switch to the clock of a machine, and correct it as that machine would."""
        self.server = server or Server("service", 0)
        self.clock.ahead_s = self.now_s + self.server.ahead_s
        database_clock.correct_by(timedelta(seconds=-self.server.ahead_s))

    def on_turn(self, actor: Actor | None) -> None:
        """Let some time pass, and move to the machine of the actor that continues."""
        self.now_s += 0.01
        self.move_to(self.homes[actor] if actor else None)

    def let_time_pass(self, seconds: float = 0) -> None:
        """Let time pass; claims are renewed while their workers wait for the service."""
        until_s = self.now_s + (seconds or self.random.choice([1, 4, 8, 20, 40]))
        while self.now_s < until_s:
            self.now_s = min(self.now_s + 4, until_s)
            self.move_to(None)
            self.late_ones_arrive()
            for actor, (server, claim) in self.claims.items():
                if actor in self.in_call:
                    with self.on(server), suppress(ClaimLostError):
                        claim.renew()

    # The service

    def call(self, request: httpx.Request, serve: Serve) -> httpx.Response:
        """Let the service respond to a request. Other actors may continue before and after it."""
        actor, sent_s = self.turns.current, self.now_s
        calls = [self.in_call] if request.method == "GET" else [self.in_call, self.publishing]
        for waiting in calls:
            waiting.add(actor)
        try:
            self.turns.reach()
            with self.on(None), self.turns.uninterrupted():
                response = self._arrive(request, serve)
            self.turns.reach()
        finally:
            for waiting in calls:
                waiting.discard(actor)
        if self.now_s - sent_s > call_limit().total_seconds():
            raise httpx.ReadTimeout("too late", request=request)
        return response

    def _arrive(self, request: httpx.Request, serve: Serve) -> httpx.Response:
        """Carry out the request and respond, or fail at random."""
        way = ""
        is_read = request.method == "GET"
        if self.random.random() < self.fault_rate / (6 if is_read else 1):
            way = self.random.choice(WAYS)
            self.log(f"{request.method} {way}")
        if way == "not reached":
            raise httpx.ConnectError(way, request=request)
        if way == "rejected":
            return httpx.Response(500 if is_read else 409)
        if way == "late" and not is_read:
            self.late.append((self.now_s, partial(serve, request)))
        if way in ("lost", "late"):
            raise httpx.ReadTimeout(way, request=request)
        response = serve(request)
        if way == "done":
            raise httpx.ReadTimeout(way, request=request)
        return response

    def late_ones_arrive(self) -> None:
        """Carry out the publishes that were sent some time ago."""
        due_s = self.now_s - SURELY_ARRIVED_AFTER_S
        for sent_s, arrive in [*self.late]:
            if sent_s <= due_s:
                self.late.remove((sent_s, arrive))
                arrive()

    # What people and workers do

    def begin(self, name: str, function: Callable[[], object]) -> None:
        if len(self.turns.actors) < MAX_ACTORS:
            server = self.random.choice(self.servers)
            actor = self.turns.begin(f"{name} on {server.name}", function)
            self.homes[actor] = server
            self.log(f"{actor.name} begins")

    def read(self) -> None:
        page_id, _ = self.random.choice(self.keys)

        def read() -> None:
            with suppress(APIError):
                read_audiences(page_id)

        self.begin("read", read)

    def publish_version(self, target: PublishTarget) -> None:
        """Let a person review a version, and publish it if nothing prevents that."""

        def publish() -> None:
            with suppress(APIError, OvertakenError):
                review = review_publish(target, with_conversation=False)
                if not review.reading.is_live or review.is_off or publish_in_progress(review):
                    return
                operation, attempt = begin_reviewed_publish(review, actor=self.user)
                if attempt:
                    send(operation, attempt)

        self.begin(f"publish {target.version_id}", publish)

    def unknown(self) -> list[Operation]:
        return list(self.operations().filter(outcome=Outcome.UNKNOWN))

    @property
    def page_ids(self) -> set[str]:
        return {page_id for page_id, _ in self.keys}

    def operations(self) -> Any:
        return Operation.objects.filter(page_id__in=self.page_ids)

    def check(self) -> None:
        if unknown := self.unknown():
            operation = self.random.choice(unknown)
            self.begin("check", lambda: check_outcome(operation))

    def retry(self) -> None:
        def retry(operation: Operation) -> None:
            with suppress(APIError):
                operation, review = review_again(operation)
                if operation.outcome == Outcome.UNKNOWN and not review.is_off:
                    resend_publish(operation, review, actor=self.user)

        if unknown := self.unknown():
            self.begin("retry", partial(retry, self.random.choice(unknown)))

    def mark_interrupted(self) -> None:
        self.begin("mark", mark_interrupted_unknown)

    def create_release(self) -> None:
        keys = self.random.sample(self.keys, self.random.randint(1, len(self.keys)))

        def create() -> None:
            with suppress(ReleaseError):
                create_release(name="", note="", audiences=keys, user=self.user)

        self.begin("create", create)

    def create_checked_release(self) -> None:
        """Create a checked release, so that there is one to decide on from the start."""
        keys = self.random.sample(self.keys, self.random.randint(1, len(self.keys)))
        with self.on(self.random.choice(self.servers)), suppress(ReleaseError):
            create_release(name="", note="", audiences=keys, user=self.user)
            run_pending("worker")

    def decide(self) -> None:
        releases = list(Release.objects.order_by("pk"))
        if not releases:
            return
        release, name = self.random.choice(releases), self.random.choice(DECISIONS)

        def decide() -> None:
            with suppress(ReleaseError):
                if name == "stop":
                    decisions.stop(release, self.user)
                elif name == "cancel":
                    decisions.cancel(release, self.user)
                else:
                    waiting = release.items.filter(state=ItemState.WAITING).count()
                    digest = board_digest(release)
                    decisions.publish(
                        release, self.user, str(waiting), digest, publishes_others=name == "others"
                    )

        self.begin(f"{name} release {release.pk}", decide)

    def work(self) -> None:
        states = self.random.choice([ACTIVE, ACTIVE, OTHER_STATES])

        def take(worker_id: str) -> Claim[Release] | None:
            actor = self.turns.current
            claim = claim_due(worker_id, partial(in_states, states))
            if actor and claim:
                self.claims[actor] = self.homes[actor], claim
            return claim

        def step(claim: Claim[Release]) -> None:
            # As `take_step`, except that `let_time_pass` renews the claim instead of a thread.
            with suppress(ClaimLostError):
                claim.release(advance(claim), failures=0)

        def work() -> None:
            worker_id = f"worker-{self.server.name}"
            work_through(partial(take, worker_id), step, record_error)

        self.begin("work", work)

    def go_on(self) -> None:
        if self.turns.actors:
            actor = self.random.choice(self.turns.actors)
            self.turns.go_on(actor)
            if actor not in self.turns.actors:
                self.has_ended(actor)

    def has_ended(self, actor: Actor) -> None:
        """Called after an actor has ended or was killed."""

    def kill(self) -> None:
        """Kill an actor, preferably one that waits for the response to a publish."""
        publishing = [actor for actor in self.turns.actors if actor in self.publishing]
        if publishing or (self.turns.actors and self.random.random() < 0.3):
            actor = self.random.choice(publishing or self.turns.actors)
            self.log(f"{actor.name} is killed")
            self.turns.kill(actor)

    # The end

    def settle(self) -> None:
        """Let the workers finish, and check unknown outcomes."""
        self.fault_rate = 0.0
        cache.clear()
        self.let_time_pass(interrupted_after().total_seconds() + 1)
        self.work_until_done()
        for operation in self.unknown():
            with self.on(self.random.choice(self.servers)):
                check_outcome(operation)
        self.work_until_done()

    def all_go_live(self) -> None:
        """Make live what the service has queued."""

    def work_until_done(self) -> None:
        """Let the workers finish, however long it takes."""
        for _ in range(60):
            self.all_go_live()
            server = self.random.choice(self.servers)
            with self.on(server):
                mark_interrupted_unknown()
                run_pending(f"worker-{server.name}")
            wakes = Release.objects.filter(wake_at__isnull=False).values_list("wake_at", flat=True)
            if not wakes:
                return
            self.let_time_pass(max(60.0, (min(wakes) - timezone.now()).total_seconds()))
        raise AssertionError("it never ends")

    def end_all(self) -> None:
        """Kill the remaining actors at the end of a test."""
        for actor in [*self.turns.actors]:
            self.turns.kill(actor)
        self.move_to(None)
