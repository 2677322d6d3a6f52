"""What bars people from a page: what axe finds in its elements, and in how a theme shows them."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

WHOLE = "html"
ONLY_BROKEN = {"resultTypes": ["violations"], "selectors": False}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = ONLY_BROKEN | {"runOnly": TAGS}
OF_COLOUR = ONLY_BROKEN | {"runOnly": ["color-contrast", "target-size", "link-in-text-block"]}
IS_HERE = "typeof axe !== 'undefined'"
# The two rules that take most of axe's time are the same for all elements of a look: they are for
# those that AGAINST marks.
CONFIGURE = """axe.configure({ rules: [
  { id: "color-contrast", selector: "[data-axe~=contrast]" },
  { id: "target-size", selector: "[data-axe~=size]" },
] })"""
AXE = f"{AXE_SCRIPT};{CONFIGURE}"
"""A profile of which every page is looked at takes it as its init script, as it takes longer to
send it anew than to run it."""
# Words and controls have one look where they and all that is around them are elements of the same
# names and classes, in the same colours and sizes. Of each look, of which a list has hundreds, one
# is enough for the contrast: the longest, as axe says nothing of a single letter, nor of words that
# something lies over. For the size there are three: the shortest, as the smallest to hit, the
# first, and the last, as something may lie over any one of them.
AGAINST = """async ([where, rules]) => {
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
  for (const all of looks.values()) {
    for (const each of [all.reduce(shorter), all[0], all.at(-1)]) each.dataset.axe = "size";
    all.reduce(longer).dataset.axe = "contrast size";
  }
  const { violations } = await axe.run(where, rules);
  for (const each of document.querySelectorAll("[data-axe]")) delete each.dataset.axe;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => [id, html]));
}"""


def barriers(page: Page, where: str = WHOLE) -> list[str]:
    """Return what axe has against a page, or against a part of it."""
    return _found(page, where, RULES)


def barriers_of_colour(page: Page, where: str = WHOLE) -> list[str]:
    """Return all that another theme can change: both have the same elements."""
    return _found(page, where, OF_COLOUR)


def _found(page: Page, where: str, rules: dict[str, Any]) -> list[str]:
    """Return each violation with the element it is about."""
    if not page.evaluate(IS_HERE):
        page.evaluate(AXE)
    return [f"{rule}: {html[:160]}" for rule, html in page.evaluate(AGAINST, [where, rules])]
