"""The Model Context Protocol: what it prescribes, and the official client in its modes."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from mcp.client.client import Client
from mcp_types.methods import CLIENT_REQUESTS

from tests.support.machines import META, MODERN, McpInterface, ids, new_token
from tests.support.many_audiences import Key
from tests.support.mcp_client import run_with_client


@pytest.fixture
def mcp(paula: User, key: Key) -> McpInterface:
    """The newest revision, with a token that has all scopes."""
    return McpInterface(new_token(paula))


def before(mcp: McpInterface) -> McpInterface:
    return McpInterface(mcp.token, version="2025-03-26")


EARLIER = ("2025-03-26", "2025-06-18", "2025-11-25")
Case = tuple[Callable[[McpInterface], HttpResponse], int, int | None]
CALL = {"name": "find", "arguments": {}}
UNKNOWN: dict[str, Any] = {"name": "drop_all", "arguments": {}}
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CASES: dict[str, Case] = {
    "no JSON": (lambda m: m.post("{"), 400, -32700),
    "no message": (lambda m: m.post({"hello": 1}), 400, -32600),
    "unknown version": (
        lambda m: m.post(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            **{"MCP-Protocol-Version": "2030-01-01"},
        ),
        400,
        -32022,
    ),
    "version of header and body": (
        lambda m: m.call("tools/list", **{"MCP-Protocol-Version": "2025-11-25"}),
        400,
        -32020,
    ),
    "method of header and body": (
        lambda m: m.call("tools/call", CALL, **{"Mcp-Method": "tools/list"}),
        400,
        -32020,
    ),
    "name of header and body": (
        lambda m: m.call("tools/call", CALL, **{"Mcp-Name": "plan"}),
        400,
        -32020,
    ),
    "name in Base64": (
        lambda m: m.call("tools/call", CALL, **{"Mcp-Name": "=?base64?ZmluZA==?="}),
        200,
        None,
    ),
    "unknown method": (lambda m: m.call("prompts/list"), 404, -32601),
    "unknown method before": (lambda m: before(m).call("prompts/list"), 200, -32601),
    "unknown tool": (lambda m: m.call("tools/call", UNKNOWN), 400, -32602),
    "unknown tool before": (lambda m: before(m).call("tools/call", UNKNOWN), 200, -32602),
    "notification": (lambda m: m.post(NOTE), 202, None),
    "answer of a client": (lambda m: m.post({"jsonrpc": "2.0", "id": 1, "result": {}}), 202, None),
    "too large a body": (lambda m: m.call("tools/list", {"x": "n" * (1 << 20)}), 413, None),
    "no header of the method": (
        lambda m: m.call("tools/list", **{"Mcp-Method": ""}),
        400,
        -32020,
    ),
    "page of another site": (
        lambda m: m.call("tools/list", Origin="https://evil.example"),
        403,
        None,
    ),
    "own page": (lambda m: m.call("tools/list", Origin="http://testserver"), 200, None),
    "no capabilities": (
        lambda m: m.post(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/list",
                "params": {"_meta": {f"{META}protocolVersion": MODERN}},
            }
        ),
        400,
        -32602,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_protocol_is_followed(case: str, mcp: McpInterface) -> None:
    send, status, code = CASES[case]
    response = send(mcp)
    assert response.status_code == status, response.content
    if code:
        assert response.json()["error"]["code"] == code
    if status == 202:
        assert response.content == b""


@pytest.mark.parametrize("method", ["initialize", "ping", "server/discover", "tools/list"])
@pytest.mark.parametrize("version", [*EARLIER, MODERN])
def test_a_method_exists_only_in_its_revisions(
    version: str, method: str, mcp: McpInterface
) -> None:
    response = McpInterface(mcp.token, version=version).call(method)
    message = response.json()
    if (method, version) in CLIENT_REQUESTS:
        assert (response.status_code, "result" in message) == (200, True)
    else:
        status = 404 if version == MODERN else 200
        assert (response.status_code, message["error"]["code"]) == (status, -32601)


def test_both_eras_are_served_without_state(mcp: McpInterface) -> None:
    result = mcp.call("server/discover").json()["result"]
    assert result["supportedVersions"] == [MODERN, "2025-11-25", "2025-06-18", "2025-03-26"]
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x"}}
    response = before(mcp).call("initialize", params)
    assert response.json()["result"]["protocolVersion"] == "2025-06-18"
    assert "Mcp-Session-Id" not in response
    newest = before(mcp).call("initialize", params | {"protocolVersion": "1999-01-01"})
    assert newest.json()["result"]["protocolVersion"] == "2025-11-25"


def test_the_tools_are_few_small_and_by_right(mcp: McpInterface, paula: User, ada: User) -> None:
    response = mcp.call("tools/list")
    names = [tool["name"] for tool in response.json()["result"]["tools"]]
    assert len(names) == 10
    assert len(response.content) <= 8_000
    assert names == [tool["name"] for tool in mcp.call("tools/list").json()["result"]["tools"]]
    for scopes, differs, count in (
        (("read",), {}, 5),
        (("read", "request"), {}, 9),
        (("read", "request", "publish"), {"is_agent": True}, 9),
    ):
        interface = McpInterface(new_token(paula, *scopes, **differs))
        assert len(interface.call("tools/list").json()["result"]["tools"]) == count


def test_wrong_arguments_are_a_result_with_pointers(mcp: McpInterface) -> None:
    arguments = {"versions": [{"page_id": "", "audience": "x"}], "note": "n" * 3_000}
    response = mcp.call("tools/call", {"name": "plan", "arguments": arguments})
    result = response.json()["result"]
    assert (response.status_code, result["isError"]) == (200, True)
    problem = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == problem
    assert {error["pointer"] for error in problem["errors"]} == {
        "#/versions/0/page_id",
        "#/versions/0/audience_id",
        "#/versions/0/audience",
        "#/note",
    }


def test_a_key_is_a_text_and_null_is_none(mcp: McpInterface, key: Key) -> None:
    plans = [{"versions": [ids(key)], "note": note, "idempotency_key": None} for note in "ab"]
    assert [mcp.act("plan", **plan)[0] for plan in plans] == [200, 200]
    status, problem = mcp.act("plan", versions=[ids(key)], idempotency_key={"a": 1})
    assert (status, problem["errors"][0]["pointer"]) == (422, "#/idempotency_key")


INITIALIZE = """{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "%s", "capabilities": {"roots": {"listChanged": true}, "sampling": {}},
    "clientInfo": {"name": "recorded", "version": "1.0"}}}"""
INITIALIZED = '{"jsonrpc": "2.0", "method": "notifications/initialized"}'
LIST_TOOLS = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
CALL_TOOL = """{"jsonrpc": "2.0", "id": 2, "method": "tools/call",
    "params": {"name": "find", "arguments": {"query": "aud"}}}"""
STATELESS_CALL = """{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {
    "name": "find", "arguments": {"query": "aud"}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "recorded", "version": "1.0"}}}}"""
BATCH = f"[{LIST_TOOLS}, {INITIALIZED}, {CALL_TOOL}]"


def version_header(version: str) -> dict[str, str]:
    """Return the header of a revision. The first one has none."""
    return {} if version == EARLIER[0] else {"MCP-Protocol-Version": version}


@pytest.mark.parametrize("version", EARLIER)
def test_an_earlier_client_initializes_then_calls(
    version: str, mcp: McpInterface, key: Key
) -> None:
    result = mcp.post(INITIALIZE % version).json()["result"]
    assert result["protocolVersion"] == version
    assert {"capabilities", "serverInfo", "instructions"} <= result.keys()
    header = version_header(version)
    assert mcp.post(INITIALIZED, **header).status_code == 202
    listed = mcp.post(LIST_TOOLS, **header).json()
    assert (listed["id"], listed["result"].keys()) == (1, {"tools"})
    called = mcp.post(CALL_TOOL, **header).json()
    assert (called["id"], called["result"].keys()) == (2, {"content"})
    [row] = json.loads(called["result"]["content"][0]["text"])["items"]
    assert row["audience_id"] == key[1]


def test_a_call_of_the_newest_revision_needs_no_other(mcp: McpInterface, key: Key) -> None:
    headers = {"Mcp-Method": "tools/call", "Mcp-Name": "find"}
    response = mcp.post(STATELESS_CALL, **version_header(MODERN), **headers).json()
    assert (response["id"], response["result"]["resultType"]) == ("a", "complete")
    assert mcp.post(INITIALIZE % MODERN).json()["result"]["protocolVersion"] == EARLIER[-1]


@pytest.mark.parametrize("version", [*EARLIER, MODERN])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_streams_and_no_sessions(method: str, version: str, mcp: McpInterface) -> None:
    headers = {"Authorization": f"Bearer {mcp.token}", "Mcp-Session-Id": "one"}
    headers |= {"Accept": "text/event-stream", **version_header(version)}
    response = mcp.client.generic(method, "/mcp/", headers=headers)
    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert response.json()["next"] == "Send POST."


def test_only_the_first_revision_has_batches(mcp: McpInterface) -> None:
    for header in ({}, {"MCP-Protocol-Version": EARLIER[0]}):
        response = mcp.post(BATCH, **header)
        assert [message["id"] for message in response.json()] == [1, 2]
    for version in (*EARLIER[1:], MODERN):
        response = mcp.post(BATCH, **version_header(version))
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)
    assert mcp.post("[]").status_code == 400


@pytest.mark.parametrize(
    ("mode", "version"),
    [(MODERN, MODERN), ("auto", MODERN), *(("legacy", version) for version in EARLIER)],
)
def test_the_official_client_requests_an_approval(
    mode: str, version: str, paula: User, key: Key
) -> None:
    async def story(client: Client) -> Any:
        assert client.session.protocol_version == version
        tools = await client.list_tools()
        assert "request" in [tool.name for tool in tools.tools]
        versions = [{"page_id": key[0], "audience_id": key[1]}]
        planned = await client.call_tool("plan", {"versions": versions})
        plan = json.loads(planned.content[0].text)
        arguments = {"plan": plan["plan"], "digest": plan["digest"]}
        assert (await client.call_tool("publish", arguments)).is_error
        return await client.call_tool("request", arguments)

    offers = version if mode == "legacy" else EARLIER[-1]
    result = run_with_client(new_token(paula, is_agent=True), mode, story, offers=offers)
    assert json.loads(result.content[0].text)["outcome"] == "waiting_for_approval"
