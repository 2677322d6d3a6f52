"""A preview in a browser: complete, without errors, accessible; and the estimated text widths."""

import re
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.previews.widths import SEARCH_TITLE, fit, text_width
from tests.browser.addresses import execute
from tests.browser.barriers import barriers
from tests.browser.conftest import log_in, new_profile, settle, sign_in
from tests.browser.looks import wrong_in_shape
from tests.support.processes import Running

PAGES = "SELECT page_id, max(audience_id) FROM ledger_audiencerecord GROUP BY page_id ORDER BY 1"
WITH_PICTURES = (
    "SELECT id FROM embedded_api_page WHERE action_card_widgets LIKE '%https://cdn%' LIMIT 1"
)
CHANGED = """SELECT page_id, audience_id FROM ledger_audiencerecord
    WHERE live_status = 'changed' AND NOT archived ORDER BY id LIMIT 1"""
WORDS = {
    "Latin": "Fleet telematics für Kühlware: über 40 routes, señal única, 31% fewer WAITS & claims",
    "Greek": "Κάθε φορτηγό σε έναν χάρτη: λιγότερες αναμονές και ΑΠΟΔΕΙΞΕΙΣ για ψυγεία",
    "Cyrillic": "Каждый грузовик на одной карте: меньше простоев, ТОЧНЫЕ маршруты и щадящий график",
    "CJK": "すべてのトラックを一枚の地図に、冷凍車の温度管理と配送計画、所有卡车尽在一张地图",
}
MEASURE = """(titles) => titles.map((title) => {
  const span = document.querySelector("span");
  span.textContent = title;
  return span.getBoundingClientRect().width;
})"""


def titles(script: str) -> list[str]:
    """Return fifty titles of 3 to 12 words, or of 20 to 69 characters in CJK."""
    words = WORDS[script].split() if script != "CJK" else [*WORDS[script]]
    joint, few = ("", 20) if script == "CJK" else (" ", 3)
    counts = range(few, few + 50) if script == "CJK" else [few + n % 10 for n in range(50)]
    return [
        joint.join(words[(start * 7 + n * 3) % len(words)] for n in range(count))
        for start, count in enumerate(counts)
    ]


def test_texts_are_as_wide_as_chromium_draws_them(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content('<span style="font: 20px Arial, Liberation Sans; white-space: pre"></span>')
    for script in WORDS:
        whole = titles(script)
        texts = [*whole, *(fit(title, SEARCH_TITLE) for title in whole)]
        drawn = page.evaluate(MEASURE, texts)
        off = [text_width(text, 20) / width - 1 for text, width in zip(texts, drawn, strict=True)]
        assert max(map(abs, off)) <= 0.03, script
        assert max(drawn[50:]) <= SEARCH_TITLE.width * 1.03, script
    page.close()


def test_previews_are_whole_and_break_no_policy(
    page: Page, server: Running, request: pytest.FixtureRequest
) -> None:
    log_in(page, to="/health/live")
    at = execute(server, PAGES)
    for page_id, audience_id in at if request.config.getoption("exhaustive") else at[:1]:
        for path in (f"/pages/{page_id}/", f"/pages/{page_id}/audiences/{audience_id}/"):
            page.set_viewport_size({"width": 360, "height": 800})
            page.goto(f"{path}preview/")
            settle(page)
            expect(page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=0.95)
            assert barriers(page) + wrong_in_shape(page, 360) == [], path


def test_pictures_load_on_request_and_never_by_url(
    page: Page, server: Running, troubles: list[str]
) -> None:
    requests = []
    page.route(
        "https://cdn.kestrel.example/**",
        lambda route: (requests.append(route.request), route.abort()),
    )
    [[page_id]] = execute(server, WITH_PICTURES)
    log_in(page, to=f"/pages/{page_id}/")
    page.keyboard.press("v")
    page.wait_for_url("**/preview/")
    page.get_by_label("Tablet").check()
    assert requests == troubles == []

    page.get_by_role("button", name="Show").click()
    expect(page.locator("[data-picture]:not([hidden])").first).to_contain_text("doesn’t load")
    last = page.locator("#preview img").last
    last.scroll_into_view_if_needed()
    expect(last).not_to_have_attribute("alt", "")
    expect(page).to_have_url(re.compile(r"/preview/\?width=tablet$"))
    expect(page.get_by_label("Tablet")).to_be_checked()
    assert {request.headers.get("referer") for request in requests} == {None}
    assert not [trouble for trouble in troubles if "CSP" in trouble]
    troubles.clear()
    page.get_by_role("link", name="Hide pictures").click()
    expect(page.get_by_role("button", name="Show")).to_be_visible()


@pytest.mark.parametrize("has_scripts", [True, False])
def test_the_url_has_every_switch(has_scripts: bool, browser: Browser, server: Running) -> None:
    [[page_id, audience_id]] = execute(server, CHANGED)
    with closing(new_profile(browser, server.url, java_script_enabled=has_scripts)) as profile:
        sign_in(profile, "viewer")
        page = profile.new_page()
        page.goto(f"/pages/{page_id}/audiences/{audience_id}/preview/")
        origin, added = page.locator(".origin").first, page.locator(".site ins").first
        frame = page.locator(".frame").last
        expect(origin).to_be_visible()
        assert frame.bounding_box()["width"] == 360
        page.get_by_label("Tablet").check()
        page.get_by_label("Hide field sources").check()
        page.get_by_label("Hide changes").check()
        if not has_scripts:
            page.get_by_role("button", name="Apply").click()
        query = "?width=tablet&hide=sources&hide=changes"
        expect(page).to_have_url(re.compile(re.escape(query)))
        for _ in ("as switched", "as linked"):
            expect(origin).to_be_hidden()
            expect(added).to_have_css("text-decoration-line", "none")
            assert 360 < frame.bounding_box()["width"] <= 768
            page.goto(page.url)
        page.locator(".segments a").first.click()
        expect(page).to_have_url(re.compile("version=.*hide=changes|hide=changes.*version="))
        expect(page.get_by_label("Tablet")).to_be_checked()
