"""Ages are updated while a page is open, worded as by the server, without layout shifts."""

from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, expect

from tests.browser.addresses import addresses
from tests.browser.conftest import HIDE, log_in
from tests.browser.looks import MAX_SHIFT, NOTE_SHIFTS
from tests.support.durations import AGES
from tests.support.processes import Running

DRAW = """(ages) => {
  for (const age of ages) {
    const place = document.createElement("p");
    place.dataset.age = age;
    document.getElementById("main").append(place);
  }
  htmx.trigger(document.body, "htmx:afterSettle", { elt: document.body });
}"""
SHOWN = "[...document.querySelectorAll('#main > [data-age]')].map((each) => each.textContent)"
ANNOUNCED = ":is([aria-live], [role=status], [role=alert], [role=log], output) [data-age]"


def stand_still(page: Page) -> None:
    """Open a page whose time passes only when the test advances it."""
    log_in(page, to="/accounts/settings/")
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))


def test_ages_advance_in_the_server_s_words(timed_page: Page) -> None:
    stand_still(timed_page)
    timed_page.evaluate(DRAW, [seconds - 10 for seconds in AGES])
    timed_page.clock.run_for(10_000)
    timed_page.evaluate(HIDE, False)
    assert timed_page.evaluate(SHOWN) == list(AGES.values())


def test_a_hidden_tab_pauses_and_catches_up(timed_page: Page) -> None:
    stand_still(timed_page)
    timed_page.evaluate(DRAW, [170])
    timed_page.evaluate(HIDE, True)
    timed_page.clock.run_for(600_000)
    assert timed_page.evaluate(SHOWN) == ["2 min"]
    timed_page.evaluate(HIDE, False)
    assert timed_page.evaluate(SHOWN) == ["12 min"]


def test_a_version_s_steps_grow_without_moving_others(timed_page: Page, server: Running) -> None:
    timed_page.add_init_script(NOTE_SHIFTS)
    log_in(timed_page, to=addresses(server)["versions"])
    ages = timed_page.locator(".life [data-age]")
    before = ages.all_inner_texts()
    assert before
    # Jump ahead: running the clock for a day would send a thousand polls.
    for hours in (0.02, 1, 9, 15):
        timed_page.clock.fast_forward(int(hours * 3_600_000))
        timed_page.screenshot()  # Shifts are noted only for drawn frames.
    expect(ages.first).not_to_have_text(before[0])
    assert timed_page.evaluate("window.shift") <= MAX_SHIFT
    assert timed_page.locator(ANNOUNCED).count() == 0
