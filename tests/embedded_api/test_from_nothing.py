"""From an empty PostgreSQL to a live page, and an event at someone else's receiver.

Uses real processes over HTTP, and no ORM.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.admin.utils import quote, unquote

from config.environment import BASE_DIR
from tests.support.dashboards import Dashboard, hidden, logged_in
from tests.support.embedded_api_factories import PAGE_BODY
from tests.support.html import response_text, text
from tests.support.postgres import own_database
from tests.support.processes import Running, free_port, running

PATIENCE_S = 60
PEOPLE = """name,email
Ada Lovelace,ada@analytical.example
Grace Hopper,grace@navy.example
"""
RECEIVER = Path(__file__).parent / "third_party_receiver.py"
CREATED, PROCESSED, PUBLISHED = (
    f"page.version.{name}" for name in ("created", "processed", "published")
)


@dataclass
class Administrator:
    """A staff user in a browser without scripts."""

    browser: httpx.Client

    def add(self, model: str, **fields: Any) -> str:
        """Add an object in the admin; return the next page."""
        path = f"/admin/embedded_api/{model}/add/"
        token = hidden(self.browser.get(path), "csrfmiddlewaretoken")
        page = self.browser.post(path, data=fields | {"csrfmiddlewaretoken": token})
        assert "was added successfully" in response_text(page), response_text(page)
        return page.text

    def pk_of(self, model: str, name: str) -> str:
        """Return the primary key of a named object from its link in the admin's list."""
        page = self.browser.get(f"/admin/embedded_api/{model}/").text
        link = rf'/admin/embedded_api/{model}/([^/"]+)/change/[^"]*">{re.escape(name)}<'
        match = re.search(link, page)
        assert match, text(page)
        return unquote(match[1])

    def new_key(self, tenant: str) -> str:
        """Issue an API key of the named tenant, and return it; it is shown once."""
        page = self.add("apikey", name="curl", tenant=self.pk_of("tenant", tenant))
        match = re.search(r"prs_[\w-]{43}", page)
        assert match
        return match[0]


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[Dashboard]:
    with own_database() as database_url:
        dashboard = Dashboard(tmp_path, "", database_url=database_url)
        dashboard.env |= {
            "SERVICE_API_KEY": "",
            "DJANGO_SETTINGS_MODULE": "tests.embedded_api.short_queue",
            # The receiver is on this machine and has no certificate.
            "WEBHOOKS_TO_LOOPBACK": "true",
        }
        dashboard.prepare()
        yield dashboard


def test_a_team_starts_empty_and_verifies_an_event(dashboard: Dashboard, tmp_path: Path) -> None:
    import_people(dashboard, tmp_path / "people.csv")
    port = free_port()
    with dashboard.started(has_worker=True) as server, logged_in(server) as browser:
        administrator = Administrator(browser)
        administrator.add("tenant", name="Another team", brand_id="brand-2")
        keys = {name: administrator.new_key(name) for name in ("Default tenant", "Another team")}
        secret = subscribe(administrator, f"http://127.0.0.1:{port}/hook")
        with (
            api(server, keys["Default tenant"]) as ours,
            api(server, keys["Another team"]) as others,
            third_party_receiver(port, secret, tmp_path / "received.log") as receiver,
        ):
            [ada] = ours.get("/v0/persons/search?query=lovelace").json()["items"]
            page_id = ours.post("/v0/pages", json=PAGE_BODY).json()["pageId"]
            audience_id, version_id = write_version(administrator, page_id, ada["personId"])
            publish(browser, page_id, audience_id, version_id)
            received = wait_for_bodies(receiver, count=3)
            [audience] = ours.get(f"/v0/pages/{page_id}/audiences").json()["items"]
            assert others.get("/v0/pages").json()["totalCount"] == 0

    assert [delivery["type"] for delivery in received] == [CREATED, PROCESSED, PUBLISHED]
    assert {delivery["data"]["versionId"] for delivery in received} == {version_id}
    assert audience["publishedVersion"]["versionId"] == version_id


def import_people(dashboard: Dashboard, file: Path) -> None:
    file.write_text(PEOPLE)
    command = [sys.executable, "manage.py", "import_people", str(file)]
    done = subprocess.run(
        command, cwd=BASE_DIR, env=dashboard.env, timeout=PATIENCE_S, check=True, stdout=-1
    )
    assert b"added 2" in done.stdout


def api(server: Running, key: str) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers={"x-api-key": key}, timeout=PATIENCE_S)


def subscribe(administrator: Administrator, url: str) -> str:
    """Subscribe a URL to the events of versions; return its secret from the admin."""
    tenant = administrator.pk_of("tenant", "Default tenant")
    events = [CREATED, PROCESSED, PUBLISHED]
    fields = {"tenant": tenant, "url": url, "active": "on", "kind": "list", "events": events}
    administrator.add("subscription", **fields)
    subscription_id = administrator.pk_of("signingsecret", url)
    path = f"/admin/embedded_api/signingsecret/{quote(subscription_id)}/change/"
    match = re.search(r"whsec_[\w+/=]+", administrator.browser.get(path).text)
    assert match
    return match[0]


def third_party_receiver(port: int, secret: str, log: Path) -> AbstractContextManager[Running]:
    return running([str(RECEIVER), str(port), secret], port=port, ready="/", log=log)


def write_version(administrator: Administrator, page_id: str, prospect_id: str) -> tuple[str, str]:
    """Add an audience for a person, and a draft; return their ids."""
    administrator.add("audience", page=page_id, custom_name="Analysts", prospect_id=prospect_id)
    audience_id = administrator.pk_of("audience", "Analysts")
    administrator.add("version", audience=audience_id, supplementary_context="They like engines.")
    return audience_id, administrator.pk_of("version", "Version 1")


def publish(browser: httpx.Client, page_id: str, audience_id: str, version_id: str) -> None:
    path = f"/pages/{page_id}/audiences/{audience_id}/versions/{version_id}/publish/"
    page = browser.get(path)
    form = {name: hidden(page, name) for name in ("operation_key", "csrfmiddlewaretoken")}
    response = response_text(browser.post(path, data=form))
    # On a slow machine, the version is live before the response is rendered.
    assert "Publishing version 1" in response or "Version 1 is live" in response


def wait_for_bodies(receiver: Running, count: int) -> list[Any]:
    """Wait until the receiver has verified `count` bodies, and return them."""
    deadline = time.monotonic() + PATIENCE_S
    while len(lines := receiver.log.read_text().splitlines()) < count:
        assert time.monotonic() < deadline, lines
        time.sleep(0.1)
    return [json.loads(line) for line in lines]
