"""A page when zoomed, printed, without motion, and in forced colours."""

from collections.abc import Callable

from playwright.sync_api import Page

WIDE = {"width": 1280, "height": 800}
ZOOMED = {"width": 640, "height": 400}
"""A window of 1280 at 200 %."""
PAPER = {"width": 718, "height": 1047}
"""A4 without the style sheet's margins of 10 mm, at 96 dots per inch."""

TOO_WIDE = """() => {
  const limit = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= limit) return [];
  return [...document.body.querySelectorAll("*")]
    .filter((each) => each.getBoundingClientRect().right > limit + 1)
    .slice(0, 3).map((each) => each.outerHTML.slice(0, 120));
}"""
# Controls must not overlap, except those that are meant to float over the page and those for
# screen readers only. A link that wraps has a box on each of its lines.
OVERLAPPING = """() => {
  const there = [...document.querySelectorAll("main :is(a, button, input, select, summary)")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }))
    .filter((each) => !each.closest(".visually-hidden, .floating, .submit, .bar"))
    .filter((each) => getComputedStyle(each.closest("thead") ?? each).clipPath === "none")
    .map((each) => [each, [...each.getClientRects()]
      .filter((box) => box.width > 1 && box.height > 1)]);
  const areOver = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6;
  const isOver = ([one, boxes], [other, others]) =>
    !one.contains(other) && !other.contains(one) &&
    boxes.some((a) => others.some((b) => areOver(a, b)));
  return there.flatMap((one, place) => there.slice(place + 1)
    .filter((other) => isOver(one, other))
    .map(([other]) => `${one[0].outerHTML.slice(0, 90)} over ${other.outerHTML.slice(0, 90)}`)
  ).slice(0, 3);
}"""
ON_PAPER = r"""() => {
  const seen = (each) => each.checkVisibility({ visibilityProperty: true });
  const found = [];
  const say = (what, all) => found.push(...all.slice(0, 2)
    .map((each) => `${what}: ${each.outerHTML.slice(0, 120)}`));
  const all = (selector) => [...document.querySelectorAll(selector)];
  // The versions of a release lead to what is beside them, and are what it consists of.
  const nav = "nav:not([aria-labelledby=items-h])";
  say("printed", all(`${nav}, .button, button:not([role=switch]), [role=search]`).filter(seen));
  // What stands behind a dialog is not printed.
  say("lost column", all(".app:not([inert]) main table :is(th, td)")
    .filter((each) => !seen(each) && !each.matches(".actions, .phone-only, [hidden] *")));
  say("folded", all(".app:not([inert]) main details:not(.log details) > :not(summary)")
    .filter((each) => !seen(each) && !each.closest("[hidden], .message[hidden]")));
  say("cut", all("main .truncated > *, main .one-line")
    .filter((each) => seen(each) && each.scrollWidth > each.clientWidth + 1
      && getComputedStyle(each).textOverflow === "ellipsis"
      && getComputedStyle(each).overflowX !== "visible"));
  const ground = (each) => getComputedStyle(each).backgroundColor;
  for (const each of [document.documentElement, document.querySelector("main")])
    if (ground(each) !== "rgb(255, 255, 255)") found.push(`printed on ${ground(each)}`);
  const speaks = ({ childNodes }) =>
    [...childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  const lightness = (each) => Number(/^oklch\(([\d.]+)/.exec(getComputedStyle(each).color)?.[1]);
  const isPale = (each) => speaks(each) && seen(each) && lightness(each) > 0.6;
  say("too pale", all("main *").filter(isPale));
  return found;
}"""
UNMARKED = """[...document.querySelectorAll("#nav .nav [aria-current]")]
  .filter((each) => each.checkVisibility() && getComputedStyle(each).outlineStyle === "none")
  .map((each) => each.outerHTML.slice(0, 120))"""
MOVING = """document.getAnimations().map((each) => each.effect.target.outerHTML.slice(0, 120))"""


def moving(page: Page) -> list[str]:
    """Return elements that are animated although reduced motion is preferred."""
    return [f"moves: {problem}" for problem in page.evaluate(MOVING)]


def in_forced_colours(page: Page) -> list[str]:
    """Return problems in forced colours, on a wide page, because only that shows its navigation."""
    page.set_viewport_size(WIDE)
    page.emulate_media(forced_colors="active")
    matching = [f"in forced colours, not marked: {problem}" for problem in page.evaluate(UNMARKED)]
    page.emulate_media(forced_colors="none")
    return matching


def zoomed(page: Page) -> list[str]:
    """Return problems at 200 %."""
    page.set_viewport_size(ZOOMED)
    matching = [f"at 200 %, too wide: {problem}" for problem in page.evaluate(TOO_WIDE)]
    return matching + [f"at 200 %, {problem}" for problem in page.evaluate(OVERLAPPING)]


def on_paper(page: Page) -> list[str]:
    """Return problems in print, with the dark theme chosen, which is the harder case."""
    page.set_viewport_size(PAPER)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print")
    matching = [f"on paper, {problem}" for problem in page.evaluate(ON_PAPER)]
    matching += [f"on paper, too wide: {problem}" for problem in page.evaluate(TOO_WIDE)]
    page.emulate_media(media="screen")
    return matching


Mode = Callable[[Page], list[str]]
"""Returns the problems of a page, and may leave it at another size."""
MODES: tuple[Mode, ...] = (in_forced_colours, zoomed, on_paper)
