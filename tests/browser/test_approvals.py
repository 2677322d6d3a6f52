"""One person requests approval of a version, another approves it, and it goes live."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.addresses import UNPLANNED_DRAFT, execute
from tests.browser.barriers import barriers
from tests.browser.conftest import new_profile, settle, sign_in, token
from tests.browser.planned import see_releases_end
from tests.support.processes import Running

# With scripts or without.
pytestmark = pytest.mark.matrix(cells=1)
RULE = "/accounts/settings/approvals/"


@pytest.fixture(scope="module", params=[True, False], ids=["with scripts", "without scripts"])
def has_scripts(request: pytest.FixtureRequest) -> bool:
    """Whether both people's browsers run scripts."""
    return bool(request.param)


@pytest.fixture(scope="module")
def profiles(
    browser: Browser, server: Running, has_scripts: bool
) -> Iterator[dict[str, BrowserContext]]:
    """Profiles of the requesting publisher and of the administrator, with the rule on."""
    names = ("publisher", "demo")
    profiles = {
        name: new_profile(browser, server.url, java_script_enabled=has_scripts) for name in names
    }
    for name, profile in profiles.items():
        sign_in(profile, name)
    with _what_is_scheduled_stays_so(server):
        _set_rule(profiles["demo"], "on")
        yield profiles
        _set_rule(profiles["demo"], "off")
    for profile in profiles.values():
        profile.close()


@pytest.fixture(scope="module")
def people(profiles: dict[str, BrowserContext]) -> dict[str, Page]:
    """A tab for each of them."""
    return {name: profile.new_page() for name, profile in profiles.items()}


@contextmanager
def _what_is_scheduled_stays_so(server: Running) -> Iterator[None]:
    """Schedule again what the rule has held, because other tests look at it."""
    columns = ("state", "hold_kind", "held_at", "hold_reason", "wake_at")
    scheduled = f"SELECT {', '.join(columns)}, id FROM releases_release WHERE state = 'scheduled'"
    before = execute(server, scheduled)
    yield
    for row in before:
        again = f"UPDATE releases_release SET {' = ?, '.join(columns)} = ? WHERE id = ?"
        execute(server, again, *row)


def _set_rule(profile: BrowserContext, value: str) -> None:
    """Turn the rule on or off, and confirm that it holds the demo's scheduled release.

    Also loads the next page: all buttons then show the rule's words at once.
    """
    form = {"is_on": value, "covers_publishing": "on", "days": "7", "confirmed": "on"}
    form |= {"csrfmiddlewaretoken": token(profile)}
    answer = profile.request.post(RULE, form=form)
    assert "Approval rule saved." in answer.text()


@pytest.fixture
def publish_url(server: Running, has_scripts: bool) -> str:
    """The address where a draft of the sample is published."""
    [ids] = execute(server, UNPLANNED_DRAFT, 0 if has_scripts else 1)
    page_id, audience_id, version_id = (quote(part, safe="") for part in ids)
    return f"/pages/{page_id}/audiences/{audience_id}/versions/{version_id}/publish/"


def ask(page: Page, publish_url: str, note: str) -> str:
    """Request approval of a version; return the address of the request."""
    if not page.url.endswith(publish_url):
        page.goto(publish_url)
    page.locator("#schedule-note").fill(note)
    if page.locator("#pub-number").count():
        page.locator("#pub-number").fill(publish_version(page))
    page.get_by_role("button", name="Request approval").click()
    expect(page.get_by_text("another person decides it")).to_be_visible()
    return page.url


def publish_version(page: Page) -> str:
    """Type the number that the dialog asks for, and return it."""
    return (page.locator("label[for=pub-number]").text_content() or "").split()[1]


def test_one_person_requests_and_another_approves(
    people: dict[str, Page], publish_url: str, has_scripts: bool, server: Running
) -> None:
    publisher, demo = people["publisher"], people["demo"]
    publisher.goto(publish_url)
    expect(publisher.locator('input[name=when][value="now"]')).to_be_disabled()
    assert not has_scripts or barriers(publisher) == []
    request_url = ask(publisher, publish_url, "Prices from finance")
    demo.goto("/")
    path = request_url.removeprefix(server.url)
    demo.locator(f'#approvals li a[href="{path}"]', has_text="Review").click()
    expect(demo).to_have_url(request_url)
    expect(demo.get_by_text("Prices from finance")).to_be_visible()
    expect(demo.get_by_text("nothing has changed since the request")).to_be_visible()
    if has_scripts:
        settle(demo)
        assert barriers(demo) == []
    demo.get_by_role("button", name="Approve").click()
    expect(demo.get_by_text("demo approved it")).to_be_visible()
    demo.get_by_role("link", name="View release").click()
    see_releases_end(demo, server)
    if not has_scripts:
        demo.reload()
    expect(demo.get_by_role("heading", name="1 of 1 went live")).to_be_visible()


def test_a_declined_request_shows_its_reason(people: dict[str, Page], publish_url: str) -> None:
    publisher, demo = people["publisher"], people["demo"]
    request_url = ask(publisher, publish_url, "Please")
    demo.goto(request_url)
    demo.get_by_role("button", name="Decline with a note").click()
    expect(demo.get_by_text("Enter the reason why you decline.")).to_be_visible()
    demo.locator("#note").fill("The fleet size is wrong")
    demo.get_by_role("button", name="Decline with a note").click()
    expect(demo.get_by_text("demo declined it").first).to_be_visible()
    publisher.goto("/")
    expect(publisher.locator("#approvals")).to_contain_text("The fleet size is wrong")
    publisher.goto(request_url)
    publisher.get_by_role("link", name="View release").click()
    expect(publisher.get_by_text("demo declined it:")).to_be_visible()


def test_an_emergency_is_published_alone_with_a_reason(
    people: dict[str, Page], publish_url: str
) -> None:
    page = people["demo"]
    page.goto(publish_url)
    page.get_by_text("Publish without approval…").click()
    page.locator("#emergency-reason").fill("A wrong price is live")
    if page.locator("#pub-number").count():
        page.locator("#pub-number").fill(publish_version(page))
    page.get_by_role("button", name="without approval").click()
    expect(page.locator("#pub-h, h1").first).not_to_contain_text("?")
    page.goto("/")
    expect(page.locator("#approvals")).to_contain_text("demo: A wrong price is live")
