"""A fake service with one audience. Tests set its response to a publish."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import httpx

from tests.support import wire

Way = Callable[["PublishingService", httpx.Request], httpx.Response]


def now() -> str:
    return datetime.now(UTC).isoformat()


@dataclass
class PublishingService:
    """Has the versions of one audience; `way` responds to a publish."""

    way: Way = field(default_factory=lambda: accepts)
    live: dict[str, Any] | None = field(default_factory=wire.live_version)
    latest: dict[str, Any] | None = field(default_factory=wire.version)
    page: dict[str, Any] = field(default_factory=wire.page)
    page_response: httpx.Response | None = None
    """Response to a read of the page, instead of the page."""
    conversation: httpx.Response | None = None
    keys: list[str] = field(default_factory=list)
    """The operation key of each publish that arrived."""
    reads: int = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            return self.way(self, request)
        self.reads += 1
        path = request.url.path
        if path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(self.audience()))
        if path.endswith("/messages"):
            return self.conversation or httpx.Response(200, json=wire.conversation())
        return self.page_response or httpx.Response(200, json=self.page)

    def audience(self) -> dict[str, Any]:
        return wire.audience(latestVersion=self.latest, publishedVersion=self.live)

    def carry_out(self, request: httpx.Request) -> dict[str, Any]:
        """Queue the version and return its new state."""
        self.keys.append(json.loads(request.content)["operationKey"])
        version_id = unquote(request.url.path.split("/")[-2])
        if self.latest and self.latest["versionId"] == version_id:
            if self.latest["status"] == "draft":
                self.latest = self.latest | {"status": "queued", "queuedAt": now()}
            return self.latest
        return wire.live_version(versionId=version_id, status="queued", queuedAt=now())

    def moves_on(self, status: str, **dates: Any) -> None:
        """Advance the latest version to a status."""
        assert self.latest is not None
        self.latest = self.latest | {"status": status} | dates
        if status == "published":
            self.latest |= {"publishedAt": now(), "queueDurationMs": 3_000}
            self.live = self.latest


def accepts(service: PublishingService, request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json=service.carry_out(request))


def lags(service: PublishingService, request: httpx.Request) -> httpx.Response:
    """Respond that the version is queued, but keep listing the old state."""
    listed = service.latest
    queued = service.carry_out(request)
    service.latest = listed
    return httpx.Response(200, json=queued)


def answers(status: int, message: str = "", *, carried_out: bool = False) -> Way:
    """Respond with that status, with or without queueing the version."""

    def way(service: PublishingService, request: httpx.Request) -> httpx.Response:
        if carried_out:
            service.carry_out(request)
        else:
            service.keys.append(json.loads(request.content)["operationKey"])
        return httpx.Response(status, json={"detail": message} if message else {})

    return way


def garbage(service: PublishingService, request: httpx.Request) -> httpx.Response:
    service.carry_out(request)
    return httpx.Response(200, content=b"<html>Welcome")


def takes_another(service: PublishingService, request: httpx.Request) -> httpx.Response:
    """Respond with a version other than the published one, and queue nothing."""
    service.keys.append(json.loads(request.content)["operationKey"])
    other = wire.version(versionId="ver_other", status="queued", queuedAt=now())
    return httpx.Response(200, json=other)


def fails(error: type[httpx.TransportError], *, carried_out: bool) -> Way:
    """End in a transport error, with or without queueing the version."""

    def way(service: PublishingService, request: httpx.Request) -> httpx.Response:
        if carried_out:
            service.carry_out(request)
        raise error("failed", request=request)

    return way


class Killed(BaseException):
    """Raised to end the dashboard's process as if it were killed."""


def killed(*, carried_out: bool) -> Way:
    """Kill the dashboard's process, with or without queueing the version."""

    def way(service: PublishingService, request: httpx.Request) -> httpx.Response:
        if carried_out:
            service.carry_out(request)
        raise Killed

    return way
