"""Every page in both themes and at four widths: light, whole, still, and readable by all."""

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
    "create page": 1,
    "release to schedule": 1,
    "releases": 1,
    "releases, none found": 1,
    "approval": 2,
}
OWN_FILES |= {f"release {state}": 2 for state in RELEASES}
ASKS_LATER |= OWN_FILES
for shared in ("audience", "versions", "conversation", "publish", "approval"):
    ASKS_LATER[shared] = ASKS_LATER.get(shared, 0) + 1
for state in RELEASES:
    ASKS_LATER[f"release {state}"] += 1
"""Requests of a page that is there: people are searched once all else was found, the changes that
wait in the conversation are counted beside its tab, and rows in progress are polled. Some have a
script or styles of their own, which other pages need not load. Those that users share report
themselves."""
SHIFT = "() => { noteShifts(window.shifts.takeRecords()); return window.shift; }"
OPENED = "dialog[open], details[open], :popover-open, #person"
"""What is open over a page or within it; the colours of the page itself were looked at before."""


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
            # The password form was the first page, and loaded all that pages share.
            with weighed(page, name) as second:
                page.goto(at[name])
                settle(page)
                shift = page.evaluate(SHIFT)
            # The browser itself notes an answer of 404.
            options = [
                trouble for trouble in troubles if "404" not in trouble or name not in NOT_THERE
            ]
            options += [f"shifts by {shift:.3f}"] if shift > MAX_SHIFT else []
            more = second.requests - SECOND_REQUESTS - ASKS_LATER.get(name, 0)
            is_heavy = second.kb > SECOND_KB or more > 0 or second.visits > VISITS
            options += [second.summary] if is_heavy else []
            options += moving(page) + wrong_in_shape(page, width)
            # It takes as long as all else that a page is looked at for: every fourth page in a run.
            options += barriers(page) if exhaustive or place % 4 == 0 else []
            for mode in MODES if exhaustive else [MODES[place % len(MODES)]]:
                options += mode(page)
            if options:
                wrong[name] = options
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
    # A quarter of them in a run.
    names = sampled(there, request.config, turn=LOOKS.index(look), of=4 * len(LOOKS))
    with seen_in(look, profile, troubles) as page:
        for name in names:
            troubles.clear()
            address, open_it = there[name]
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(address)
            settle(page)
            open_it(page)
            # A page without folds is looked at whole.
            where = OPENED if page.locator(OPENED).count() else WHOLE
            matching = [*troubles, *wrong_with(page, width, where)]
            if matching:
                wrong[name] = matching
    assert wrong == {}
