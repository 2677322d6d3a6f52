"""In the demo, the service's events arrive and turn an audience live."""

from urllib.parse import quote

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.addresses import execute
from tests.browser.conftest import HIDE, log_in, open_page, until
from tests.support.processes import Running

NEVER_LIVE = """SELECT page_id, audience_id, name, latest_version_number
  FROM ledger_audiencerecord WHERE latest_status = 'draft' AND live_version_id = '' AND archived = 0
    AND audience_id NOT IN (SELECT audience_id FROM releases_releaseitem)
    AND audience_id NOT IN (SELECT audience_id FROM embedded_api_conversation)
  ORDER BY audience_id LIMIT 1"""
A_FEW_SECONDS, A_MINUTE = 15_000, 60_000


def test_a_publish_event_turns_the_audience_live(
    context: BrowserContext, page: Page, server: Running, troubles: list[str]
) -> None:
    """Nothing else reads the audience, because the operator is on the receiver's page."""
    [[page_id, audience_id, name, number]] = execute(server, NEVER_LIVE)
    audience = f"/pages/{page_id}/audiences/{audience_id}/"
    receiver = log_in(page, to="/hooks/")
    receiver.evaluate("window.isSamePage = true")
    operator = open_page(context, troubles)
    publish(operator, audience, number)
    operator.evaluate(HIDE, True)

    about_it = receiver.locator(f'[data-copy="{audience_id}"]')
    rows = receiver.get_by_role("row").filter(has=about_it)
    arrived = rows.filter(has_text="page.version.published")
    # Deliveries to receivers that don't respond may come first.
    expect(arrived).to_contain_text("Refresh requested", timeout=A_MINUTE)
    expect(arrived).to_contain_text("Signature valid")
    assert receiver.evaluate("window.isSamePage")
    # This list reads only the ledger.
    those_live = f"/audiences/?live=live&q={quote(name)}"
    until(page, lambda: audience in context.request.get(those_live).text())
    operator.evaluate(HIDE, False)
    live = operator.locator("#head")
    expect(live).to_contain_text(f"Version {number} live", timeout=A_FEW_SECONDS)


def publish(page: Page, audience: str, number: int) -> None:
    """Publish a version in the dialog over its audience's page, and close the dialog."""
    page.goto(audience)
    page.get_by_role("link", name=f"Publish version {number}").first.click()
    page.get_by_role("button", name=f"Publish version {number}").click()
    heading = page.get_by_role("dialog").get_by_role("heading", level=1)
    expect(heading).to_have_text(f"Publishing version {number}")
    page.get_by_role("dialog").get_by_role("link", name="Close", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
