"""A token from Settings requests a publish, a person approves it, Activity names them all."""

from contextlib import closing

import httpx
from playwright.sync_api import Browser, expect

from tests.browser.addresses import UNPLANNED_DRAFT, execute
from tests.browser.conftest import new_profile, sign_in
from tests.browser.planned import see_releases_end
from tests.support.processes import Running

DRAFT_OF_ITS_OWN = 2
"""Offset of the draft; those before it are for the tests of approvals."""


def test_a_person_approves_what_a_service_token_requests(browser: Browser, server: Running) -> None:
    with (
        closing(new_profile(browser, server.url)) as administrator,
        closing(new_profile(browser, server.url)) as publisher,
    ):
        sign_in(administrator, "demo")
        sign_in(publisher, "publisher")
        page = administrator.new_page()
        page.goto("/accounts/settings/tokens/")
        page.get_by_role("link", name="New service token").click()
        page.get_by_label("Name").fill("nightly build of all pages in all languages")
        for value in ("read", "request", "all"):
            page.locator(f"input[value={value}]").check()
        page.get_by_label("Expires after").select_option("7 days")
        page.get_by_role("button", name="Make token").click()
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        token = page.locator("#new-token").inner_text()
        approval = request_publish(server, token)
        reviewer = publisher.new_page()
        reviewer.goto(approval)
        expect(
            reviewer.get_by_text(
                "by token nightly build of all pages in all languages, pipeline 7"
            ).first
        ).to_be_visible()
        reviewer.get_by_role("button", name="Approve").click()
        expect(reviewer.get_by_text("publisher approved it")).to_be_visible()
        see_releases_end(reviewer, server)
        reviewer.goto("/activity/?by=machines")
        row = reviewer.locator(
            "tr, li", has_text="nightly build of all pages in all languages"
        ).first
        expect(row).to_contain_text(
            "by token nightly build of all pages in all languages, pipeline 7"
        )
        expect(row).to_contain_text("demo")
        reviewer.set_viewport_size({"width": 390, "height": 844})
        [text] = row.locator("summary > span", has_text="pipeline 7").all()
        assert text.evaluate("(it) => it.scrollWidth <= it.clientWidth")


def request_publish(server: Running, token: str) -> str:
    """Plan a draft and request its publish over HTTP; return the path of the request."""
    [(page_id, audience_id, version_id)] = execute(server, UNPLANNED_DRAFT, DRAFT_OF_ITS_OWN)
    ids = {"page_id": page_id, "audience_id": audience_id, "version_id": version_id}
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "pipeline 7"}
    with httpx.Client(base_url=f"{server.url}/api/1/", headers=headers) as api:
        key = {"Idempotency-Key": "plan"}
        plan = api.post("plans", json={"versions": [ids]}, headers=key).json()
        decision = {"digest": plan["digest"], "confirm": plan["confirm"]}
        key = {"Idempotency-Key": "request"}
        state = api.post(f"plans/{plan['plan']}/request", json=decision, headers=key).json()
    assert state["outcome"] == "waiting_for_approval", state
    [(pk,)] = execute(server, "SELECT max(id) FROM approvals_approvalrequest")
    return f"/approvals/{pk}/"
