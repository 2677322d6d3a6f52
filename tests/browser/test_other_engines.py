"""Firefox and WebKit, in what differs from Chromium: dialogs, Back and Forward."""

import os
from collections.abc import Iterator
from threading import Event

import httpx
import pytest

from tests.browser.addresses import addresses
from tests.browser.many_services import ManyServices, Places
from tests.browser.webdriver import FIREFOX, WEBKIT, Send, Tab, firefox, webkit
from tests.support.processes import Running
from tests.support.publishing_service import PublishingService

IS_OPEN = "return Boolean(document.querySelector(`${arguments[0]}:is([open], :popover-open)`))"
IS_CLOSED = IS_OPEN.replace("Boolean", "!")
PATH_IS = "return location.pathname + location.search === arguments[0]"
VALUE_IS = "return document.querySelector(arguments[0]).value === arguments[1]"
HAS_TEXT = "return document.querySelector(arguments[0])?.textContent.includes(arguments[1])"
TICKED = "return document.querySelectorAll('input[name=audience]:checked').length === arguments[0]"
IS_BACK = "return performance.getEntriesByType('navigation')[0].type === 'back_forward'"
HAS_NO_TEXT = HAS_TEXT.replace("return ", "return !")
NOTHING_IS_CHANGED = """![...document.querySelectorAll("[name=events]")].some(
  (box) => box.checked !== box.defaultChecked)"""
PUBLISH = "main a[href$='/publish/'][hx-target='#dialogs']"


def missing(engine: str) -> str:
    """Return what is missing to run an engine; empty if nothing is."""
    if engine == "firefox":
        return "" if FIREFOX else "NO FIREFOX: Debian has it as firefox-esr"
    return "" if WEBKIT else "NO WEBKIT: Debian has it as webkit2gtk-driver, with xvfb"


@pytest.fixture(scope="package", params=["firefox", "webkit"])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Send]:
    """One process of each engine for all tests of this module."""
    lack = missing(request.param)
    if lack and not os.environ.get(f"REQUIRE_{request.param.upper()}"):
        pytest.skip(lack)
    start = firefox if request.param == "firefox" else webkit
    with start(tmp_path_factory.mktemp(request.param)) as send:
        yield send


def signed_in(engine: Send, url: str, name: str) -> Tab:
    tab = Tab(engine, url)
    tab.go("/")
    tab.type("[name=username]", name)
    tab.type("[name=password]", name)
    tab.click("button", "Sign in")
    tab.until(PATH_IS, "/")
    return tab


@pytest.fixture(scope="package")
def tab(engine: Send, server: Running) -> Tab:
    """A tab at the demo."""
    return signed_in(engine, server.url, "demo")


@pytest.fixture(scope="package")
def service_tab(engine: Send, running: Running) -> Tab:
    """A tab at the dashboard for tests with their own service."""
    return signed_in(engine, running.url, "root")


def test_a_page_is_created_and_a_person_is_found(tab: Tab) -> None:
    name = tab.run("return `Created by ${navigator.userAgent.split(' ').at(-1)}`")
    tab.go("/pages/")
    tab.click("main a", "Create page")
    tab.type("[name=name]", name)
    tab.type("[name=pageContext]", "For those who use another engine.")
    tab.click("main form button", "Create page")
    tab.find("main h1", name)
    tab.click("#nav a", "People")
    tab.type("#people-q", "kow")
    tab.find("main mark", "Kow")
    tab.click("#nav a", "Activity")
    tab.find(".log li", name)


def test_a_version_is_published(service_tab: Tab, at: Places, service: PublishingService) -> None:
    service_tab.go(at.page)
    service_tab.click(PUBLISH)
    service_tab.find("#pub-h", "Publish version 2?")
    service_tab.click("#publish button", "Publish version 2")
    service_tab.find("#pub-h", "Publishing version 2")
    service.moves_on("published")
    service_tab.find("#pub-h", "Version 2 is live")
    service_tab.click("#publish a", "Close")
    service_tab.until(PATH_IS, at.page)
    service_tab.until(IS_CLOSED, "#publish")
    assert len(service.keys) == 1


def closes(tab: Tab, layer: str) -> None:
    """Wait for an open layer and close it with Escape."""
    tab.until(IS_OPEN, layer)
    tab.press("Escape")
    tab.until(IS_CLOSED, layer)


def test_escape_closes_each_dialog_and_menu(tab: Tab, server: Running) -> None:
    tab.go("/saved-views/")
    tab.click("a[href$='/delete/']")
    closes(tab, "#delete-view")
    tab.go("/webhooks/")
    tab.click("[role=switch][aria-checked=true]")
    closes(tab, "#confirm")
    tab.click("[data-palette]")
    closes(tab, "#palette")
    tab.press("?")
    closes(tab, "#keys-dialog")
    tab.resize(500)
    tab.click("[popovertarget=nav]")
    tab.click("[popovertarget=user-menu]")
    closes(tab, "#user-menu")
    closes(tab, "#nav")
    tab.resize(1280)
    tab.go(addresses(server)["audience"])
    tab.click(PUBLISH)
    tab.click("#publish button.help")
    closes(tab, "#publish .tip")
    closes(tab, "#publish")


def test_back_closes_and_forward_reopens_a_dialog(tab: Tab, server: Running) -> None:
    audience = addresses(server)["audience"]
    tab.go(audience)
    tab.click(PUBLISH)
    tab.until(IS_OPEN, "#publish")
    tab.back()
    tab.until(IS_CLOSED, "#publish")
    tab.until(PATH_IS, audience)
    tab.forward()
    tab.until(IS_OPEN, "#publish")
    tab.back()
    tab.until(IS_CLOSED, "#publish")
    tab.click("[popovertarget=user-menu]")
    tab.click("#user-menu a", "Settings")
    tab.until("return location.pathname.startsWith('/accounts/settings/')")
    tab.back()
    tab.until(PATH_IS, audience)
    tab.until(IS_CLOSED, "#user-menu")


def leave_and_return(tab: Tab) -> None:
    """Follow a link and go back. The browser may restore the page or reload it."""
    here = tab.run("return location.pathname + location.search")
    # Firefox's driver would listen for the unload of the page, which then would be reloaded.
    tab.run("document.querySelector(arguments[0]).click()", "#nav a[href='/activity/']")
    tab.until(PATH_IS, "/activity/")
    tab.back()
    tab.until(PATH_IS, here)


def test_back_shows_what_was_typed_and_ticked(tab: Tab) -> None:
    tab.go("/pages/new/")
    tab.type("[name=name]", "Typed before leaving")
    tab.press("Tab")
    tab.find("#draft-status", "Draft saved")
    leave_and_return(tab)
    tab.until(VALUE_IS, "[name=name]", "Typed before leaving")

    tab.go("/audiences/")
    tab.click("tbody input[name=audience]")
    leave_and_return(tab)
    tab.until(TICKED, 1)
    tab.until(HAS_TEXT, "[data-selection-bar]", "1 selected")

    for path, field in (("/people/", "#people-q"), ("/pages/", "main [type=search]")):
        tab.go(path)
        tab.type(field, "an")
        tab.until("return location.search.includes('q=an')")
        leave_and_return(tab)
        tab.until(VALUE_IS, field, "an")


class Held:
    """A service that can hold back its responses."""

    def __init__(self, service: PublishingService) -> None:
        self._service = service
        self.is_requested, self.is_released = Event(), Event()
        self.is_released.set()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.is_requested.set()
        self.is_released.wait(60)
        return self._service(request)


def test_back_sends_a_request_again_that_leaving_ended(
    service_tab: Tab, services: ManyServices, service: PublishingService
) -> None:
    held = Held(service)
    page = services.add(held).page
    service_tab.go(page)
    held.is_requested.clear()
    held.is_released.clear()
    service_tab.click(PUBLISH)
    assert held.is_requested.wait(30)
    service_tab.click("#nav a", "Activity")
    service_tab.until(PATH_IS, "/activity/")
    held.is_released.set()
    service_tab.back()
    # Firefox reloads such a page; WebKit shows it as it was left.
    service_tab.until(f"{IS_BACK} || {IS_OPEN.removeprefix('return ')}", "#publish")
    assert not service_tab.run(IS_OPEN, "[data-offline]")


def test_a_reloaded_form_shows_its_restored_changes(tab: Tab, server: Running) -> None:
    tab.go(addresses(server)["webhook"])
    tab.click("[name=events]")
    tab.until(HAS_NO_TEXT, "#sends", "No changes yet")
    # The driver's own command would restore nothing.
    tab.run("window.isOld = true; setTimeout(() => location.reload())")
    # WebKit restores nothing on a reload, so nothing is changed.
    tab.until("return !window.isOld && document.readyState === 'complete'")
    tab.until(f"{HAS_NO_TEXT} || {NOTHING_IS_CHANGED}", "#sends", "No changes yet")
