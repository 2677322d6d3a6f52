"""Reading a conversation in a browser: search, filters, steps, updates, and safety."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, CDPSession, Page, expect

from dashboard.contract.wire import write_mark
from tests.browser.addresses import addresses, execute
from tests.browser.conftest import NEXT_FRAME, log_in, open_page, settle, until
from tests.support.hostile_strings import PAYLOADS
from tests.support.matrix import sampled
from tests.support.processes import Running

SENDABLE = [text for text in PAYLOADS if not set(text) & {"\0", "\ud800"}]
"""Texts that the embedded API can store; tests/web also sends the others."""
TASK = "ThreadControllerImpl::RunTask"
WITH_CHANGES_WAITING = """SELECT page_id, audience_id, json_array_length(c.pending_changes)
  FROM ledger_audiencerecord JOIN embedded_api_conversation c USING (audience_id)
  WHERE latest_status = 'draft' AND json_array_length(c.pending_changes) > 1
  ORDER BY audience_id DESC LIMIT 1"""
COVERED = """(() => {
  const box = getSelection().getRangeAt(0).getBoundingClientRect();
  return document.getElementById("matches").getBoundingClientRect().bottom > box.top;
})()"""
"""Whether the line that counts the matches covers the current match."""
LIVE = "audience_id = ? AND published_at IS NOT NULL AND archived_at IS NULL"


@dataclass
class Story:
    """The demo's longest conversation, which a test may rewrite."""

    server: Running
    audience_id: str
    page_id: str

    @property
    def path(self) -> str:
        return f"/pages/{self.page_id}/audiences/{self.audience_id}/conversation/"

    def write(self, column: str, value: Any) -> None:
        """Write JSON to a column, as if the agent had continued the conversation."""
        update = f"UPDATE embedded_api_conversation SET {column} = ? WHERE audience_id = ?"
        execute(self.server, update, json.dumps(value), self.audience_id)

    def create_live_version_at(self, mark: str) -> None:
        """Set when the live version was created: messages before then count as published."""
        update = f"UPDATE embedded_api_version SET created_at = ? WHERE {LIVE}"
        execute(self.server, update, mark, self.audience_id)

    def live_version_created_at(self) -> str:
        query = f"SELECT created_at FROM embedded_api_version WHERE {LIVE}"
        return str(execute(self.server, query, self.audience_id)[0][0])

    def read(self, column: str) -> Any:
        query = f"SELECT {column} FROM embedded_api_conversation WHERE audience_id = ?"
        return json.loads(execute(self.server, query, self.audience_id)[0][0])


@pytest.fixture
def story(server: Running) -> Iterator[Story]:
    """The longest conversation, which is restored afterwards."""
    [[page_id, audience_id]] = execute(
        server,
        "SELECT a.page_id, a.id FROM embedded_api_conversation c"
        " JOIN embedded_api_audience a ON a.id = c.audience_id"
        " ORDER BY json_array_length(c.messages) DESC, length(c.messages) DESC LIMIT 1",
    )
    result = Story(server, audience_id, page_id)
    before = {column: result.read(column) for column in ("messages", "pending_changes")}
    created_at = result.live_version_created_at()
    yield result
    result.create_live_version_at(created_at)
    for column, value in before.items():
        result.write(column, value)


@pytest.fixture
def page(story: Story, context: BrowserContext, troubles: list[str]) -> Page:
    """A tab that is closed before the story is restored, so that its late requests still work."""
    return open_page(context, troubles)


@pytest.fixture
def timed_page(story: Story, timed_page: Page) -> Page:
    """The same, with a clock that the test can move."""
    return timed_page


def call(**fields: Any) -> dict[str, Any]:
    return {"id": "call_1", "name": "find_person", "arguments": {"query": "ada"}} | fields


SHORT = [
    {"messageId": "a", "content": "Find Marisol.", "timestamp": 1_772_539_200},
    {"messageId": "b", "toolCalls": [call(error="404 Not Found")], "timestamp": 1_772_539_260},
    {"messageId": "c", "content": "Then **reefer** alarms.", "timestamp": 1_772_539_320},
    {
        "messageId": "d",
        "reasoning": "A reefer it is.",
        "toolCalls": [call(result={"rows": ["row"] * 2_000, "last": "a Reefer door"})],
        "changes": [{"changeId": "chg_1", "previousValue": "64", "newValue": "71"}],
        "timestamp": 1_772_539_380,
    },
]


def write_short(story: Story) -> None:
    """Write a short conversation, with two pending changes."""
    story.write("messages", SHORT)
    story.write("pending_changes", [*SHORT[3]["changes"], {"changeId": "chg_2", "newValue": "x"}])


@pytest.fixture
def reading(page: Page, story: Story) -> Page:
    """An open page with a short conversation."""
    write_short(story)
    return log_in(page, to=story.path)


@pytest.fixture
def timed_reading(timed_page: Page, story: Story) -> Page:
    """The same, with a clock that the test can move."""
    write_short(story)
    return log_in(timed_page, to=story.path)


def visible_messages(page: Page) -> list[str]:
    return page.locator("li.message:visible").evaluate_all("all => all.map((each) => each.id)")


def test_a_long_conversation_filters_without_stalling(
    page: Page, story: Story, pytestconfig: pytest.Config
) -> None:
    """No step costs more with more messages, except for searching their texts.

    Work is counted, not timed, so that it is the same on any machine: style recalculations,
    layouts, and calls of script functions. A step that lays out once per message would do so 200
    times, or 100 times without --exhaustive, which is too often, too.
    """
    count = 200 if pytestconfig.getoption("exhaustive") else 100
    story.write("messages", story.read("messages")[:count])
    log_in(page, to=story.path)
    expect(page.locator("li.message")).to_have_count(count)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    devtools.send("Profiler.enable")
    devtools.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": False})
    for step in (search, *map(filter_by, ("Errors", "Changes", "All")), clear):
        before = layouts(devtools)
        devtools.send("Profiler.takePreciseCoverage")  # restarts the count
        step(page)
        page.evaluate(NEXT_FRAME)
        assert layouts(devtools) - before <= LAYOUTS_A_STEP, step
        assert calls(devtools) <= CALLS_A_MESSAGE * count, step


LAYOUTS_A_STEP = 60
"""Typing a word takes most, 26: two or three for each letter and each response."""
CALLS_A_MESSAGE = 200
"""Marking the matches takes most, 100: a call for each letter of a message."""


def layouts(devtools: CDPSession) -> int:
    """Return the number of style recalculations and layouts."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    counts = {metric["name"]: metric["value"] for metric in metrics}
    return int(counts["LayoutCount"] + counts["RecalcStyleCount"])


def calls(devtools: CDPSession) -> int:
    """Return the number of calls of our scripts' functions since the last count."""
    scripts = devtools.send("Profiler.takePreciseCoverage")["result"]
    ours = [script for script in scripts if "/static/" in script["url"]]
    return sum(item["ranges"][0]["count"] for our in ours for item in our["functions"])


def search(page: Page) -> None:
    """Search for a word that is in many messages and calls."""
    page.get_by_label("Search this conversation").press_sequentially("payback")
    page.wait_for_function(
        "() => /of (1|2)00 messages/.test(document.getElementById('matches').textContent)"
    )


def filter_by(name: str) -> Callable[[Page], None]:
    """Return a step that chooses a filter."""
    filters = "[data-filter-for=thread]"
    return lambda page: page.locator(filters).get_by_role("link", name=name).press("Enter")


def clear(page: Page) -> None:
    """Clear the search and wait until everything is shown."""
    page.get_by_role("link", name="Clear search").press("Enter")
    page.wait_for_function("() => !document.querySelector('li.message[hidden]')")


def test_a_search_marks_matches_and_opens_their_calls(reading: Page) -> None:
    field = reading.get_by_label("Search this conversation")
    field.fill("reefer")
    expect(reading.locator("#matches")).to_contain_text("3 matches for “reefer” in 2 of 4 messages")
    assert visible_messages(reading) == ["m3", "m4"]
    expect(reading.locator("#m4-1")).to_contain_text("a Reefer door")
    reading.wait_for_function("() => CSS.highlights.get('matches').size >= 3")
    expect(field).to_be_focused()
    reading.get_by_role("button", name="Next match").click()
    expect(reading.locator("[data-place]")).to_contain_text("1 of ")
    assert reading.evaluate("getSelection().toString()") == "reefer"
    reading.reload()
    assert visible_messages(reading) == ["m3", "m4"]
    reading.get_by_role("link", name="Clear search").click()
    expect(reading.locator("li.message:visible")).to_have_count(4)
    expect(reading).not_to_have_url(re.compile("q="))


def test_search_marks_ignore_accents(page: Page, story: Story) -> None:
    texts = ["Die **Kühl**kette — Weserstraße", "Ku\u0308hl", "No such thing"]
    story.write("messages", [{"messageId": text, "content": text} for text in texts])
    log_in(page, to=story.path)
    page.get_by_label("Search this conversation").fill("KUHL")
    expect(page.locator("#matches")).to_contain_text("2 matches for “KUHL” in 2 of 3 messages")
    page.wait_for_function("() => CSS.highlights.get('matches').size == 2")
    assert marked(page) == ["Kühl", "Ku\u0308hl"]
    page.get_by_label("Search this conversation").fill("strasse")
    expect(page.locator("#matches")).to_contain_text("1 match for")
    assert marked(page) == ["straße"]


def marked(page: Page) -> list[str]:
    response: list[str] = page.evaluate(
        "[...CSS.highlights.get('matches')].map((each) => `${each}`)"
    )
    return response


def test_the_next_match_stays_in_view(page: Page, story: Story) -> None:
    story.write("messages", story.read("messages")[:70])
    log_in(page, to=f"{story.path}?q=payback")
    following = page.get_by_role("button", name="Next match")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for _ in range(4):
            following.click()
            expect(following, str(width)).to_be_in_viewport()
            assert page.evaluate(COVERED) is False, width
        page.evaluate("document.querySelectorAll('li.message:not([hidden])')[5].scrollIntoView()")
        line, message = page.locator("#matches"), page.locator("li.message:visible").nth(5)
        ends, begins = line.bounding_box(), message.bounding_box()
        assert ends, width
        assert begins, width
        assert ends["y"] + ends["height"] <= begins["y"] + 1, width


def test_enter_and_shift_enter_walk_the_matches(reading: Page) -> None:
    field, place = reading.get_by_label("Search this conversation"), reading.locator("[data-place]")
    field.fill("reefer")
    expect(reading.locator("#matches")).to_contain_text("3 matches")
    reading.wait_for_function("() => CSS.highlights.get('matches').size >= 3")
    for key, number in (("Enter", 1), ("Enter", 2), ("Shift+Enter", 1)):
        field.press(key)
        expect(place).to_contain_text(f"{number} of ")
    expect(field).to_be_focused()
    reading.keyboard.type("s")
    expect(field).to_have_value("reefers")
    expect(reading.locator("#matches")).to_contain_text("No matches")


def test_a_search_marks_words_across_bold_ones(reading: Page) -> None:
    reading.get_by_label("Search this conversation").fill("Then Reefer alarms")
    expect(reading.locator("#matches")).to_contain_text("1 match for")
    reading.get_by_role("button", name="Next match").click()
    assert reading.evaluate("getSelection().toString()") == "Then reefer alarms"


def test_filters_make_no_request_and_survive_a_reload(reading: Page) -> None:
    urls: list[str] = []
    reading.on("request", lambda request: urls.append(request.url))
    reading.get_by_role("link", name="Errors 1").click()
    until(reading, lambda: visible_messages(reading) == ["m1", "m2"])
    reading.get_by_role("link", name="Changes 1", exact=True).click()
    until(reading, lambda: visible_messages(reading) == ["m4"])
    # The icon is requested again. Presence is reported at intervals, filtered or not.
    assert [url for url in urls if "/static/" not in url and "/live/" not in url] == []
    reading.reload()
    assert visible_messages(reading) == ["m4"]
    reading.locator("[data-filter-for=thread]").get_by_role("link", name="All").click()
    until(reading, lambda: visible_messages(reading) == ["m1", "m2", "m3", "m4"])


def test_filters_and_search_keep_each_other(reading: Page) -> None:
    errors = reading.get_by_role("link", name="Errors 1")
    reading.get_by_label("Search this conversation").fill("reefer")
    expect(errors).to_have_attribute("href", re.compile(r"\?(?=.*show=errors)(?=.*q=reefer)"))
    errors.click()
    show = reading.locator("input[name=show]")
    expect(show).to_have_value("errors")
    reading.locator("[data-filter-for=thread]").get_by_role("link", name="All").click()
    expect(show).to_be_disabled()
    reading.get_by_role("link", name="Clear search").click()
    expect(errors).to_have_attribute("href", re.compile(r"\?show=errors$"))


def test_the_current_tab_stands_out_in_forced_colors(reading: Page) -> None:
    reading.emulate_media(forced_colors="active")
    bars = "all => all.map((each) => getComputedStyle(each).borderBottomColor)"
    [others] = {*reading.locator(".tabs a:not([aria-current])").evaluate_all(bars)}
    [current] = reading.locator(".tabs [aria-current]").evaluate_all(bars)
    assert others != current


def test_keys_walk_between_messages_errors_and_changes(reading: Page) -> None:
    walked = []
    for key in ("j", "j", "k", "e", "c"):
        reading.keyboard.press(key)
        walked.append(reading.evaluate("document.activeElement.id"))
    assert walked == ["m1", "m2", "m1", "m2", "m4"]


def test_shortcuts_are_letters_in_fields_and_can_be_off(reading: Page) -> None:
    field = reading.get_by_label("Search this conversation")
    field.press_sequentially("jke")
    assert field.input_value() == "jke"
    field.fill("")
    reading.get_by_role("button", name="demo").click()
    reading.get_by_label("Single-key shortcuts").uncheck()
    expect(reading.locator("body")).to_have_attribute("data-keys", "off")
    reading.keyboard.press("Escape")
    reading.evaluate("document.activeElement.blur()")
    for key in "jkec":
        reading.keyboard.press(key)
    assert reading.evaluate("document.activeElement.id") == ""
    reading.get_by_role("button", name="demo").click()
    reading.get_by_label("Single-key shortcuts").check()
    expect(reading.locator("body")).not_to_have_attribute("data-keys", "off")


def test_a_key_of_the_conversation_does_nothing_else(page: Page, server: Running) -> None:
    """C goes to the next change, and doesn't press Compare as on other pages."""
    log_in(page, to=f"{addresses(server)['audience']}conversation/")
    expect(page.locator("main .head a[href*='/versions/compare/']")).to_be_visible()
    address = page.url
    for key in "cj":
        page.keyboard.press(key)
    expect(page.locator("li.message:focus")).to_have_count(1)
    assert page.url == address


LETTER = [
    {
        "messageId": "a",
        "content": "## Ask\n\n| lorry | due |\n|---|---|\n| 64 | **now** |\n\n[Docs](https://a.example)"
        " [no](javascript:alert(1)) ![x](https://evil.example/x.png)\n\n```\ncode\n```",
        "timestamp": 1_772_539_200,
        "hasSnapshot": True,
    },
    {
        "messageId": "b",
        "content": "First second",
        "contentParts": [{"type": "text", "text": "First "}, {"type": "text", "text": "second"}],
        "reasoning": "They want the short answer.",
        "isInterrupted": True,
        "timestamp": 1_772_546_400,
    },
    {
        "messageId": "c",
        "changes": [{"changeId": "chg_1", "previousValue": "64 trucks", "newValue": "71 trucks"}],
        "timestamp": 1_772_632_800,
    },
]


def test_a_conversation_reads_like_a_letter(page: Page, story: Story) -> None:
    story.write("messages", LETTER)
    story.create_live_version_at(write_mark(datetime(2026, 3, 4, tzinfo=UTC)))
    log_in(page, to=story.path)
    first, second, third = (page.locator(f"#m{number}") for number in (1, 2, 3))
    expect(first.locator("table td").first).to_have_text("64")
    expect(first.locator("pre")).to_have_text("code\n")
    expect(first.get_by_role("link", name="Docs")).to_have_attribute("href", "https://a.example")
    expect(
        first.locator("a", has_text="no").and_(page.locator("[href^=javascript]"))
    ).to_have_count(0)
    expect(first).to_contain_text("Snapshot")
    expect(first.get_by_role("link", name="Message 1")).to_have_attribute("title", "Author unknown")
    expect(second.get_by_text("First second")).to_have_count(1)
    expect(second.locator("summary")).to_contain_text("Reasoning 5 words")
    expect(second).to_contain_text("Interrupted: the message ends here.")
    expect(second.get_by_role("link", name="Agent")).to_have_attribute(
        "title", "Inferred from reasoning"
    )
    expect(third.locator("del")).to_contain_text("64")
    expect(third.locator("ins")).to_contain_text("71")
    expect(page.locator(".day").nth(1)).to_contain_text("2 h 00 min later")
    expect(page.locator(".day").nth(2)).to_contain_text("4 March 2026")
    expect(page.locator("#published")).to_have_text("Published up to here")
    expect(page.locator("main")).to_contain_text("1 message and 1 change since the last publish")
    expect(page.locator(".tabs [aria-current]")).to_contain_text("3 (1 new)")


def test_a_board_and_its_messages_lead_to_each_other(reading: Page) -> None:
    board = reading.get_by_role("region", name="Pending changes")
    board.get_by_role("link", name="From message 4").click()
    expect(reading).to_have_url(re.compile("#m4$"))
    reading.locator("#m4").get_by_role("link", name="Pending").click()
    expect(reading).to_have_url(re.compile("#pending-[0-9a-f]+$"))


def test_a_link_to_a_hidden_message_shows_it(reading: Page) -> None:
    created = reading.get_by_role("link", name="From message 4")
    fourth = reading.locator("#m4")
    reading.goto(f"{reading.url}?show=errors&q=marisol")
    until(reading, lambda: visible_messages(reading) == ["m1"])
    created.click()
    expect(fourth).to_be_in_viewport()
    expect(fourth).to_be_focused()
    assert visible_messages(reading) == ["m1", "m2", "m3", "m4"]
    expect(reading).to_have_url(re.compile(r"conversation/#m4$"))
    expect(reading.get_by_label("Search this conversation")).to_have_value("")
    reading.get_by_role("link", name="Errors 1").click()
    until(reading, lambda: visible_messages(reading) == ["m1", "m2"])
    reading.evaluate("location.hash = 'm3'")
    expect(reading.locator("#m3")).to_be_focused()
    expect(reading.locator("#m3")).to_be_in_viewport()


def test_new_messages_are_reachable_past_a_filter(timed_page: Page, story: Story) -> None:
    page = timed_page
    story.write("messages", SHORT)
    log_in(page, to=f"{story.path}?show=errors")
    until(page, lambda: visible_messages(page) == ["m1", "m2"])
    created = {"messageId": "e", "content": "Hello.", "changes": [{"newValue": "y"}]}
    story.write("messages", [*SHORT, created])
    page.clock.fast_forward(21_000)
    filters = page.locator("[data-filter-for=thread]")
    expect(filters).to_have_text(re.compile(r"All 5\s+Errors 1\s+Changes 2"))
    expect(page.locator(".tabs [aria-current]")).to_contain_text("5")
    expect(filters.locator("[aria-current]")).to_contain_text("Errors")
    assert visible_messages(page) == ["m1", "m2"]
    page.get_by_role("link", name="1 new message").click()
    expect(page.locator("#m5")).to_be_in_viewport()
    expect(filters.locator("[aria-current]")).to_contain_text("All")


def test_an_empty_conversation_fills_with_new_messages(timed_page: Page, story: Story) -> None:
    page = timed_page
    story.write("messages", [])
    story.write("pending_changes", [])
    log_in(page, to=story.path)
    expect(page.locator("main")).to_contain_text("No messages")
    story.write("messages", SHORT)
    story.write("pending_changes", SHORT[3]["changes"])
    page.clock.fast_forward(21_000)
    expect(page.locator("li.message")).to_have_count(4)
    expect(page.locator("#no-messages")).to_have_count(0)
    expect(page.locator("#published-state")).to_contain_text("1 pending change")
    page.get_by_role("link", name="4 new messages").click()
    expect(page.locator("#m1")).to_be_in_viewport()
    page.clock.resume()
    page.get_by_label("Search this conversation").fill("reefer")
    expect(page.locator("#matches")).to_contain_text("3 matches for “reefer” in 2 of 4 messages")
    until(page, lambda: visible_messages(page) == ["m3", "m4"])


def test_new_messages_come_without_moving_the_reader(timed_page: Page, story: Story) -> None:
    page = timed_page
    story.write("messages", story.read("messages")[:30])
    log_in(page, to=story.path)
    page.locator("details.fold:not([open])").first.locator("summary").click()
    settle(page)
    message = page.locator("#m5")
    message.focus()
    message.scroll_into_view_if_needed()
    page.evaluate("getSelection().selectAllChildren(document.getElementById('m5'))")
    before = _place(page)
    story.write("messages", [*story.read("messages"), {"messageId": "new", "content": "Hello."}])
    page.clock.fast_forward(21_000)
    expect(page.get_by_role("link", name="1 new message")).to_be_in_viewport()
    expect(page.locator("#m31")).to_contain_text("Hello.")
    assert _place(page) == before
    page.get_by_role("link", name="1 new message").click()
    expect(page.locator("#m31")).to_be_in_viewport()


def test_pending_changes_are_replaced_in_place(timed_reading: Page, story: Story) -> None:
    reading = timed_reading
    reading.evaluate("document.querySelector('#context details').open = true")
    board = reading.get_by_role("region", name="Pending changes")
    link = board.get_by_role("link", name="From message 4")
    link.focus()
    reading.evaluate("scrollTo(0, 40)")
    before = _place(reading)
    story.write("pending_changes", [{"changeId": "chg_0", "newValue": "y"}, *SHORT[3]["changes"]])
    reading.clock.fast_forward(21_000)
    expect(reading.locator("#newer")).to_contain_text("Pending changes updated: 2 pending.")
    expect(reading.locator(".floating")).to_have_attribute("role", "status")
    expect(board.locator("[data-kinds]").first).to_contain_text("y")
    expect(link).to_be_focused()
    assert _place(reading) == before


def test_focus_moves_on_when_an_item_is_gone(timed_page: Page, story: Story) -> None:
    first, second = ({"changeId": f"chg_{n}", "newValue": f"{n}"} for n in (1, 2))
    story.write("messages", SHORT)
    story.write("pending_changes", [first, second])
    log_in(timed_page, to=story.path)
    board = timed_page.get_by_role("region", name="Pending changes")
    changes = board.locator("[data-kinds]")
    changes.first.get_by_role("button", name="Copy change ID").focus()
    story.write("pending_changes", [second])
    timed_page.clock.fast_forward(21_000)
    expect(changes).to_have_count(1)
    expect(changes).to_be_focused()
    story.write("pending_changes", [])
    timed_page.clock.fast_forward(21_000)
    expect(changes).to_have_count(0)
    expect(board.get_by_role("heading")).to_be_focused()


def test_the_focus_stays_while_earlier_changes_go(timed_page: Page, story: Story) -> None:
    first, second, third = ({"changeId": f"chg_{n}", "newValue": f"{n}"} for n in (1, 2, 3))
    story.write("messages", SHORT)
    story.write("pending_changes", [first, second, third])
    log_in(timed_page, to=story.path)
    board = timed_page.get_by_role("region", name="Pending changes")
    copy = board.locator("[data-kinds]").last.get_by_role("button", name="Copy change ID")
    copy.focus()
    story.write("pending_changes", [third, second])
    timed_page.clock.fast_forward(21_000)
    expect(board.locator("[data-kinds]")).to_have_count(2)
    expect(
        board.locator("[data-kinds]").first.get_by_role("button", name="Copy change ID")
    ).to_be_focused()


def _place(page: Page) -> dict[str, Any]:
    return page.evaluate(
        "({ top: scrollY, focus: document.activeElement.id, selected: getSelection().toString(),"
        " open: [...document.querySelectorAll('details')].map((each) => each.open) })"
    )


def test_a_fold_is_copied_as_written(reading: Page) -> None:
    reading.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reading.get_by_role("button", name="Copy arguments").first.click()
    reading.wait_for_function("async () => (await navigator.clipboard.readText()).includes('ada')")
    assert json.loads(reading.evaluate("navigator.clipboard.readText()")) == {"query": "ada"}


def test_folds_survive_a_reload(reading: Page) -> None:
    reading.locator("#m4-r summary").click()
    reading.locator("#m4-1 summary").click()
    expect(reading.locator("#m4-1-in, #m4-1 .halves").first).to_be_visible()
    reading.locator("#m4-1 > summary").click()
    settle(reading)
    with reading.expect_navigation():
        reading.get_by_role("link", name="Refresh").click()
    expect(reading.locator("#m4-r")).to_have_attribute("open", "")
    expect(reading.locator("#m4-1")).not_to_have_attribute("open", "")


def test_board_and_publish_page_agree_on_pending(page: Page, server: Running) -> None:
    [[page_id, audience_id, waiting]] = execute(server, WITH_CHANGES_WAITING)
    log_in(page, to=f"/pages/{page_id}/audiences/{audience_id}/conversation/")
    board = page.get_by_role("region", name="Pending changes")
    expect(board.get_by_role("heading")).to_have_text(f"Pending changes {waiting}")
    board.get_by_role("link", name="Publish").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"{waiting} pending changes are not in")


def test_a_conversation_is_saved_as_a_file(reading: Page) -> None:
    for kind, holds in {"Markdown": "## 4. Agent", "JSON": '"messages"'}.items():
        with reading.expect_download() as download:
            reading.get_by_role("link", name=kind).click()
        assert holds in Path(download.value.path()).read_text(), kind


def test_hostile_texts_stay_inert(page: Page, story: Story, pytestconfig: pytest.Config) -> None:
    """A run takes a third of the texts, and the longest, which is in a fold that is fetched."""
    sample = sampled(SENDABLE, pytestconfig, turn=0, of=3)
    texts = sorted({*sample, max(SENDABLE, key=len)})

    def message(text: str) -> dict[str, Any]:
        return {
            "messageId": f"msg {text[:99]}",
            "content": text,
            "contentParts": [{"type": "text", "text": text}, {"type": text, "text": text}],
            "reasoning": text,
            "toolCalls": [
                call(name=text, arguments={text[:99]: text}, result={"a": text}, error=text),
                call(result=[{text[:99]: [text]}]),
            ],
            "changes": [{"changeId": text, "previousValue": text, "newValue": f"{text} more"}],
        }

    story.write("messages", [message(text) for text in texts])
    story.write("pending_changes", [{"previousValue": text} for text in texts])
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    log_in(page, to=story.path)
    assert page.locator("li.message").count() == len(texts)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    settle(page)
    expect(page.locator("details[hx-get] .halves").first).to_be_visible()
    expect(page.locator("details[hx-get]:not(:has(.halves))")).to_have_count(0)
    assert dialogs == []
    wide = {}
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        wide[width] = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert {width: over for width, over in wide.items() if over > 0} == {}
    assert page.locator("h1").count() == 1
    assert (
        page.locator("main img, main iframe, main script, main style, main form form").count() == 0
    )


def test_a_conversation_works_without_javascript(story: Story, plain_page: Page) -> None:
    story.write("messages", SHORT)
    page = log_in(plain_page, to=story.path)
    page.get_by_role("link", name="Errors 1").click()
    expect(page.locator("li.message:visible")).to_have_count(2)
    page.goto(story.path)
    page.get_by_label("Search this conversation").fill("reefer")
    page.get_by_label("Search this conversation").press("Enter")
    expect(page.locator("#matches")).to_contain_text("3 matches")
    expect(page.locator("li.message:visible")).to_have_count(2)
    page.goto(story.path)
    page.locator("#m4-1 summary").click()
    page.get_by_role("link", name="Open this call").click()
    expect(page.locator("main")).to_contain_text("a Reefer door")
    page.goto(story.path)
    with page.expect_download() as download:
        page.get_by_role("link", name="Markdown").click()
    assert "reefer" in Path(download.value.path()).read_text()
