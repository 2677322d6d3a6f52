"""The README's pictures, taken from a fresh demo: `uv run python -m tests.browser.pictures`."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from config.environment import BASE_DIR
from tests.browser.conftest import CHROMIUM, FLAGS, log_in
from tests.processes import demo

FOLDER = BASE_DIR / ".github"


@dataclass(frozen=True)
class Picture:
    """What is shown, and on what; `steps` are links to follow from the address."""

    name: str
    address: str
    steps: tuple[str, ...] = ()
    width: int = 1280
    height: int = 800
    scheme: Literal["light", "dark"] = "light"


CONVERSATION = ("Fleet telematics for regional carriers", "first audience", "Conversation")
PICTURES = (
    Picture("overview", "/"),
    Picture("pages-dark", "/pages/", scheme="dark"),
    Picture("overview-phone", "/", width=390, height=800),
    Picture("conversation", "/pages/", CONVERSATION),
)


def take(browser: Browser, base_url: str, picture: Picture) -> Path:
    """Log in, go there, and save what is seen."""
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
        if step == "first audience":
            page.locator("#audience-results tbody a").first.click()
        else:
            page.get_by_role("link", name=step).first.click()
        page.wait_for_load_state("networkidle")
    page.wait_for_load_state("networkidle")
    saved = FOLDER / f"{picture.name}.png"
    page.screenshot(path=saved)
    context.close()
    return saved


def main() -> None:
    """Take them all."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, demo(Path(folder)) as running, sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for picture in PICTURES:
            saved = take(browser, running.url, picture)
            print(f"{saved.relative_to(BASE_DIR)}: {saved.stat().st_size // 1000} kB")  # noqa: T201
        browser.close()


if __name__ == "__main__":
    main()
