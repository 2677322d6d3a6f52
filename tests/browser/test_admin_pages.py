"""The built-in service's pages in Django's admin: readable, not too wide, no console error."""

import re
import time
from collections.abc import Iterator

import httpx
import pytest
from django.contrib.admin.utils import quote
from playwright.sync_api import Browser, BrowserContext

from tests.browser.addresses import execute
from tests.browser.barriers import AXE
from tests.browser.conftest import new_profile, open_page, sign_in
from tests.browser.looks import Look, wrong_with
from tests.support.matrix import sampled
from tests.support.processes import Running

ADDED = ("apikey", "audience", "page", "person", "subscription", "tenant", "version")
ONLY_SHOWN = ("conversation", "signingsecret", "webhookdelivery")
PATIENCE_S = 60
KEYS = {"signingsecret": "subscription_id", "person": "number"}
LOOKS: list[Look] = [("light", 1280), ("dark", 360)]
DJANGO_S_OWN = (
    *("link-in-text-block", "target-size", "empty-table-header", "aria-input-field-name"),
    *("label-title-only", "aria-prohibited-attr"),
)
"""Rules of axe that Django's own breadcrumbs, filters, tables, selects and search fields break."""


def admin_addresses(server: Running) -> dict[str, str]:
    """Return the addresses of each model's list, empty form and newest row."""
    matching = {"user, one": "/admin/auth/user/1/change/"}
    for model in (*ADDED, *ONLY_SHOWN):
        path, key = f"/admin/embedded_api/{model}/", KEYS.get(model, "id")
        matching[f"{model}, list"] = path
        if model in ADDED:
            matching[f"{model}, new"] = f"{path}add/"
        newest = f"SELECT {key} FROM embedded_api_{model} ORDER BY {key} DESC LIMIT 1"
        [[number]] = execute(server, newest)
        matching[f"{model}, one"] = f"{path}{quote(number)}/change/"
    return matching


def send_event(server: Running) -> None:
    """Send a form event with the key that the demo printed, so that there is a delivery."""
    key = re.search(r"prs_[\w-]+", server.log.read_text())
    assert key
    [[page_id]] = execute(server, "SELECT id FROM embedded_api_page LIMIT 1")
    sent = httpx.post(
        f"{server.url}/service/events/form",
        headers={"x-api-key": key[0]},
        json={"event": "form.submitted", "pageId": page_id},
        timeout=PATIENCE_S,
    )
    assert sent.status_code == 202
    deadline = time.monotonic() + PATIENCE_S
    while not execute(server, "SELECT id FROM embedded_api_webhookdelivery"):
        assert time.monotonic() < deadline, "no delivery"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def profile(browser: Browser, server: Running) -> Iterator[BrowserContext]:
    """A profile of an administrator with a staff account."""
    with new_profile(browser, server.url) as context:
        context.add_init_script(AXE)
        sign_in(context)
        send_event(server)
        yield context


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: "-".join(map(str, look)))
def test_every_page_of_the_admin_is_readable(
    look: Look, profile: BrowserContext, server: Running, request: pytest.FixtureRequest
) -> None:
    theme, width = look
    wrong: dict[str, list[str]] = {}
    troubles: list[str] = []
    at = admin_addresses(server)
    page = open_page(profile, troubles)
    page.emulate_media(color_scheme=theme)
    # A run takes a quarter of the pages: they are Django's, and alike.
    for name in sampled(at, request.config, turn=LOOKS.index(look), of=4 * len(LOOKS)):
        troubles.clear()
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(at[name])
        matching = [*troubles, *wrong_with(page, width)]
        if ours := [item for item in matching if not item.startswith(DJANGO_S_OWN)]:
            wrong[name] = ours
    page.close()
    assert wrong == {}
