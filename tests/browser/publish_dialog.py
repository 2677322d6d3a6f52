"""The publish dialog in a browser."""

from playwright.sync_api import Locator, Page

PATIENCE_MS = 60_000

DIALOG = "#publish"


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def press(page: Page, name: str) -> None:
    dialog(page).get_by_role("button", name=name).click()


def headline(page: Page) -> Locator:
    return dialog(page).get_by_role("heading", level=1)
