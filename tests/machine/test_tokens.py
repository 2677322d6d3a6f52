"""Tokens: refusals with reasons, limits, and no trace in logs, pages or errors."""

import json
import logging
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.comments.models import Thread
from dashboard.machine.models import MachineToken
from dashboard.machine.tokens import revoke
from dashboard.releases.models import Release
from dashboard.texts import redact_secret
from tests.conftest import logged_in, person
from tests.support.clock import Clock
from tests.support.html import elements, text
from tests.support.machines import (
    INTERFACES,
    NEEDS,
    JsonInterface,
    McpInterface,
    arguments_of,
    new_token,
    row_of,
)
from tests.support.many_audiences import Key

CHOICES = ("scopes", "is_agent", "pages")
WITHOUT_TOKEN = {"form_key": "one", "name": "nightly", "pages": "all", "days": "30"}


def refused(token: str) -> dict[str, Any]:
    """Return the problem of a refused token. The JSON API and MCP report the same."""
    response = JsonInterface(token).send("GET", "activity")
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert McpInterface(token).call("tools/list").json() == response.json()
    return dict(response.json())


def test_a_refused_token_learns_why(paula: User) -> None:
    good = new_token(paula)
    assert "isn’t a Pressroom token" in refused("prt_" + "0" * 56)["detail"]
    assert "isn’t a Pressroom token" in refused("hello")["detail"]
    assert "as Authorization" in refused("")["detail"]
    expired, revoked = new_token(paula), new_token(paula)
    MachineToken.objects.filter(pk=row_of(expired).pk).update(expires_at=timezone.now())
    assert "nightly expired on" in refused(expired)["detail"]
    revoke(MachineToken.objects.filter(pk=row_of(revoked).pk), paula)
    assert "was revoked on" in refused(revoked)["detail"]
    MachineToken.objects.filter(pk=row_of(good).pk).delete()
    assert "unknown" in refused(good)["detail"]


@pytest.mark.parametrize("name", INTERFACES)
def test_a_token_in_a_field_has_to_be_revoked(name: str, paula: User, key: Key) -> None:
    token = new_token(paula)
    interface = INTERFACES[name](token)
    ids = {"page_id": key[0], "audience_id": key[1]}
    for act, fields in (
        ("comment", {**ids, "body": f"Use {token}."}),
        ("plan", {"versions": [ids], "note": token}),
        ("plan", {"versions": [ids], "key": token}),
        ("find", {"query": token}),
    ):
        status, problem = interface.act(act, **fields)
        assert (status, "Revoke" in problem["next"]) == (400, True)
    interface.agent = f"script {token}"
    interface.act("find")
    browser = logged_in(paula)
    assert token not in browser.get("/accounts/settings/tokens/").text
    assert not Thread.objects.exists()
    assert not Release.objects.exists()


@pytest.mark.parametrize("path", ["/api/1/activity?token={}", "/mcp/?key={}"])
def test_a_token_in_a_url_has_to_be_revoked(
    path: str, paula: User, caplog: pytest.LogCaptureFixture
) -> None:
    token = new_token(paula)
    with caplog.at_level(logging.INFO):
        response = Client().post(path.format(token), headers={"Authorization": f"Bearer {token}"})
    assert (response.status_code, "Revoke" in response.json()["next"]) == (400, True)
    assert token not in response.text + caplog.text
    assert redact_secret(f"GET /api/1/{token} 400") == "GET /api/1/prt_… 400"


def test_the_log_names_person_token_and_program(
    interface: JsonInterface, key: Key, caplog: pytest.LogCaptureFixture
) -> None:
    records: list[dict[str, str]] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            from dashboard.observability.log import _fields

            records.append(_fields(record))

    logger = logging.getLogger("dashboard.requests")
    logger.addHandler(handler := Handler())
    try:
        for make in INTERFACES.values():
            for act in NEEDS:
                make(interface.token).act(act, **arguments_of(act, key, {"plan": 1, "digest": ""}))
        McpInterface(interface.token, agent="Claude 2.1").act("find")
    finally:
        logger.removeHandler(handler)
    *named, last = [(fields["person"], fields["machine"]) for fields in records]
    assert named == [("paula", "nightly, script 1.0")] * len(INTERFACES) * len(NEEDS)
    assert last == ("paula", "nightly, Claude 2.1")


def test_calls_are_limited_by_token(
    interface: JsonInterface, paula: User, key: Key, clock: Clock
) -> None:
    statuses = [interface.act("status", plan=9)[0] for _ in range(121)]
    assert statuses == [404] * 120 + [429]
    response = interface.send("GET", "audiences")
    assert 0 < int(response["Retry-After"]) <= 60
    assert response.json()["next"].startswith("Wait")
    assert [interface.act("cancel", plan=9)[0] for _ in range(21)] == [404] * 20 + [429]
    assert McpInterface(interface.token).act("find")[0] == 429
    assert JsonInterface(new_token(paula)).act("find")[0] == 200


def test_a_form_makes_a_token_once_and_shows_it_once(paula: User) -> None:
    browser = logged_in(paula)
    form = WITHOUT_TOKEN | {"scopes": ["read", "request"], "is_agent": "on"}
    url = "/accounts/settings/tokens/new/"
    page = browser.post(url, form)
    token = text(page.text).split("prt_")[1][:56]
    assert JsonInterface(f"prt_{token}").act("find")[0] == 200
    again = browser.post(url, form)
    assert "already" in again.text
    assert token not in again.text + browser.get("/accounts/settings/tokens/").text
    row = MachineToken.objects.get()
    assert (row.is_agent, row.scopes, row.page_ids) == (True, ["read", "request"], None)
    assert "no-store" in page["Cache-Control"]


def test_nothing_is_chosen_in_advance(paula: User) -> None:
    browser, url = logged_in(paula), "/accounts/settings/tokens/new/"
    boxes = elements(browser.get(url).text, "input")
    assert [
        box for box in boxes if "checked" in box.attributes and box.attributes["name"] in CHOICES
    ] == []
    page = text(browser.post(url, {"name": ""}).text)
    for problem in ("Enter a name", "what the token may do", "which pages", "when it expires"):
        assert problem in page
    wrong = WITHOUT_TOKEN | {"scopes": ["publish"], "is_agent": "on"}
    assert "An agent can’t publish" in text(browser.post(url, wrong).text)
    named = WITHOUT_TOKEN | {"scopes": ["read"], "pages": "named", "page_ids": "page_9"}
    assert "No such page: page_9" in text(browser.post(url, named).text)
    assert not MachineToken.objects.exists()


def test_viewers_make_tokens_that_read(vera: User) -> None:
    browser, url = logged_in(vera), "/accounts/settings/tokens/new/"
    refusal = text(browser.post(url, WITHOUT_TOKEN | {"scopes": ["request"]}).text)
    assert "so your tokens can only read" in refusal
    assert browser.post(f"{url}?service=1", WITHOUT_TOKEN).status_code == 403
    assert browser.post(url, WITHOUT_TOKEN | {"scopes": ["read"]}).status_code == 200


def test_a_new_owner_needs_the_rights_of_the_scopes(ada: User, key: Key) -> None:
    owner = person("otto", "Administrators", "Publishers")
    interface = JsonInterface(new_token(owner, is_service=True, name="build"))
    _, plan = interface.act("plan", versions=[{"page_id": key[0], "audience_id": key[1]}])
    interface.act("request", plan=plan["plan"], digest=plan["digest"])
    row, browser, url = row_of(interface.token), logged_in(ada), "/accounts/settings/tokens/"
    assert "Another owner voids 1 open request." in text(browser.get(url).text)
    response = browser.post(f"{url}{row.pk}/owner/", {"owner": ada.pk})
    assert (response.status_code, interface.act("find")[0]) == (422, 200)
    page = text(response.text)
    assert "ada can’t publish, so this token could only read." in page
    row.refresh_from_db()
    assert row.owner == owner
    new = person("nora", "Administrators", "Publishers")
    assert browser.post(f"{url}{row.pk}/owner/", {"owner": new.pk}).status_code == 302
    assert "voids" not in text(browser.get(url).text)
    assert interface.act("status", plan=plan["plan"])[1]["approval"] == "void"


def test_administrators_own_and_hand_over_service_tokens(ada: User, paula: User) -> None:
    new_token(ada, "read", is_service=True, name="build")
    row, browser = MachineToken.objects.get(), logged_in(ada)
    url = "/accounts/settings/tokens/"
    assert "build" in browser.get(url).text
    assert "build" not in logged_in(paula).get(url).text
    assert logged_in(paula).post(f"{url}{row.pk}/revoke/").status_code == 404
    browser.post(f"{url}{row.pk}/owner/", {"owner": paula.pk})
    row.refresh_from_db()
    assert row.owner == ada
    browser.post(f"{url}{row.pk}/revoke/")
    row.refresh_from_db()
    assert (row.state, row.revoked_by_name) == ("revoked", "ada")


def test_each_client_has_a_configuration_to_copy(paula: User) -> None:
    page = logged_in(paula).get("/accounts/settings/connect/").text
    texts = [unescape(match) for match in re.findall("<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]
    configurations = [json.loads(text) for text in texts if text.startswith("{\n  ")]
    assert len(configurations) == 3
    for configuration in configurations:
        [entry] = (configuration.get("mcpServers") or configuration["servers"]).values()
        assert entry["url"].endswith("/mcp/")
        assert entry["headers"]["Authorization"].startswith("Bearer ${")


def test_the_command_line_is_installed_with_a_key_store(paula: User) -> None:
    page = text(logged_in(paula).get("/accounts/settings/connect/").text)
    install, store = page.index('pip install "pressroom-cli[keyring] @'), page.index("login")
    assert install < store


def test_the_last_use_is_on_the_list(interface: JsonInterface, paula: User) -> None:
    MachineToken.objects.update(last_used_at=timezone.now() - timedelta(hours=1))
    interface.act("find")
    page = text(logged_in(paula).get("/accounts/settings/tokens/").text)
    assert "script 1.0" in page
    assert "Never" not in page
