"""What opens over or within a page (dialogs, menus, folds, a panel), and how to open each."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.addresses import addresses
from tests.browser.conftest import settle
from tests.support.processes import Running

Layer = tuple[str, Callable[[Page], None]]
"""The address of the page, and the steps that open the layer."""


def layers(server: Running) -> dict[str, Layer]:
    """Return all layers by name."""
    at = addresses(server)
    return {
        "palette": (at["overview"], _palette),
        "palette with nothing in it": (at["overview"], _empty_palette),
        "keys": (at["pages"], _keys),
        "menu of the person": (at["activity"], _person_menu),
        "navigation on a phone": (at["overview"], _phone_menu),
        "panel of the bell": (at["pages"], _bell),
        "menu of a page": (at["page"], _menu_of("More actions")),
        "menu of an audience": (at["audience"], _menu_of("More actions")),
        "publish": (at["versions"], _publish),
        "saving a view": (at["audiences filtered"], _save_view),
        "display": (at["pages"], _display),
        "turning off": (at["webhooks"], _switch_off),
        "removing a webhook": (at["webhook"], _take_off),
        "a person": (at["people"], _person),
        "folds of a page": (at["page"], _unfold),
        "folds of an audience": (at["audience"], _unfold),
        "folds of a conversation": (at["conversation"], _unfold),
        "folds of a comparison": (at["compare"], _unfold),
        "folds of the overview": (at["overview"], _unfold),
        "folds of the activity": (at["activity"], _unfold),
        "folds of the webhooks": (at["webhooks"], _unfold),
        "folds of a form": (at["create page"], _unfold),
    }


def _palette(page: Page) -> None:
    _empty_palette(page)
    page.keyboard.type("bright")
    expect(page.locator("#palette [data-words=bright] [aria-selected=true]")).to_be_visible()
    expect(page.locator("#palette-people [role=option]").first).to_be_visible()


def _empty_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(page.locator("#palette [aria-selected=true]")).to_be_visible()


def _keys(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def _menu_of(button: str) -> Callable[[Page], None]:
    def open_it(page: Page) -> None:
        page.get_by_role("button", name=button).click()
        expect(page.locator("main :popover-open, .side-foot :popover-open")).to_be_visible()

    return open_it


def _person_menu(page: Page) -> None:
    opener = page.get_by_role("button", name="Open menu")
    if opener.is_visible():
        opener.click()
    _menu_of("demo")(page)


def _bell(page: Page) -> None:
    page.locator("[popovertarget=notices]:visible").click()
    expect(page.locator("#notices .notice").first).to_be_visible()


def _phone_menu(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    page.get_by_role("button", name="Open menu").click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def _publish(page: Page) -> None:
    page.locator("main a[href$='/publish/']").first.click()
    expect(page.get_by_role("dialog", name="Publish version")).to_be_visible()


def _save_view(page: Page) -> None:
    page.get_by_role("button", name="Save view").first.click()
    expect(page.get_by_role("heading", name="Save view")).to_be_visible()


def _display(page: Page) -> None:
    page.get_by_role("button", name="Display").click()
    expect(page.get_by_role("button", name="Move Type down")).to_be_visible()


def _switch_off(page: Page) -> None:
    page.get_by_role("switch", checked=True).first.click()
    expect(page.get_by_role("dialog", name="Turn off")).to_be_visible()


def _take_off(page: Page) -> None:
    page.get_by_role("link", name="Remove from Pressroom").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def _person(page: Page) -> None:
    page.locator("#rows a").first.click()
    expect(page.locator("#person h2")).to_be_focused()


def _unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    settle(page)
