"""A fake service with many audiences that publishes, and a worker for tests."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import httpx
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.releases import decisions
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.worker import run_pending
from tests.support.clock import Clock
from tests.support.interleaving import KilledError
from tests.support.many_audiences import Key, ManyAudiences

Way = Callable[["PublishingAudiences", Key, str], httpx.Response]
"""Responds to a publish of a version of an audience."""


@dataclass
class PublishingAudiences(ManyAudiences):
    """Queues published versions, and makes them live at once or when the test says so."""

    way: Way = field(default_factory=lambda: accepts)
    ways: dict[str, Way] = field(default_factory=dict)
    """Responses by audience id, instead of `way`."""
    is_fast: bool = True
    """Whether a version is live as soon as it is queued."""
    sent: list[tuple[Key, str]] = field(default_factory=list)
    """The audience and operation key of each publish that arrived, in order."""
    carried_out: Counter[tuple[Key, str]] = field(default_factory=Counter)
    """How often each version of an audience was queued."""
    replaced: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Versions that were the latest or the live one, by id."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method != "POST":
            return super().__call__(request)
        page_id, _, audience_id, _, version_id = unquote(request.url.path).split("/")[3:8]
        key = (page_id, audience_id)
        self.sent.append((key, json.loads(request.content)["operationKey"]))
        try:
            return self.ways.get(audience_id, self.way)(self, key, version_id)
        except httpx.TransportError as error:
            error.request = request
            raise

    @property
    def audiences_sent(self) -> list[str]:
        """Ids of the audiences with a published version, in order of publishing."""
        return [audience_id for (_, audience_id), _ in self.sent]

    @property
    def operation_keys(self) -> list[str]:
        """The operation key of each publish that arrived."""
        return [operation_key for _, operation_key in self.sent]

    def carry_out(self, key: Key, version_id: str) -> dict[str, Any]:
        """Queue a version and return it; make it live at once if the service is fast."""
        self.carried_out[key, version_id] += 1
        version = self.find(key, version_id)
        version |= {"status": "queued", "queuedAt": timezone.now().isoformat()}
        if self.is_fast:
            self.go_live(key, version_id)
        return dict(version)

    def go_live(self, key: Key, version_id: str) -> None:
        """Make a version live."""
        version = self.find(key, version_id)
        version |= {"status": "published", "publishedAt": timezone.now().isoformat()}
        audience = self.audiences[key]
        before = audience["publishedVersion"]
        if before and before["versionId"] != version_id:
            before["status"] = "archived"
            self.replaced[before["versionId"]] = before
        audience["publishedVersion"] = version

    def all_go_live(self) -> None:
        """Make every queued version live."""
        for key, audience in self.audiences.items():
            for version in (audience.get("earlier"), audience["latestVersion"]):
                if version and version["status"] == "queued":
                    self.go_live(key, version["versionId"])

    def edit(self, key: Key) -> None:
        """Create another version of an audience, as an agent would."""
        latest = self.audiences[key]["latestVersion"]
        self.replaced[latest["versionId"]] = latest
        self.change(key, latestVersion=self.version(key, latest["versionNumber"] + 1))

    def find(self, key: Key, version_id: str) -> dict[str, Any]:
        """Return a version. One that was never the latest or the live version is made up."""
        audience = self.audiences[key]
        for name in ("latestVersion", "publishedVersion", "earlier"):
            version = audience.get(name)
            if version and version["versionId"] == version_id:
                return version
        if version_id not in self.replaced:
            number = int(version_id.rpartition("_")[2])
            self.replaced[version_id] = self.version(key, number, versionId=version_id)
        audience["earlier"] = self.replaced[version_id]
        return self.replaced[version_id]


def accepts(service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
    return httpx.Response(200, json=service.carry_out(key, version_id))


def responds(status: int, message: str = "", **headers: str) -> Way:
    """Reject a publish with that status."""

    def way(service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.Response(status, json={"detail": message}, headers=named)

    return way


def fails(error: type[httpx.TransportError], *, is_carried_out: bool) -> Way:
    """End in a transport error, with or without publishing the version."""

    def way(service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        if is_carried_out:
            service.carry_out(key, version_id)
        raise error("failed")

    return way


def kills(*, is_carried_out: bool) -> Way:
    """Kill the worker that waits for the response, with or without publishing the version."""

    def way(service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        if is_carried_out:
            service.carry_out(key, version_id)
        raise KilledError

    return way


def checked_release(keys: Iterable[Key], user: User, *, name: str = "", note: str = "") -> Release:
    """Return a checked draft of these audiences."""
    release = create_release(name=name, note=note, audiences=list(keys), user=user)
    check_release(release)
    return release


def work(release: Release, clock: Clock, minutes: float = 5, worker_id: str = "worker-1") -> None:
    """Run a worker for so many minutes with a stopped clock; reload the release."""
    now = timezone.now()
    assert timezone.now() == now, "The clock must be a stopped one, or this waits in real time."
    end = now + timedelta(minutes=minutes)
    while True:
        run_pending(worker_id)
        release.refresh_from_db()
        if release.wake_at is None or release.wake_at > end:
            break
        clock.advance((release.wake_at - timezone.now()).total_seconds())
    clock.advance(max(0.0, (end - timezone.now()).total_seconds()))


def decide(release: Release, user: User, *, publishes_others: bool = False) -> None:
    """Publish or continue a release, as from its page."""
    sendable = release.items.filter(state=ItemState.WAITING).count()
    digest = board_digest(release)
    decisions.publish(release, user, str(sendable), digest, publishes_others=publishes_others)


def schedule(release: Release) -> Release:
    """Schedule a release to be due in an hour."""
    due_at = timezone.now() + timedelta(hours=1)
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.SCHEDULED, due_at=due_at, wake_at=due_at, needs_check=False
    )
    release.refresh_from_db()
    return release


def states(release: Release) -> list[ItemState]:
    """Return the state of each item, in order."""
    return [ItemState(state) for state in release.items.values_list("state", flat=True)]
