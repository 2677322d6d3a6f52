"""Tokens, and the interfaces by which a test performs acts: JSON and both kinds of MCP."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from dashboard import clock
from dashboard.machine.models import MachineToken
from dashboard.machine.tokens import issue
from tests.support.many_audiences import Key

PATHS = {
    "find": ("GET", "audiences"),
    "read_audience": ("GET", "audience"),
    "diff": ("GET", "diff"),
    "plan": ("POST", "plans"),
    "status": ("GET", "plans/{plan}"),
    "request": ("POST", "plans/{plan}/request"),
    "publish": ("POST", "plans/{plan}/publish"),
    "cancel": ("POST", "plans/{plan}/cancel"),
    "comment": ("POST", "comments"),
    "activity": ("GET", "activity"),
}
MODERN = "2026-07-28"
MAX_ANSWER = 25_000
"""Maximum size of a response of MCP, in bytes."""
META = "io.modelcontextprotocol/"
serial = count(1)

Answer = tuple[int, dict[str, Any]]
"""The status and the body; for MCP, those in a tool's result."""


NEEDS = dict.fromkeys(("find", "read_audience", "diff", "status", "activity"), "read")
NEEDS |= dict.fromkeys(("plan", "request", "cancel", "comment"), "request")
NEEDS |= {"publish": "publish"}
"""The scope that each act needs."""


def arguments_of(act: str, key: Key, plan: dict[str, Any]) -> dict[str, Any]:
    """Return valid arguments of an act on an audience and a plan of it."""
    ids = {"page_id": key[0], "audience_id": key[1]}
    decision = {"plan": plan["plan"], "digest": plan["digest"]}
    return {
        "find": {},
        "read_audience": ids,
        "diff": ids,
        "plan": {"versions": [ids]},
        "request": decision,
        "publish": decision,
        "status": {"plan": plan["plan"]},
        "cancel": {"plan": plan["plan"]},
        "comment": {**ids, "body": "Checked."},
        "activity": {},
    }[act]


def new_token(user: User, *scopes: str, **differs: Any) -> str:
    """Make a token of a user, with all scopes by default."""
    columns: dict[str, Any] = {
        "name": "nightly",
        "scopes": scopes or ("read", "request", "publish"),
        "expires_at": clock.now() + timedelta(days=30),
    }
    return issue(MachineToken(owner=user, **columns | differs))


def row_of(token: str) -> MachineToken:
    """Return the row of a token."""
    return MachineToken.objects.get(sha256=sha256(token.encode()).hexdigest())


@dataclass
class JsonInterface:
    """The JSON API, called with a token."""

    token: str
    client: Client = field(default_factory=Client)
    agent: str = "script 1.0"

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Send a request; `path` may include a query."""
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": self.agent} | headers
        content = {} if body is None else {"data": body, "content_type": "application/json"}
        return self.client.generic(
            method,
            f"/api/1/{path}",
            **({"data": json.dumps(content["data"])} if content else {}),  # type: ignore[arg-type]
            content_type="application/json",
            headers=headers,
        )

    def act(self, name: str, /, *, key: str = "", **arguments: Any) -> Answer:
        method, path = PATHS[name]
        if "{plan}" in path:
            path = path.format(plan=arguments.pop("plan"))
        if method == "GET":
            response = self.client.get(
                f"/api/1/{path}",
                arguments,
                headers={"Authorization": f"Bearer {self.token}", "User-Agent": self.agent},
            )
        else:
            headers = {"Idempotency-Key": key or f"key-{next(serial)}"}
            response = self.send(method, path, arguments, **headers)
        return response.status_code, json.loads(response.content)


@dataclass
class McpInterface:
    """One revision of MCP, called with a token."""

    token: str
    version: str = MODERN
    client: Client = field(default_factory=Client)
    agent: str = "script 1.0"

    def post(self, body: Any, **headers: str) -> HttpResponse:
        """Send a raw body."""
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": self.agent} | headers
        response = self.client.post("/mcp/", body, content_type="application/json", headers=headers)
        assert len(response.content) <= MAX_ANSWER
        return response

    def call(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        """Send a request as the revision defines it."""
        params = dict(params or {})
        own = {"MCP-Protocol-Version": self.version}
        if self.version == MODERN:
            name, _, version = self.agent.partition(" ")
            info = {"name": name, "version": version}
            params["_meta"] = {
                f"{META}protocolVersion": self.version,
                f"{META}clientCapabilities": {},
                f"{META}clientInfo": info,
            }
            own["Mcp-Method"] = method
            if method == "tools/call":
                own["Mcp-Name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": next(serial), "method": method, "params": params}
        return self.post(message, **own | headers)

    def act(self, name: str, /, *, key: str = "", **arguments: Any) -> Answer:
        """Perform an act as a tool."""
        if key:
            arguments["idempotency_key"] = key
        response = self.call("tools/call", {"name": name, "arguments": arguments})
        body = response.json()
        if "result" not in body:
            return response.status_code, body
        answer = json.loads(body["result"]["content"][0]["text"])
        return answer["status"] if body["result"].get("isError") else 200, answer


INTERFACES = {
    "json": JsonInterface,
    "mcp": McpInterface,
    "mcp before": lambda token: McpInterface(token, version="2025-06-18"),
}


def ids(key: Key) -> dict[str, str]:
    return {"page_id": key[0], "audience_id": key[1]}


def planned(interface: Any, key: Key, **more: Any) -> dict[str, Any]:
    """Plan the latest version of an audience, and return the plan."""
    status, plan = interface.act("plan", versions=[ids(key)], **more)
    assert status == 200, plan
    return dict(plan)
