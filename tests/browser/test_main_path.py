"""The whole path as a person walks it, with JavaScript or without."""

import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ReusedProfile, open_page
from tests.browser.planned import go_live
from tests.support.processes import Running

PAGE = "Last-mile van fleets"
SUBSCRIPTION = "Version events"


@dataclass
class Walk:
    """A person on this path. Only this test uses what they create or change."""

    page: Page
    audience: str
    words: str
    url: str
    new_page: str

    def open_an_audience(self) -> None:
        self.page.goto("/")
        self.page.get_by_label("Username", exact=True).fill("demo")
        self.page.get_by_label("Password").fill("demo")
        self.press("Sign in")
        expect(self.heading).to_have_text("Overview")
        self.follow("Pages")
        self.follow(PAGE)
        expect(self.heading).to_have_text(PAGE)
        self.follow(self.audience)
        expect(self.heading).to_have_text(self.audience)

    def read_about_it(self) -> None:
        self.follow("Versions")
        expect(self.page.get_by_role("heading", name="Version 1")).to_be_visible()
        self.follow("Conversation")
        expect(self.page.locator("li.message").first).to_be_visible()

    def ask_to_publish(self) -> None:
        self.follow("Publish version 1")
        expect(self.page.locator("#pub-h")).to_have_text("Publish version 1?")
        expect(self.page.get_by_role("dialog")).to_contain_text("Nothing")
        self.press("Publish version 1")
        expect(self.page.locator("#pub-h")).to_have_text("Publishing version 1")
        expect(self.page.locator("[aria-current=step]")).to_contain_text("Queued")

    def see_it_live(self) -> None:
        expect(self.page.locator(".steps-done")).to_contain_text("Live")
        self.page.get_by_role("link", name="Close", exact=True).last.click()
        expect(self.page.locator(".head")).to_contain_text("Version 1 live")

    def look_for_people(self) -> Locator:
        self.follow("People")
        self.page.wait_for_url("**/people/")
        return self.page.get_by_role("searchbox", name="Search people")

    def see_who_was_found(self) -> None:
        expect(self.page.locator("mark").first).to_have_text(self.words, ignore_case=True)
        expect(self.page.get_by_role("searchbox", name="Search people")).to_have_value(self.words)
        expect(self.page).to_have_url(re.compile(f"q={self.words}"))

    def edit_a_subscription(self) -> None:
        self.follow("Webhooks")
        self.follow(SUBSCRIPTION)
        self.page.wait_for_url("**/webhooks/*/")
        self.page.get_by_label("Target URL").fill(self.url)

    def see_it_changed(self) -> None:
        expect(self.page.locator("#messages")).to_contain_text("URL updated.")
        expect(self.page.get_by_label("Target URL")).to_have_value(self.url)
        self.follow("Webhooks")
        expect(self.row(SUBSCRIPTION)).to_contain_text(self.url[:40])

    def switch_off_and_on(self) -> None:
        switch = self.row(SUBSCRIPTION).get_by_role("switch")
        switch.click()
        self.press("Turn off")
        expect(switch).not_to_be_checked()
        switch.click()
        expect(switch).to_be_checked()

    def create_a_page(self) -> None:
        self.follow("Pages")
        self.follow("Create page")
        self.page.wait_for_url("**/pages/new/")
        self.page.get_by_label("Name", exact=True).fill(self.new_page)
        self.page.get_by_label("Context", exact=True).fill("For those who walk the whole path.")
        self.press("Create page")
        expect(self.heading).to_have_text(self.new_page)

    def find_it_all_under_activity(self) -> None:
        self.follow("Activity")
        rows = self.page.locator(".log li").filter(has_text="demo")
        for number, words in enumerate(
            [
                ("Create page", self.new_page, "Accepted"),
                ("Update webhook", SUBSCRIPTION, "Accepted"),
                ("Update webhook", SUBSCRIPTION, "Accepted"),
                ("Update webhook", SUBSCRIPTION, "Accepted"),
                ("Publish version 1", self.audience, "Live"),
            ]
        ):
            for word in words:
                expect(rows.nth(number)).to_contain_text(word)

    @property
    def heading(self) -> Locator:
        return self.page.locator("main").get_by_role("heading", level=1)

    def row(self, name: str) -> Locator:
        return self.page.get_by_role("row").filter(has_text=name)

    def follow(self, name: str) -> None:
        self.page.get_by_role("link", name=name).first.click()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()


WALKS = {
    True: ("Harbour Aggregates Ltd", "kow", "https://hooks.example/walked", "Walked by mouse"),
    False: ("Logística Guadalmar S.L.", "ros", "https://hooks.example/by-hand", "Walked by hand"),
}


@pytest.mark.matrix(cells=1)
@pytest.mark.parametrize("has_scripts", WALKS, ids=["with scripts", "without scripts"])
def test_the_whole_path(
    request: pytest.FixtureRequest, server: Running, troubles: list[str], *, has_scripts: bool
) -> None:
    name = "reused_profile" if has_scripts else "reused_profile_without_scripts"
    profile: ReusedProfile = request.getfixturevalue(name)
    page = open_page(profile.open(), troubles)
    walk = Walk(page, *WALKS[has_scripts])
    walk.open_an_audience()
    walk.read_about_it()
    walk.ask_to_publish()
    go_live(server)
    while not has_scripts and page.locator("#pub-h").text_content() != "Version 1 is live":
        with page.expect_navigation():
            page.get_by_role("link", name="Check now").click()
    expect(page.locator("#pub-h")).to_have_text("Version 1 is live")
    walk.see_it_live()
    if has_scripts:
        walk.look_for_people().press_sequentially(walk.words, delay=60)
    else:
        walk.look_for_people().fill(walk.words)
        page.keyboard.press("Enter")
    walk.see_who_was_found()
    walk.edit_a_subscription()
    if not has_scripts:
        walk.press("Review and save")
    expect(page.locator("#sending")).to_contain_text(walk.url)
    walk.press("Save changes")
    walk.see_it_changed()
    walk.switch_off_and_on()
    walk.create_a_page()
    walk.find_it_all_under_activity()
    profile.empty()
    assert troubles == []
