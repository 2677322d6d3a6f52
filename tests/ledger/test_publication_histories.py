"""The recorded publications are those of the built-in service that were seen.

Each history is random. On two servers, versions are published, rolled back and released, two
workers take turns, and lists are read; all of it may be interrupted or killed. Others publish
elsewhere. The service drops the dates of versions that go live again, and loses requests and
responses. HISTORIES sets the number of histories; HISTORY runs one by its seed.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import StringIO
from itertools import count, pairwise
from random import Random

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from dashboard.client import APIError
from dashboard.contract.wire import read_date
from dashboard.embedded_api.keys import internal_key
from dashboard.embedded_api.models import Audience, Version
from dashboard.embedded_api.publishing import publish_version
from dashboard.embedded_api.transport import EmbeddedTransport
from dashboard.json_api.problems import ProblemError
from dashboard.ledger.models import Attempt, AudienceRecord, Publication
from dashboard.ledger.models.objects import LiveStatus
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.operations import Clearance, publish_key
from dashboard.ledger.queries.audiences import (
    audience_last_known,
    live_publication,
    publication_at,
    rollback_of,
    version_last_known,
)
from dashboard.operations.checking import PublishTarget
from dashboard.operations.execution import send
from dashboard.operations.publish import begin_publish
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import ENDED, Release, ReleaseState
from dashboard.releases.next_drafts import roll_back
from dashboard.service.reading import read_audiences
from tests.support.clock import Clock
from tests.support.embedded_api_factories import make_audience, make_page, make_version
from tests.support.histories import ReleaseHistories
from tests.support.html import response_text
from tests.support.interleaving import Actor
from tests.support.two_servers import TwoServers

BY_PRESSROOM = {
    *(PublicationReason.PUBLISH, PublicationReason.RELEASE),
    *(PublicationReason.ROLLBACK, PublicationReason.EMERGENCY),
}
serial = count()

Started = tuple[int, datetime]
"""Number of a version and when it went live."""


@dataclass
class Response:
    """A list of audiences that the service has returned."""

    actor: Actor | None
    """The reader; None if nothing else was running."""
    requested_s: float
    started: set[Started]


@dataclass
class Truth:
    """One audience of the built-in service, and what was seen."""

    audience: Audience
    random: Random
    user: User
    went_live: set[Started] = field(default_factory=set)
    """Versions that went live at the service."""
    responses: list[Response] = field(default_factory=list)
    published_here: dict[Started, str] = field(default_factory=dict)
    """Operation keys of the publishes by which Pressroom made versions go live, even if canceled
    before."""

    @property
    def page_id(self) -> str:
        return self.audience.page_id

    @property
    def audience_id(self) -> str:
        return self.audience.pk

    def draft(self) -> None:
        """Add a version, as an agent would."""
        number = Version.objects.filter(audience=self.audience).count() + 1
        make_version(self.audience, number)

    def any_version(self) -> Version:
        """Return a version, mostly one of the newest."""
        versions = list(Version.objects.filter(audience=self.audience).order_by("-version_number"))
        return self.random.choice(versions[: self.random.choice([1, 2, 9])])

    def starts(self) -> set[Started]:
        """Return when each version last went live or will go live."""
        versions = Version.objects.filter(audience=self.audience).exclude(published_at=None)
        return {
            (version.version_number, start)
            for version in versions
            if (start := read_date(version.published_at))
        }

    def note_what_is_live(self) -> None:
        """Record what has gone live; the service forgets it when the version is published again."""
        self.went_live |= {started for started in self.starts() if started[1] <= timezone.now()}

    # What must be true

    def check(self, ended_s: dict[Actor | None, float]) -> None:
        """Fail if the recorded publications aren't those that were seen.

        `ended_s` has when each actor finished; actors that were killed are missing.
        """
        self.note_what_is_live()
        publications = list(
            Publication.objects.filter(page_id=self.page_id, audience_id=self.audience_id)
        )
        on_record = [
            (publication.version_number, publication.started_at) for publication in publications
        ]
        self.seen = {*on_record}
        assert len(self.seen) == len(on_record), "on record twice"
        assert self.seen <= self.may_be_seen(), "other publications than were seen"
        assert self.seen >= self.surely_seen(ended_s), "not all that was seen is on record"
        assert self.may_be_seen() <= self.went_live, "what was seen never went live"
        assert not any(publication.is_start_seen for publication in publications)
        for publication, successor in pairwise(publications):
            assert publication.ended_at
            assert publication.started_at <= publication.ended_at <= successor.started_at, "overlap"
        self.check_ends(publications)
        self.check_reasons(publications)
        self.check_moments(publications)
        self.check_record(publications)
        self.check_screens(publications)

    def may_be_seen(self) -> set[Started]:
        """Return the versions in any response."""
        return {started for response in self.responses for started in response.started}

    def surely_seen(self, ended_s: dict[Actor | None, float]) -> set[Started]:
        """Return the versions in responses that were recorded before a later request."""
        seen: set[Started] = set()
        for response in self.responses:
            begin_s, end_s = response.requested_s, ended_s.get(response.actor, response.requested_s)
            is_last = not any(begin_s < other.requested_s <= end_s for other in self.responses)
            if is_last and (response.actor is None or response.actor in ended_s):
                seen |= response.started
        return seen

    def check_ends(self, publications: list[Publication]) -> None:
        """Fail if the recorded end of a publication is wrong, as far as the end was seen."""
        ends = self.ends()
        for publication in publications:
            ended_at = ends[publication.version_number, publication.started_at]
            successors = [start for _, start in self.seen if start > publication.started_at]
            if ended_at in successors or ended_at is None:
                assert publication.ended_at == ended_at, "another end"

    def ends(self) -> dict[Started, datetime | None]:
        """Return when each publication of the service ended."""
        in_order = sorted(self.went_live, key=lambda started: started[1])
        starts = [start for _, start in in_order]
        return dict(zip(in_order, [*starts[1:], None], strict=False))

    def check_reasons(self, publications: list[Publication]) -> None:
        """Fail if a version published outside has an operation, or one published here has none."""
        requests = self.requests()
        seen_at: dict[int, datetime] = {}
        for place, publication in enumerate(publications):
            number = publication.version_number
            requested_at = requests.get(number)
            is_explained = requested_at and requested_at >= seen_at.get(number, requested_at)
            seen_at[number] = publication.seen_at
            if operation_key := self.published_here.get((number, publication.started_at)):
                allowed = {PublicationReason.FIRST_SEEN, *BY_PRESSROOM}
                if self.is_used_up(operation_key, publication, publications[:place]):
                    allowed.add(PublicationReason.OUTSIDE)
                assert publication.reason in allowed, "published here"
            elif not is_explained:
                allowed = {PublicationReason.FIRST_SEEN, PublicationReason.OUTSIDE}
                assert publication.reason in allowed, "published outside"
            if operation := publication.operation:
                assert operation.version_id == publication.version_id
                assert operation.outcome not in (Outcome.REJECTED, Outcome.NOT_SENT)
                assert publication.actor_name == operation.actor_name

    def is_used_up(
        self, operation_key: str, publication: Publication, earlier: list[Publication]
    ) -> bool:
        """Return whether a publish already explains an earlier publication by others.

        It explains the first publication that was seen after it was sent, although others may have
        published the version before it arrived. Only its response tells which one is its own.
        """
        attempts = Attempt.objects.filter(operation__operation_key=operation_key)
        sent = attempts.filter(sent_at__lte=publication.started_at).order_by("sent_at").last()
        assert sent
        has_response = attempts.filter(outcome=Outcome.ACCEPTED, ended_at__lte=publication.seen_at)
        return not has_response.exists() and any(
            before.version_id == publication.version_id and before.seen_at > sent.sent_at
            for before in earlier
            if before.reason != PublicationReason.SEEN_AGAIN
        )

    def requests(self) -> dict[int, datetime]:
        """Return when Pressroom last published each version, with or without effect."""
        attempts = Attempt.objects.exclude(operation__outcome=Outcome.NOT_SENT).filter(
            operation__page_id=self.page_id, operation__audience_id=self.audience_id
        )
        in_order = attempts.order_by("sent_at")
        return dict(in_order.values_list("operation__version_number", "sent_at"))

    def check_moments(self, publications: list[Publication]) -> None:
        """Fail if the ledger is wrong about what was live at a random moment that was seen."""
        for publication in publications:
            until = publication.last_seen_at or publication.started_at
            span = (until - publication.started_at) * self.random.random()
            moment = publication.started_at + max(span, timedelta())
            live = max(
                (started for started in self.went_live if started[1] <= moment),
                key=lambda started: started[1],
            )
            at_moment = publication_at(self.page_id, self.audience_id, moment)
            assert at_moment
            assert (at_moment.version_number, at_moment.started_at) == live, "another was live"

    def check_screens(self, publications: list[Publication]) -> None:
        """Fail if a page or an export differs from the publications, at a random moment or now."""
        # Log in at the clock's time, because a session is shorter than the history.
        self.client = Client()
        self.client.force_login(self.user, backend=settings.AUTHENTICATION_BACKENDS[-1])
        moment = timezone.now() - timedelta(seconds=self.random.uniform(0, 6000))
        live = [
            publication
            for publication in publications
            if publication.started_at <= moment
            and (publication.ended_at is None or publication.ended_at > moment)
        ]
        at = {"at": moment.isoformat()}
        numbers = [str(publication.version_number) for publication in live]
        page = self.page("audience-detail", **at)
        assert re.findall(r"Live at [^:]+:\d\d(?::\d\d)?: version (\d+)", page) == numbers
        assert [row["Live version"] for row in self.rows(**at)] == numbers

        record = AudienceRecord.objects.get(page_id=self.page_id, audience_id=self.audience_id)
        now = "" if record.live_version_number is None else str(record.live_version_number)
        assert [row["Live version"] for row in self.rows()] == [now]
        numbers = re.findall(r"Live now: version (\d+)", self.page("audience-detail"))
        assert numbers == ([now] if now else [])

    def page(self, name: str, **params: str) -> str:
        url = reverse(name, args=[self.page_id, self.audience_id])
        return response_text(self.client.get(url, params))

    def rows(self, **params: str) -> list[dict[str, str]]:
        """Return this audience's rows of the list's export."""
        response = self.client.get(reverse("audience-export"), {"q": self.audience_id, **params})
        content = b"".join(response).decode("utf-8-sig")
        rows = csv.DictReader(StringIO(content))
        # The last line says how complete the export is.
        return [row for row in rows if row["Audience"] == self.audience_id]

    def check_record(self, publications: list[Publication]) -> None:
        """Fail if the audience's record differs from its publications."""
        record = AudienceRecord.objects.get(page_id=self.page_id, audience_id=self.audience_id)
        live = live_publication(self.page_id, self.audience_id)
        assert record.live_version_id == (live.version_id if live else "")
        rollback = rollback_of(publications, record.latest_version_id)
        if record.live_status == LiveStatus.ROLLED_BACK:
            assert rollback
        if record.live_status == LiveStatus.CHANGED:
            assert not rollback
        number, times = (
            record.latest_version_number,
            sorted(self.went_live, key=lambda started: started[1]),
        )
        places = [place for place, started in enumerate(times) if started[0] == number]
        if rollback:
            assert times[places[-1] + 1][0] < (number or 0), "rolled back by a newer one"
        elif places and self.seen == self.went_live and places[-1] + 1 < len(times):
            successor, earlier = (
                times[places[-1] + 1][0],
                [start[0] for start in times[: places[-1]]],
            )
            assert successor > (number or 0) or successor not in earlier, "not rolled back"


class History(TwoServers):
    """One random history of a page."""

    def __init__(self, seed: int, clock: Clock, user: User) -> None:
        super().__init__(seed, clock, user)
        self.service = self
        self.embedded = EmbeddedTransport()
        self.ended_s: dict[Actor | None, float] = {}
        """When each reader recorded its response."""

    def run(self) -> None:
        seconds = self.random.choice([0, 0, 5, 40])
        with override_settings(EMBEDDED_API_QUEUE_S=seconds, EMBEDDED_API_PROCESSING_S=seconds):
            self.take_steps()

    def take_steps(self) -> None:
        """Take random steps, read once more, and check the ledger."""
        self.move_to(None)
        page = make_page(name=f"Page {next(serial)}")
        self.truths = [
            Truth(make_audience(page, custom_name="Acme"), self.random, self.user)
            for _ in range(self.random.choice([1, 1, 2]))
        ]
        self.keys = [(truth.page_id, truth.audience_id) for truth in self.truths]
        for truth in self.truths:
            for _ in range(self.random.randint(1, 3)):
                truth.draft()
        if self.random.random() < 0.5:
            with suppress(APIError):
                read_audiences(page.pk)
            self.create_checked_release()
        for _ in range(self.random.randint(40, 250)):
            event = self.random.choice(EVENTS)
            if event is not History.go_on:
                self.log(event.__name__)
            event(self)
            self.note_what_is_live()
        while self.turns.actors:
            self.go_on()
        self.settle()
        self.let_time_pass(100)
        self.note_what_is_live()
        read_audiences(page.pk)
        for truth in self.truths:
            truth.check(self.ended_s)
        self.check_releases()

    def note_what_is_live(self) -> None:
        """Record what has gone live for each audience."""
        with self.on(None):
            for truth in self.truths:
                truth.note_what_is_live()

    # The service

    def __call__(self, request: httpx.Request) -> httpx.Response:
        actor, requested_s = self.turns.current, self.now_s
        response = self.call(request, self.serve)
        if response.status_code == 200 and request.url.path.endswith("/audiences"):
            listed = {item["audienceId"]: item for item in response.json()["items"]}
            for truth in self.truths:
                item = listed[truth.audience_id]
                versions = filter(None, (item.get("publishedVersion"), item.get("latestVersion")))
                started = {
                    (version["versionNumber"], start)
                    for version in versions
                    if (start := read_date(version.get("publishedAt")))
                }
                truth.responses.append(Response(actor, requested_s, started))
        return response

    def serve(self, request: httpx.Request) -> httpx.Response:
        """Respond as the built-in service, and record what a publish from Pressroom changes."""
        request.headers["x-api-key"] = internal_key()
        if request.method == "GET":
            return self.embedded.handle_request(request)
        with self.published_by(json.loads(request.content)["operationKey"]):
            return self.embedded.handle_request(request)

    @contextmanager
    def published_by(self, operation_key: str) -> Iterator[None]:
        """Record what an operation publishes in the block."""
        self.note_what_is_live()
        before = [truth.starts() for truth in self.truths]
        yield
        for truth, starts in zip(self.truths, before, strict=True):
            truth.published_here |= dict.fromkeys(truth.starts() - starts, operation_key)

    # What happens

    def draft(self) -> None:
        self.random.choice(self.truths).draft()

    def publish(self) -> None:
        """Publish any version after a review."""
        version = self.random.choice(self.truths).any_version()
        self.publish_version(PublishTarget(*self.key_of(version), version.pk))

    def publish_in_emergency(self) -> None:
        """Publish any version with an emergency reason, as if it needed an approval."""
        version = self.random.choice(self.truths).any_version()
        target = PublishTarget(*self.key_of(version), version.pk)

        def publish() -> None:
            record = version_last_known(*target)
            audience = audience_last_known(*self.key_of(version))
            if record is None:
                return
            operation, attempt = begin_publish(
                target,
                operation_key=publish_key(*target),
                version=record.version,
                live=audience.audience.published_version if audience else None,
                audience_name="Acme",
                actor=self.user,
                clearance=Clearance(emergency_reason="Wrong price"),
            )
            if attempt:
                send(operation, attempt)

        self.begin(f"emergency {version.version_number}", publish)

    def publish_outside(self) -> None:
        """Publish a version with another tool."""
        version = self.random.choice(self.truths).any_version()
        self.log(f"outside {version.version_number}")
        page_id, audience_id = self.key_of(version)
        self.note_what_is_live()
        with self.on(None), suppress(ProblemError):
            publish_version(
                tenant_id=version.tenant_id,
                page_id=page_id,
                audience_id=audience_id,
                version_id=version.pk,
                operation_key=None,
            )

    def key_of(self, version: Version) -> tuple[str, str]:
        return self.truths[0].page_id, version.audience_id

    def roll_back_release(self) -> None:
        """Roll back a whole release."""
        if releases := list(Release.objects.filter(state=ReleaseState.FINISHED)):
            release = self.random.choice(releases)

            def press() -> None:
                with suppress(ReleaseError):
                    roll_back(release, self.user)

            self.begin(f"roll back release {release.pk}", press)

    def restart(self) -> None:
        """Restart a server, so that its running work is lost."""
        server = self.random.choice(self.servers)
        for actor in [*self.turns.actors]:
            if self.homes[actor] == server:
                self.turns.kill(actor)
        cache.clear()
        self.mark_interrupted()

    def has_ended(self, actor: Actor) -> None:
        # A worker doesn't record a list if another of its calls failed.
        if actor.name.startswith("read") and not actor.is_killed:
            self.ended_s[actor] = self.now_s

    def check_releases(self) -> None:
        """Fail if a version that a release published has another reason."""
        publications = Publication.objects.filter(page_id=self.truths[0].page_id)
        by_release = publications.exclude(operation__release_items=None)
        for publication in by_release.prefetch_related("operation__release_items__release"):
            assert publication.operation
            is_rollback = publication.reason == PublicationReason.ROLLBACK
            # An item also follows what was sent earlier for its version.
            is_emergency = bool(publication.operation.emergency_reason)
            reason = PublicationReason.EMERGENCY if is_emergency else PublicationReason.RELEASE
            assert is_rollback or publication.reason in (reason, PublicationReason.PUBLISH)
            for item in publication.operation.release_items.all():
                assert item.state in ENDED or item.release.state == ReleaseState.HELD


EVENTS: tuple[Callable[[History], None], ...] = (
    *(*(History.publish,) * 3, *(History.publish_in_emergency,) * 2),
    *(History.publish_outside,) * 3,
    *(History.read,) * 6,
    *(*(History.create_release,) * 2, *(History.decide,) * 4, *(History.work,) * 8),
    *(*(History.roll_back_release,) * 2, History.check, History.retry, History.kill),
    *(History.draft, History.restart, *(History.let_time_pass,) * 3),
    *(History.go_on,) * 60,
)


@pytest.mark.usefixtures("_measured_by_the_test")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_no_history_has_other_publications_than_were_seen(
    release_histories: ReleaseHistories,
) -> None:
    release_histories.run(History, exhaustive_count=500)
