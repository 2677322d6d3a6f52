"""Looks of a page, and what is wrong with its shape."""

from itertools import pairwise
from typing import Literal

from playwright.sync_api import Page

from tests.browser.barriers import WHOLE, barriers
from tests.browser.modes import TOO_WIDE

Look = tuple[Literal["light", "dark"], int]

MAX_SHIFT = 0.02

NOTE_SHIFTS = """window.shift = 0;
window.noteShifts = (entries) => {
  for (const entry of entries) if (!entry.hadRecentInput) window.shift += entry.value;
};
window.shifts = new PerformanceObserver((list) => noteShifts(list.getEntries()));
window.shifts.observe({ type: "layout-shift", buffered: true });"""

OUTLINE = "[...document.querySelectorAll('main :is(h1, h2, h3, h4)')].map((h) => +h.tagName[1])"


def wrong_with(page: Page, width: int, where: str = WHOLE) -> list[str]:
    """Return what axe, the outline and the width have against a page, or what opened there."""
    return barriers(page, where) + wrong_in_shape(page, width)


def wrong_in_shape(page: Page, width: int) -> list[str]:
    """Return what the outline and the width have against a page."""
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
