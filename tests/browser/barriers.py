"""Accessibility barriers that axe finds in a page's elements, and in their colours."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

WHOLE = "html"
ONLY_BROKEN = {"resultTypes": ["violations"], "selectors": False}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = ONLY_BROKEN | {"runOnly": TAGS}
OF_COLOUR = ONLY_BROKEN | {"runOnly": ["color-contrast", "target-size", "link-in-text-block"]}
IS_HERE = "typeof axe !== 'undefined'"
# Two rules take most of axe's time. Their result is the same for elements that look the same, so
# they check only the elements that AGAINST marks.
CONFIGURE = """axe.configure({ rules: [
  { id: "color-contrast", selector: "[data-axe~=contrast]" },
  { id: "target-size", selector: "[data-axe~=size]" },
] })"""
AXE = f"{AXE_SCRIPT};{CONFIGURE}"
"""axe and its configuration. A profile that checks every page takes it as an init script, because
sending it again takes longer than running it."""
# Texts and controls look the same if they and all their ancestors have the same tag names, classes,
# colours and sizes. A list has hundreds of elements with the same look. For contrast, the longest
# of them is enough: axe skips single letters, and texts that something covers. For size, three are
# checked, as something may cover one of them: the shortest (the smallest target), the first and
# the last.
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
    """Return the violations that axe finds in a page, or in a part of it."""
    return _found(page, where, RULES)


def barriers_of_colour(page: Page, where: str = WHOLE) -> list[str]:
    """Return the violations that depend on the theme: both themes have the same elements."""
    return _found(page, where, OF_COLOUR)


def _found(page: Page, where: str, rules: dict[str, Any]) -> list[str]:
    """Return each violation with its element."""
    if not page.evaluate(IS_HERE):
        page.evaluate(AXE)
    return [f"{rule}: {html[:160]}" for rule, html in page.evaluate(AGAINST, [where, rules])]
