"""Every page in both themes and at four widths: weight, overflow, shifts and accessibility."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.addresses import RELEASES, addresses
from tests.browser.barriers import AXE, WHOLE, barriers
from tests.browser.conftest import PATIENCE_S, confirm, open_page, settle, sign_in
from tests.browser.layers import layers
from tests.browser.looks import MAX_SHIFT, NOTE_SHIFTS, Look, wrong_in_shape, wrong_with
from tests.browser.modes import MODES, moving
from tests.browser.weight import COLD_KB, COLD_REQUESTS, SECOND_KB, SECOND_REQUESTS, VISITS, weighed
from tests.support.matrix import sampled
from tests.support.processes import Running

LOOKS: list[Look] = [
    (theme, width) for theme in ("light", "dark") for width in (1280, 360, 768, 1920)
]
NOT_THERE = {"page never seen", "no such page"}
ASKS_LATER = {"find": 1, "audience": 1, "versions": 1}
ASKS_LATER |= {"audiences": 1, "audiences filtered": 1, "changed view": 1}
OWN_FILES = {
    "notification settings": 1,
    "create page": 2,
    "preview": 3,
    "page preview": 3,
    "release to schedule": 1,
    "releases": 1,
    "releases, none found": 1,
    "approval": 4,
    "operation done": 2,
    "operation unknown": 2,
}
OWN_FILES |= {f"release {state}": 4 for state in RELEASES}
ASKS_LATER |= OWN_FILES
for shared in ("audience", "versions", "conversation", "preview", "publish", "approval"):
    ASKS_LATER[shared] = ASKS_LATER.get(shared, 0) + 1
for state in RELEASES:
    ASKS_LATER[f"release {state}"] += 1
"""Extra requests of pages. People are searched after all else, the changes that wait in the
conversation are counted beside its tab, and rows in progress are polled. Some pages have their own
script or styles, which other pages don't load. Pages that several users may have open report
presence."""
SHIFT = "() => { noteShifts(window.shifts.takeRecords()); return window.shift; }"
OPENED = "dialog[open], details[open], :popover-open, #person"
"""What is open over or within a page; the page's own colours were checked before."""


@pytest.fixture(scope="module")
def profile(browser: Browser, server: Running) -> Iterator[BrowserContext]:
    """A profile that is logged in."""
    context = browser.new_context(
        base_url=server.url, reduced_motion="reduce", timezone_id="Asia/Kolkata"
    )
    context.set_default_timeout(PATIENCE_S * 1000)
    context.add_init_script(NOTE_SHIFTS)
    context.add_init_script(AXE)
    sign_in(context)
    confirm(context.new_page())
    yield context
    context.close()


@contextmanager
def seen_in(look: Look, profile: BrowserContext, troubles: list[str]) -> Iterator[Page]:
    """Open a tab in a theme."""
    theme, _ = look
    page = open_page(profile, troubles)
    page.emulate_media(color_scheme=theme)
    yield page
    page.close()


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: "-".join(map(str, look)))
def test_every_page_is_light_and_whole(
    look: Look, profile: BrowserContext, server: Running, request: pytest.FixtureRequest
) -> None:
    wrong: dict[str, list[str]] = {}
    troubles: list[str] = []
    _, width = look
    at, exhaustive = addresses(server), request.config.getoption("exhaustive")
    names = sampled(at, request.config, turn=LOOKS.index(look), of=len(LOOKS))
    with seen_in(look, profile, troubles) as page:
        if exhaustive:
            confirm(page)  # for five minutes
        for place, name in enumerate(names):
            troubles.clear()
            page.set_viewport_size({"width": width, "height": 800})
            # The password form was the first page, and loaded the files that all pages share.
            with weighed(page, name) as second:
                page.goto(at[name])
                settle(page)
                shift = page.evaluate(SHIFT)
            # The browser itself logs a 404.
            problems = [
                trouble for trouble in troubles if "404" not in trouble or name not in NOT_THERE
            ]
            if shift > MAX_SHIFT:
                problems += [f"shifts by {shift:.3f}", *page.evaluate("window.shifted")]
            more = second.requests - SECOND_REQUESTS - ASKS_LATER.get(name, 0)
            is_heavy = second.kb > SECOND_KB or more > 0 or second.visits > VISITS
            problems += [second.summary] if is_heavy else []
            problems += moving(page) + wrong_in_shape(page, width)
            # axe takes as long as all other checks together: a run uses it on every fourth page.
            problems += barriers(page) if exhaustive or place % 4 == 0 else []
            for mode in MODES if exhaustive else [MODES[place % len(MODES)]]:
                problems += mode(page)
            if problems:
                wrong[name] = problems
    assert wrong == {}


@pytest.mark.parametrize("name", ["overview", "conversation", "create page"])
def test_the_first_page_is_light_too(profile: BrowserContext, server: Running, name: str) -> None:
    page = profile.new_page()
    with weighed(page, name, cold=True) as first:
        page.goto(addresses(server)[name], wait_until="networkidle")
    page.close()
    assert SECOND_REQUESTS < first.requests <= COLD_REQUESTS, first.summary
    assert first.kb <= COLD_KB, first.summary
    assert first.visits <= VISITS, first.summary
    assert first.visits or name != "overview", first.summary


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: "-".join(map(str, look)))
def test_all_that_opens_is_readable(
    look: Look, profile: BrowserContext, server: Running, request: pytest.FixtureRequest
) -> None:
    wrong: dict[str, list[str]] = {}
    troubles: list[str] = []
    _, width = look
    there = layers(server)
    # A run takes a quarter of them.
    names = sampled(there, request.config, turn=LOOKS.index(look), of=4 * len(LOOKS))
    with seen_in(look, profile, troubles) as page:
        for name in names:
            troubles.clear()
            address, open_it = there[name]
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(address)
            settle(page)
            open_it(page)
            # A page without folds is checked as a whole.
            where = OPENED if page.locator(OPENED).count() else WHOLE
            matching = [*troubles, *wrong_with(page, width, where)]
            if matching:
                wrong[name] = matching
    assert wrong == {}
