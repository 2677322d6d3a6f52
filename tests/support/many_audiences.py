"""A fake service with any pages and audiences, which tests change as other users would."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import httpx

from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.ledger.recording import record_audiences, record_page
from tests.support import wire

Key = tuple[str, str]


@dataclass
class Load:
    """Counts requests that are served at the same time."""

    url: str = ""
    now: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Count a request while it is served."""
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            yield
        finally:
            with self.lock:
                self.now -= 1


@dataclass
class ManyAudiences:
    """Pages with audiences, each by default with a draft over a live version."""

    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    audiences: dict[Key, dict[str, Any]] = field(default_factory=dict)
    pending: dict[Key, list[str]] = field(default_factory=dict)
    """Ids of the pending changes of audiences with a conversation."""
    responses: dict[str, httpx.Response | httpx.TransportError] = field(default_factory=dict)
    """Responses or errors to return instead of the usual ones, by path."""
    paths: list[str] = field(default_factory=list)
    """Paths of the requests, in order."""
    before: Callable[[], object] = lambda: None
    """Called before each response."""
    has_more: bool = False
    """Whether lists of audiences are truncated."""

    def add(self, count: int = 1, *, page_id: str = "page_1", **differs: Any) -> list[Key]:
        """Add audiences to a page and record them as a read would; return their keys."""
        self.pages.setdefault(page_id, wire.page(pageId=page_id, name=f"Name of {page_id}"))
        keys = []
        for _ in range(count):
            key = (page_id, f"aud_{len(self.audiences) + 1}")
            self.audiences[key] = self._audience(key) | differs
            keys.append(key)
        self.record()
        return keys

    def record(self) -> None:
        """Record everything in the ledger, as a crawl would."""
        for page_id, page in self.pages.items():
            record_page(PageItem.model_validate(page))
            audiences = [Audience.model_validate(response) for response in self._of(page_id)]
            record_audiences(page_id, audiences)

    def change(self, key: Key, **differs: Any) -> None:
        """Change an audience at the service."""
        self.audiences[key] |= differs

    def version(self, key: Key, number: int, **differs: Any) -> dict[str, Any]:
        """Return a version of an audience."""
        ids = {"audienceId": key[1], "versionId": f"ver_{key[1]}_{number}"}
        text = f"Runs {number * 10} trucks."
        return wire.version(
            **ids | {"versionNumber": number, "supplementaryContext": text} | differs
        )

    def live(self, key: Key, number: int, **differs: Any) -> dict[str, Any]:
        """Return a published version of an audience."""
        published = {"status": "published", "publishedAt": "2026-02-01T10:00:38Z"}
        return self.version(key, number, **published | differs)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = unquote(request.url.path)
        self.paths.append(path)
        self.before()
        special = self.responses.get(path)
        if isinstance(special, httpx.TransportError):
            raise special
        return special or self._respond(path)

    @contextmanager
    def served(self) -> Iterator["Load"]:
        """Serve this on a socket, and count requests that are served at the same time."""
        load = Load()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(handler) -> None:  # noqa: N805
                with load.one_more():
                    time.sleep(0.002)
                    response = self(httpx.Request("GET", f"http://many.test{handler.path}"))
                handler.send_response(response.status_code)
                handler.send_header("Content-Type", "application/json")
                handler.send_header("Content-Length", str(len(response.content)))
                handler.end_headers()
                handler.wfile.write(response.content)

            def log_message(handler, *args: object) -> None:  # noqa: N805
                """Log nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        load.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield load
        finally:
            server.shutdown()
            server.server_close()

    def _respond(self, path: str) -> httpx.Response:
        match path.split("/")[3:]:
            case []:
                return httpx.Response(200, json=wire.envelope(*self.pages.values()))
            case [page_id] if page_id in self.pages:
                return httpx.Response(200, json=self.pages[page_id])
            case [page_id, "audiences"] if page_id in self.pages:
                body = wire.envelope(*self._of(page_id), hasMore=self.has_more)
                return httpx.Response(200, json=body)
            case [page_id, "audiences", audience_id, "messages"]:
                ids = self.pending.get((page_id, audience_id))
                if ids is not None:
                    changes = [{"changeId": item, "newValue": "New"} for item in ids]
                    return httpx.Response(200, json=wire.conversation(pendingChanges=changes))
        return httpx.Response(404, json={"detail": "Nothing"})

    def _of(self, page_id: str) -> list[dict[str, Any]]:
        return [item for key, item in self.audiences.items() if key[0] == page_id]

    def _audience(self, key: Key) -> dict[str, Any]:
        return wire.audience(
            audienceId=key[1],
            pageId=key[0],
            effectiveName=f"Name of {key[1]}",
            latestVersion=self.version(key, 2),
            publishedVersion=self.live(key, 1),
        )
