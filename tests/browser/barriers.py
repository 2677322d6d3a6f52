"""What bars people from a page: what axe finds in its elements, and in how a theme shows them."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

WHOLE = "html"
ONLY_BROKEN = {"resultTypes": ["violations"], "selectors": False}
BY_LOOK = ["color-contrast", "target-size"]
"""The two that take most of axe's time. They are the same for all elements of a look."""
OF_LOOKS = ONLY_BROKEN | {"runOnly": {"type": "rule", "values": BY_LOOK}}
LINKS = ONLY_BROKEN | {"runOnly": {"type": "rule", "values": ["link-in-text-block"]}}
RULES = ONLY_BROKEN | {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {rule: {"enabled": False} for rule in BY_LOOK},
}
IS_HERE = "typeof axe !== 'undefined'"
AGAINST = "([where, rules]) => axe.run(where, rules)"
# Words and controls have one look where they and all that is around them are elements of the same
# names and classes, in the same colours and sizes. Of each look, of which a list has hundreds, four
# are enough: the longest, as axe says nothing of a single letter, the shortest, as the smallest to
# hit, the first, and the last, as something may lie over any one of them.
LOOKS = """async ([where, rules]) => {
  const numbers = new Map(), known = new Map(), looks = new Map();
  const numbered = (words) => numbers.set(words, numbers.get(words) ?? numbers.size).get(words);
  const own = (style) => [style.color, style.backgroundColor, style.backgroundImage, style.opacity,
    style.fontSize, style.fontWeight];
  const look = (each) => {
    if (!each) return "";
    if (!known.has(each)) known.set(each, numbered([look(each.parentElement), each.tagName,
      each.getAttribute("class"), ...own(getComputedStyle(each))].join("|")));
    return known.get(each);
  };
  const speaks = (each) => each.matches("a, button, input, select, summary, textarea")
    || [...each.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  for (const root of document.querySelectorAll(where))
    for (const each of [root, ...root.querySelectorAll("*")])
      if (speaks(each) && each.checkVisibility({ visibilityProperty: true }))
        looks.set(look(each), [...looks.get(look(each)) ?? [], each]);
  const longer = (one, other) =>
    other.textContent.length > one.textContent.length ? other : one;
  const shorter = (one, other) => (longer(one, other) === one ? other : one);
  const some = (all) => [all.reduce(longer), all.reduce(shorter), all[0], all.at(-1)];
  const include = [...new Set([...looks.values()].flatMap(some))];
  return include.length ? axe.run({ include }, rules) : { violations: [] };
}"""


def barriers(page: Page, where: str = WHOLE) -> list[str]:
    """Return what axe has against a page, or against a part of it."""
    _bring_axe(page)
    return _told(page.evaluate(AGAINST, [where, RULES])) + _of_looks(page, where)


def barriers_of_colour(page: Page, where: str = WHOLE) -> list[str]:
    """Return all that another theme can change: both have the same elements."""
    _bring_axe(page)
    return _told(page.evaluate(AGAINST, [where, LINKS])) + _of_looks(page, where)


def _of_looks(page: Page, where: str) -> list[str]:
    return _told(page.evaluate(LOOKS, [where, OF_LOOKS]))


def _bring_axe(page: Page) -> None:
    if not page.evaluate(IS_HERE):
        page.evaluate(AXE_SCRIPT)


def _told(found: dict[str, Any]) -> list[str]:
    """Return each violation with the element it is about."""
    return [
        f"{rule['id']}: {node['html'][:160]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
