"""Themes and widths of a page, and problems with its layout."""

from itertools import pairwise
from typing import Literal

from playwright.sync_api import Page

from tests.browser.barriers import WHOLE, barriers
from tests.browser.modes import TOO_WIDE

Look = tuple[Literal["light", "dark"], int]

MAX_SHIFT = 0.02

NOTE_SHIFTS = """window.shift = 0;
window.shifted = [];
window.noteShifts = (entries) => {
  for (const { hadRecentInput, value, sources } of entries) {
    if (hadRecentInput) continue;
    window.shift += value;
    window.shifted.push(...sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? node?.data));
  }
};
window.shifts = new PerformanceObserver((list) => noteShifts(list.getEntries()));
window.shifts.observe({ type: "layout-shift", buffered: true });"""

OUTLINE = "[...document.querySelectorAll('main :is(h1, h2, h3, h4)')].map((h) => +h.tagName[1])"


def wrong_with(page: Page, width: int, where: str = WHOLE) -> list[str]:
    """Return problems with accessibility, outline and width of a page, or of a part of it."""
    return barriers(page, where) + wrong_in_shape(page, width)


def wrong_in_shape(page: Page, width: int) -> list[str]:
    """Return problems with the outline and the width of a page."""
    outline = page.evaluate(OUTLINE)
    levels = outline.count(1)
    matching = [] if levels == 1 else [f"headings of the first level: {levels}"]
    matching += [
        f"a heading of level {after} follows one of {before}"
        for before, after in pairwise(outline)
        if after > before + 1
    ]
    page.set_viewport_size({"width": width, "height": 800})
    return matching + [f"too wide: {problem}" for problem in page.evaluate(TOO_WIDE)]
