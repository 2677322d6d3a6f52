"""The README's pictures, taken from a fresh demo: `uv run python -m tests.browser.pictures`.

Arguments name the pictures to take: `… tests.browser.pictures publish compare`.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from config.environment import BASE_DIR
from tests.browser.conftest import CHROMIUM, FLAGS, log_in
from tests.support.processes import demo

FOLDER = BASE_DIR / ".github"


@dataclass(frozen=True)
class Picture:
    """A picture of a page.

    `steps` start at the address: names of links, or CSS selectors that begin with `css:`.
    """

    name: str
    address: str
    steps: tuple[str, ...] = ()
    shows: str = "main"
    """Selector of an element to wait for."""
    width: int = 1280
    height: int = 800
    scheme: Literal["light", "dark"] = "light"


FIRST_AUDIENCE = "css:#audience-results tbody a"
CONVERSATION = ("Fleet telematics for regional carriers", FIRST_AUDIENCE, "Conversation")
CHANGED = "/audiences/?live=changed"
LIVE = ("css:#results tbody th a",)
ROLL_BACK = ("Fleet telematics for regional carriers", FIRST_AUDIENCE, "Versions", "Roll back to 1")
COMPARE = (
    "Fleet telematics for regional carriers",
    FIRST_AUDIENCE,
    "Versions",
    "css:form[data-versions] aside button",
)
PICTURES = (
    Picture("overview", "/"),
    Picture("pages-dark", "/pages/", scheme="dark"),
    Picture("overview-phone", "/", width=390, height=800),
    Picture("conversation", "/pages/?q=fleet+telematics", CONVERSATION),
    Picture("live", CHANGED, LIVE, ".text-panel"),
    Picture("publish", CHANGED, (*LIVE, "css:.text-panel a.primary"), "dialog[open] form"),
    Picture("roll-back", "/pages/?q=fleet+telematics", ROLL_BACK, "dialog[open] form"),
    Picture("notifications", "/", ("css:.bar [popovertarget=notices]",), "#notices .notice"),
    Picture("review", "/review/", ("css:main .head .primary",), ".diff-text, #desk, main h1"),
    Picture("preview", CHANGED, (*LIVE, "Preview"), "#texts-h"),
    Picture("compare", "/pages/?q=fleet+telematics", COMPARE, "#compare-text"),
)


def take(browser: Browser, base_url: str, picture: Picture) -> Path:
    """Log in, follow the steps and save a screenshot."""
    context = browser.new_context(
        base_url=base_url,
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.scheme,
        reduced_motion="reduce",
        timezone_id="Europe/Berlin",
        locale="en-GB",
    )
    page = log_in(context.new_page(), to=picture.address)
    for step in picture.steps:
        selector = step.removeprefix("css:")
        is_name = selector == step
        locator = page.get_by_role("link", name=step) if is_name else page.locator(selector)
        locator.first.click()
        page.wait_for_load_state("networkidle")
    page.wait_for_load_state("networkidle")
    page.locator(picture.shows).first.wait_for()
    saved = FOLDER / f"{picture.name}.png"
    page.screenshot(path=saved)
    context.close()
    return saved


def main(names: list[str]) -> None:
    """Take all pictures, or the named ones."""
    FOLDER.mkdir(exist_ok=True)
    chosen = [picture for picture in PICTURES if not names or picture.name in names]
    with TemporaryDirectory() as folder, demo(Path(folder)) as running, sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for picture in chosen:
            saved = take(browser, running.url, picture)
            print(f"{saved.relative_to(BASE_DIR)}: {saved.stat().st_size // 1000} kB")  # noqa: T201
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
