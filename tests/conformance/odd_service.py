"""A small server that follows the spec, and is odd wherever the spec allows it.

It sends null for everything nullable, leaves out optional fields, and sends unknown enum values,
extra fields, ids with slashes, and marks without a time as dates. `POST /mood` with one of MOODS
changes how it responds. To run it alone: `python odd_service.py`, which prints its port.
"""

import json
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "odd-key"
MOODS = ("well", "500", "garbage", "silent", "cut", "html", "empty")
SILENCE_S = 30
MARK = "accountlog_zzzzzzzzzzzzzzzzzzzzzzzzzz"  # fits the pattern but has no time
PAGE_ID, AUDIENCE_ID, VERSION_ID = "page/odd?#1", "aud %2F\u00e9", "ver..2"

version_status = {"status": "rehearsing"}
subscription = {
    "subscriptionId": "whs_odd",
    "url": "https://hooks.example/in",
    "events": None,
    "active": True,
    "createdAt": MARK,
    "updatedAt": MARK,
    "secretSauce": {"deep": [1, 2]},
}


def page(**more: Any) -> dict[str, Any]:
    return {
        "actions": [{"actionId": None, "buttonTitle": "Book", "actionIndex": 0.5}],
        "actionCardWidgets": [{"type": "hologram", "logos": [{"image": None}]}],
        "archivedAt": None,
        "audiencesCount": 120,
        "brandId": "",
        "createdAt": MARK,
        "deletedAt": None,
        "name": "An odd page",
        "pageContext": "",
        "pageId": PAGE_ID,
        "scripts": [{"content": "<script>alert(1)</script>", "enabled": None}],
        "tenantId": "t",
        "title": "",
        "updatedAt": "yesterday",
        "weather": "fair",
    } | more


def whole_page() -> dict[str, Any]:
    return page(pageType="hologram", status="simmering", metadata={"robots": [1, None]})


def version() -> dict[str, Any]:
    return {
        "archivedAt": None,
        "audienceId": AUDIENCE_ID,
        "becameDraftAt": None,
        "cancelledAt": None,
        "createdAt": MARK,
        "isNewPageAgent": False,
        "obsoleteAt": None,
        "publishedAt": None,
        "queueDurationMs": None,
        "queuedAt": None,
        "supplementaryContext": None,
        "tenantId": "t",
        "versionId": VERSION_ID,
        "versionNumber": -3,
    } | version_status


def envelope(*items: Any, **more: Any) -> dict[str, Any]:
    return {"hasMore": False, "items": list(items), "totalCount": len(items)} | more


def conversation() -> dict[str, Any]:
    return {
        "conversation": {"conversationId": None},
        "messages": [{}, {"contentParts": [{"type": "smell", "text": "rain"}], "timestamp": 1e9}],
        "context": {},
        "pendingChanges": [{"changeId": None, "previousValue": None, "newValue": "New"}],
    }


ROUTES: dict[tuple[str, str], Any] = {
    ("GET", r"/v0/pages"): lambda body: (200, envelope(page(), {"pageId": 5}, totalCount=2)),
    ("POST", r"/v0/pages"): lambda body: (201, whole_page() | {"name": body["name"]}),
    ("GET", r"/v0/pages/[^/]+"): lambda body: (200, whole_page()),
    ("GET", r"/v0/pages/[^/]+/audiences"): lambda body: (
        200,
        envelope(
            {"audienceId": AUDIENCE_ID, "latestVersion": version(), "publishedVersion": None},
            {"audienceId": "aud_bare"},
            hasMore=True,
            totalCount=120,
        ),
    ),
    ("GET", r"/v0/pages/[^/]+/audiences/[^/]+/messages"): lambda body: (200, conversation()),
    ("POST", r"/v0/pages/[^/]+/audiences/[^/]+/versions/[^/]+/publish"): lambda body: (
        version_status.update(status="queued") or (200, version())
    ),
    ("GET", r"/v0/persons"): lambda body: (
        200,
        envelope({}, {"name": None, "email": "a@b.example"}),
    ),
    ("GET", r"/v0/persons/search"): lambda body: (200, envelope({"name": "Odd One"})),
    ("PATCH", r"/v0/webhook_subscriptions/[^/]+"): lambda body: (
        subscription.update(body) or (200, subscription)
    ),
}


class OddHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mood = "well"

    def answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        if self.path == "/mood":
            OddHandler.mood = raw.decode()
            return self.send(200, b"{}")
        if self.mood != "well":
            return self.answer_badly()
        if self.headers.get("x-api-key") != KEY:
            return self.send(401, b"")
        path = self.path.partition("?")[0]
        for (method, pattern), route in ROUTES.items():
            if method == self.command and re.fullmatch(pattern, path):
                status, body = route(json.loads(raw) if raw else None)
                return self.send(status, json.dumps(body).encode())
        return self.send(404, b"who knows", "text/plain")

    do_GET = do_POST = do_PATCH = answer  # noqa: N815 (http.server's names)

    def answer_badly(self) -> None:
        match self.mood:
            case "500":
                self.send(500, b'{"error": "the kettle is empty"}')
            case "garbage":
                self.send(200, b'{"items": [')
            case "html":
                self.send(200, b"<h1>Welcome</h1>", "text/html")
            case "empty":
                self.send(200, b"")
            case "silent":
                time.sleep(SILENCE_S)
            case "cut":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
                self.close_connection = True

    def send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else 0), OddHandler)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
