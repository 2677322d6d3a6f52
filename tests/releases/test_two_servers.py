"""Whatever two servers do at once, the ledger equals the service as last read.

Each history is random. It has two servers with different clocks, a worker on each, people who read,
publish, check and retry, another person who publishes elsewhere, and a service that responds late
or not at all. What a server does may be interrupted or killed between two transactions and in each
call. HISTORIES sets the number of histories; HISTORY runs one by its seed.
"""

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User

from dashboard.client import APIError
from dashboard.ledger.changes import LAST_SEEN_WRITE_INTERVAL_IN_FLIGHT
from dashboard.ledger.models import AudienceRecord, Operation, PageRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.audiences import outside_publications
from dashboard.operations.checking import PublishTarget
from dashboard.operations.verdicts import IN_QUEUE
from dashboard.releases.models import ENDED, ItemState, ReleaseItem, ReleaseState
from dashboard.service.reading import read_audiences, read_page, read_pages
from tests.support.clock import Clock
from tests.support.histories import ReleaseHistories
from tests.support.interleaving import Actor
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences, accepts
from tests.support.two_servers import TwoServers

serial = count()
UNDATED_S = LAST_SEEN_WRITE_INTERVAL_IN_FLIGHT.total_seconds()


def facts_of(audience: dict[str, Any]) -> dict[str, object]:
    """Return what a read shows about an audience, by name."""
    versions = [audience.get(name) for name in ("earlier", "latestVersion", "publishedVersion")]
    return {
        "name": audience["effectiveName"],
        "live version": audience["publishedVersion"]["versionId"],
        "latest version": audience["latestVersion"]["versionId"],
        **{
            f"status of {version['versionId']}": version["status"]
            for version in versions
            if version
        },
    }


@dataclass
class SlowService(PublishingAudiences):
    """Responds slowly, loses responses, and records the truth."""

    history: Any = None
    done: dict[str, tuple[Key, str]] = field(default_factory=dict)
    """The audience and version that each operation key published."""
    values: list[dict[tuple[Key, str], object]] = field(default_factory=list)
    """All facts after each change of one of them."""
    reads: list[tuple[Actor, float, int]] = field(default_factory=list)
    """Reads of a list: the reader, when it was requested, and the index in `values` then."""
    were_live: set[tuple[Key, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.way = carry_out_once

    def __call__(self, request: httpx.Request) -> httpx.Response:
        history = self.history
        actor, sent_s, moment = history.turns.current, history.now_s, len(self.values) - 1
        response: httpx.Response = history.call(request, self.serve)
        if actor and request.url.path.endswith("/audiences") and response.status_code == 200:
            self.reads.append((actor, sent_s, moment))
        return response

    def serve(self, request: httpx.Request) -> httpx.Response:
        response = super().__call__(request)
        self.note()
        return response

    def go_live(self, key: Key, version_id: str) -> None:
        super().go_live(key, version_id)
        self.were_live.add((key, version_id))

    def note(self) -> None:
        """Record all facts if one has changed."""
        before = self.values[-1] if self.values else {}
        facts = before | {
            (key, name): fact
            for key, audience in self.audiences.items()
            for name, fact in facts_of(audience).items()
        }
        if facts != before:
            self.values.append(facts)


def carry_out_once(service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
    assert isinstance(service, SlowService)
    operation_key = service.operation_keys[-1]
    if operation_key in service.done:
        return httpx.Response(200, json=service.find(key, version_id))
    service.done[operation_key] = (key, version_id)
    return accepts(service, key, version_id)


class History(TwoServers):
    """One random history."""

    def __init__(self, seed: int, clock: Clock, user: User) -> None:
        super().__init__(seed, clock, user)
        self.outside: set[tuple[str, str, str]] = set()
        self.service = SlowService(history=self)
        self.service.is_fast = self.random.random() < 0.5

    # What people and workers do

    def list_pages(self) -> None:
        page_id, _ = self.random.choice(self.keys)

        def list_pages() -> None:
            with suppress(APIError):
                read_pages()
                read_page(page_id)

        self.begin("list", list_pages)

    def publish(self) -> None:
        key = self.random.choice(self.keys)
        audience = self.service.audiences[key]
        version = self.random.choice(
            [audience["latestVersion"]] * 3 + [audience["publishedVersion"]]
        )
        self.publish_version(PublishTarget(*key, version["versionId"]))

    # What others do

    def edit(self) -> None:
        self.service.edit(self.random.choice(self.keys))

    def rename(self) -> None:
        self.service.change(self.random.choice(self.keys), effectiveName=f"Name {next(serial)}")

    def archive(self) -> None:
        page_id, _ = self.random.choice(self.keys)
        page = self.service.pages[page_id]
        page["status"] = "archived" if page["status"] == "published" else "published"

    def publish_outside(self) -> None:
        key = self.random.choice(self.keys)
        version_id = self.service.audiences[key]["latestVersion"]["versionId"]
        self.service.go_live(key, version_id)
        self.outside.add((*key, version_id))

    def go_live(self) -> None:
        self.service.all_go_live()

    def all_go_live(self) -> None:
        self.service.all_go_live()
        self.service.note()

    def has_ended(self, actor: Actor) -> None:
        self.check_reads()

    # The end

    def run(self) -> None:
        """Take random steps, let everything finish, and check the result."""
        self.move_to(None)
        self.service.note()
        pages = [f"page_{next(serial)}" for _ in range(self.random.choice([1, 1, 2]))]
        self.keys = [
            key
            for page_id in pages
            for key in self.service.add(self.random.randint(1, 3), page_id=page_id)
        ]
        self.service.note()
        for _ in range(self.random.choice([1, 2])):
            self.create_checked_release()
        # Changes after a review hold a release, so their rate varies.
        change_rate = self.random.choice([0.03, 0.2, 1.0])
        for _ in range(self.random.randint(100, 500)):
            event = self.random.choice(EVENTS)
            if event in CHANGES and self.random.random() >= change_rate:
                continue
            if event not in (History.go_on, History.work):
                self.log(event.__name__)
            event(self)
            self.service.note()
        while self.turns.actors:
            self.go_on()
            if self.random.random() < 0.03:
                self.let_time_pass()
        self.service.is_fast = True
        self.settle()
        self.check_outcomes()
        self.check_items()
        self.check_ledger()

    def check_reads(self) -> None:
        """Fail if the ledger is older than a recorded read."""
        if len(self.page_ids) > 1:
            return  # A list of two pages has one read time.
        # A worker doesn't record a list if another of its calls failed.
        reads = [
            (sent_s, moment)
            for actor, sent_s, moment in self.service.reads
            if not (actor.is_killed or actor in self.turns.actors or actor.name.startswith("work"))
        ]
        # Unchanged reads within a second aren't dated, so the last one may not count.
        last_s = max((sent_s for sent_s, _ in reads), default=0) - UNDATED_S
        since = max((moment for sent_s, moment in reads if sent_s <= last_s), default=0)
        for key, audience in self.recorded().items():
            for name, fact in facts_of(audience).items():
                possible = [values.get((key, name)) for values in self.service.values[since:]]
                assert fact in possible, f"the {name} of {key} is older than its last read"

    def check_ledger(self) -> None:
        """Fail if a read by either server doesn't bring the ledger up to date."""
        for server in self.servers:
            self.edit()
            self.rename()
            self.archive()
            self.let_time_pass(1)
            with self.on(server):
                read_pages()
                for page_id in self.page_ids:
                    read_audiences(page_id)
            for key, audience in self.recorded().items():
                assert facts_of(audience) == facts_of(self.service.audiences[key])
            for page_id in self.page_ids:
                status = PageRecord.objects.get(page_id=page_id).status
                assert status == self.service.pages[page_id]["status"], "the page is old"

    def recorded(self) -> dict[Key, dict[str, Any]]:
        pages = self.page_ids
        records = AudienceRecord.objects.filter(page_id__in=pages)
        return {(row.page_id, row.audience_id): json.loads(row.body) for row in records}

    def check_outcomes(self) -> None:
        """Fail if an operation's outcome is wrong, or unknown without need."""
        arrived = Counter(self.service.operation_keys)
        last: dict[tuple[Key, str], Operation] = {}
        for operation in self.operations().order_by("requested_at", "pk"):
            key, version_id = (operation.page_id, operation.audience_id), operation.version_id
            if before_it := last.get((key, version_id)):
                assert before_it.settled_at, "two keys for one intent"
                assert before_it.settled_at <= operation.requested_at, "two keys for one intent"
            last[key, version_id] = operation
            is_done = operation.operation_key in self.service.done
            publishes = [*self.service.done.values()].count((key, version_id))
            is_outside = (*key, version_id) in self.outside
            assert operation.outcome != Outcome.SENDING, "in progress for good"
            assert arrived[operation.operation_key] <= operation.attempts.count(), "sent twice"
            if operation.outcome == Outcome.ACCEPTED:
                assert is_done or publishes or is_outside, "accepted, but not carried out"
            if operation.outcome in (Outcome.REJECTED, Outcome.NOT_SENT):
                assert not is_done, f"{operation.outcome}, but carried out"
            if operation.outcome == Outcome.UNKNOWN and is_done:
                audience, before = self.service.audiences[key], operation.before or {}
                listed = (audience["latestVersion"], audience["publishedVersion"])
                is_listed = version_id in {version["versionId"] for version in listed}
                is_only = publishes == 1 and not is_outside and before["status"] not in IN_QUEUE
                assert not (is_listed and is_only), "unknown after its check"
        listed = outside_publications().filter(page_id__in=self.page_ids)
        assert {*listed.values_list("page_id", "audience_id", "version_id")} <= self.outside

    def check_items(self) -> None:
        """Fail if an item is stuck, or differs from its operation."""
        for item in ReleaseItem.objects.select_related("release", "operation"):
            release, operation = item.release, item.operation
            may_wait = release.state in (ReleaseState.HELD, ReleaseState.DRAFT)
            assert release.state not in (ReleaseState.RUNNING, ReleaseState.SCHEDULED)
            assert item.state in ENDED or (may_wait and item.state == ItemState.WAITING)
            key = (item.page_id, item.audience_id)
            live = self.service.audiences[key]["publishedVersion"]["versionId"]
            if item.state == ItemState.LIVE:
                assert (key, item.version_id) in self.service.were_live, "it was never live"
            if item.state == ItemState.UNKNOWN and operation:
                is_open = operation.outcome == Outcome.UNKNOWN
                is_given_up = operation.outcome == Outcome.ACCEPTED and live != item.version_id
                assert is_open or is_given_up, f"unknown, but {operation.outcome}"


CHANGES = (
    *(History.edit, History.archive, History.publish_outside),
    *(History.publish, History.create_release),
)
EVENTS = (
    *(*(History.read,) * 4, History.list_pages, *(History.rename,) * 2, *CHANGES),
    *(History.check, History.retry, History.mark_interrupted),
    *(*(History.decide,) * 4, *(History.work,) * 8, History.kill),
    *(History.go_live, History.go_live),
    *(History.let_time_pass,) * 2,
    *(History.go_on,) * 40,
)


@pytest.mark.usefixtures("_measured_by_the_test")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_two_servers_never_leave_a_wrong_ledger(
    release_histories: ReleaseHistories,
) -> None:
    release_histories.run(History, exhaustive_count=300)
