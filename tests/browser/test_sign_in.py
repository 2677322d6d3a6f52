"""Setting up and using a second factor: an app's codes, and a passkey."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.barriers import barriers
from tests.browser.conftest import PATIENCE_S, confirm, log_in, open_page
from tests.browser.markup import wrong_with
from tests.support.processes import Running
from tests.support.second_factors import code_of

WHO = "viewer"


@pytest.fixture
def page(browser: Browser, server: Running, troubles: list[str]) -> Iterator[Page]:
    """A tab at the demo's host name, because browsers create no passkeys for an IP address."""
    address = server.url.replace("127.0.0.1", "localhost")
    context = browser.new_context(base_url=address, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_S * 1000)
    yield open_page(context, troubles)
    context.close()
    # Requests to the host's own name don't go to another site.
    assert [trouble for trouble in troubles if not trouble.startswith(address)] == []


def sign_in(page: Page) -> None:
    page.goto("/accounts/login/?next=/accounts/settings/")
    page.get_by_label("Username", exact=True).fill(WHO)
    page.get_by_label("Password").fill(WHO)
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name=WHO).click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/accounts/login/")


def remove(page: Page, address: str) -> None:
    """Remove the second factor, to restore the demo's account."""
    page.goto(address)
    page.get_by_label("Password").fill(WHO)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Remove").click()
    page.wait_for_url("**/accounts/settings/")
    expect(page.get_by_text("Two-factor off")).to_be_visible()


def is_for_all(page: Page) -> None:
    """Check a page that only sign-in reaches against the rules for every page."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    assert barriers(page) == []
    # Reload, because a separate request would start another passkey challenge.
    answer = page.reload()
    assert answer is not None
    assert wrong_with(answer.text()) == []


def test_an_app_is_set_up_and_signs_in(page: Page) -> None:
    sign_in(page)
    page.locator("#sign-in").get_by_role("link", name="Set up").click()
    page.get_by_label("Password").fill(WHO)
    page.keyboard.press("Enter")
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    secret = page.locator("#secret").inner_text()
    page.get_by_label("Code from the app").fill(code_of(secret))
    page.get_by_role("button", name="Set up").click()
    page.wait_for_url("**/codes/")
    codes = page.locator("pre").inner_text().split()
    assert len(codes) == 10
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text().split() == codes
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text("Two-factor on")).to_be_visible()

    sign_out(page)
    sign_in(page)
    expect(page.get_by_label("Code from your app or a recovery code")).to_be_focused()
    is_for_all(page)
    page.keyboard.type(code_of(secret, steps=1))  # The current code was used for the set-up.
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/settings/")
    expect(page.get_by_text("last used")).to_be_visible()

    remove(page, "/accounts/settings/app/remove/")


def test_a_passkey_is_added_and_signs_in(page: Page) -> None:
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    device = {"protocol": "ctap2", "transport": "internal", "automaticPresenceSimulation": True}
    device |= {"hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}
    session.send("WebAuthn.addVirtualAuthenticator", {"options": device})

    sign_in(page)
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Password").fill(WHO)
    page.keyboard.press("Enter")
    page.get_by_label("Passkey name").fill("My laptop")
    page.get_by_role("button", name="Add a passkey").click()
    page.wait_for_url("**/codes/")
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("region", name="Passkeys")).to_contain_text("My laptop")
    way_out = page.get_by_role("link", name="Remove My laptop").get_attribute("href")

    sign_out(page)
    sign_in(page)
    use = page.get_by_role("button", name="Use a passkey")
    expect(use).to_be_visible()
    is_for_all(page)
    use.click()
    page.wait_for_url("**/accounts/settings/")
    expect(page.get_by_text("last used")).to_be_visible()

    remove(page, way_out or "")


def test_without_webauthn_the_page_says_what_passkeys_need(page: Page) -> None:
    page.add_init_script("delete globalThis.PublicKeyCredential")
    confirm(log_in(page, WHO), WHO)
    page.goto("/accounts/settings/passkey/")
    expect(page.get_by_text("They require https")).to_be_visible()
    expect(page.get_by_text("which is off")).not_to_be_visible()
    expect(page.get_by_role("button", name="Add a passkey")).to_have_count(0)
