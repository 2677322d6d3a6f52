"""The conversation page, for anything that the service may return."""

import cProfile
import json
import pstats
import re
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from django.test import Client

from tests.support import wire
from tests.support.clock import stopped
from tests.support.conversation_page import URL, ConversationPage, visible
from tests.support.fake_service import FakeService
from tests.support.hostile_strings import PAYLOADS
from tests.support.html import Element, elements, page_html, page_text, text
from tests.support.matrix import sampled
from tests.support.seeding import seed_audiences

# Conversations are never stored.
pytestmark = pytest.mark.same_on_any_database

MATCHES = {"HX-Request": "true", "HX-Target": "matches"}
AFTER_LIVE = 1_772_400_000
"""A time after the live version was created, in seconds."""
GONE = {"detail": "No conversation."}


@pytest.fixture
def page(as_viewer: Client, fake_service: FakeService) -> ConversationPage:
    """The page of a conversation without messages, in a viewer's browser."""
    return ConversationPage(as_viewer, fake_service)


def message(**fields: Any) -> dict[str, Any]:
    return {"messageId": "msg_1", "content": "Write the context.", "timestamp": 1.7e9} | fields


def call(**fields: Any) -> dict[str, Any]:
    return {"id": "call_1", "name": "find_person", "arguments": {"query": "ada"}} | fields


def test_a_conversation_shows_messages_calls_and_changes_in_order(page: ConversationPage) -> None:
    page.messages = [
        message(),
        message(
            messageId="msg_2",
            content="I **wrote** it.",
            reasoning="They want it short.",
            hasSnapshot=True,
            toolCalls=[call(result={"name": "Ada"}), call(error="404 Not Found")],
            changes=[{"changeId": "chg_1", "previousValue": "64 trucks", "newValue": "71 trucks"}],
        ),
        message(messageId="msg_3", content="And the share that", isInterrupted=True),
    ]
    html = page.open().html
    seen = text(html)
    assert "Agent, message 2 Snapshot" in seen
    assert 'title="Inferred from tool calls, reasoning, changes"' in html
    assert "Reasoning 4 words" in seen
    assert "find_person name: Ada Result" in seen
    assert "find_person 404 Not Found Error" in seen
    assert "<strong>wrote</strong>" in html
    assert re.search("removed: 64 ?inserted: 71 trucks", seen)
    assert seen.index("the share that") < seen.index("Interrupted: the message ends here.")


def test_a_conversation_of_any_length_takes_two_calls(
    page: ConversationPage,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopped(monkeypatch)  # A second later, the audience would be recorded as seen again.
    page.messages = [message(messageId=f"m{n}", toolCalls=[call(result=n)]) for n in range(60)]
    page.data["pendingChanges"] = [{"changeId": str(n), "newValue": str(n)} for n in range(60)]
    page.open()  # records the audience
    page.service.sent.clear()
    with django_assert_max_num_queries(19):
        page.open()
    assert len(page.service.sent) == 2


def test_a_conversation_leaves_nothing_in_the_database(
    page: ConversationPage, django_assert_max_num_queries: Any
) -> None:
    from django.apps import apps

    page.messages = [message(content="A secret of Marisol's", reasoning="Hers")]
    page.data["context"] = {"currentMetaTitle": "Marisol's title"}
    page.open()
    for model in apps.get_models():
        assert "Marisol" not in str(list(model._base_manager.values_list())), model


def test_an_empty_conversation_has_an_empty_state(page: ConversationPage) -> None:
    assert "This conversation has no messages yet." in page.open().text


def test_an_audience_without_conversation_shows_its_name(page: ConversationPage) -> None:
    page.fail(404, json=GONE)
    seen = page.open().text
    assert "No conversation" in seen
    assert "The service lists this audience but has no conversation for it. " in seen
    assert "404: No conversation." in seen
    assert "Brightwater Foods" in seen


def test_an_unlisted_audience_is_not_reported_as_listed(page: ConversationPage) -> None:
    seed_audiences(*page.audiences)
    page.audiences = []
    page.fail(404, json=GONE)
    seen = page.open().text
    assert "The service returned neither this audience nor a conversation for it." in seen
    assert "lists this audience" not in seen


def test_a_deleted_conversation_is_reported(page: ConversationPage) -> None:
    page.fail(410, json=GONE)
    seen = page.open(status=410).text
    assert "Conversation no longer exists" in seen
    assert "starts when someone works" not in seen
    assert "410: No conversation." in seen


def test_a_conversation_of_an_unlisted_audience_is_shown(page: ConversationPage) -> None:
    page.audiences = []
    page.messages = [message()]
    assert "Write the context." in page.open().text


def test_neither_audience_nor_conversation_is_a_404(page: ConversationPage) -> None:
    page.service.answers(404, json={"detail": "Nothing"})
    page.open(status=404)


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (500, "oops", "Service error"),
        (200, "<html>", "can’t be read"),
        (200, '{"messages": 1}', "can’t be read"),
        (401, "{}", "API key rejected"),
    ],
)
def test_a_conversation_that_fails_still_shows_its_audience(
    page: ConversationPage, status: int, body: str, sentence: str
) -> None:
    page.fail(status, text=body)
    seen = page.open(status=502).text
    assert sentence in seen
    assert "Brightwater Foods" in seen
    assert "Pressroom doesn’t store conversations" in seen


def test_an_outage_shows_the_last_known_audience(
    as_publisher: Client, fake_service: FakeService
) -> None:
    page = ConversationPage(as_publisher, fake_service).open()
    fake_service.fails(httpx.ConnectError)
    fake_service.sent.clear()
    seen = page.open(status=504).text
    assert "Showing the last known state" in seen
    assert "Brightwater Foods" in seen
    assert "Pressroom doesn’t store conversations" in seen
    assert 'aria-disabled="true"' in page.html
    assert {request.url.path for request in fake_service.sent} == {"/v0/pages/page_1/audiences"}


def test_a_conversation_of_nulls_and_unknown_fields_is_shown(page: ConversationPage) -> None:
    page.data["conversation"] = {"publishedMessageId": None, "mood": "good"}
    page.data["context"] = {}
    page.messages = [
        {},
        dict.fromkeys(("messageId", "content", "timestamp", "toolCalls", "changes", "reasoning")),
        message(content=""),
        message(toolCalls=[{}, call(name=None, arguments=None, error="")]),
        message(contentParts=[{"type": "file_reference", "fileId": "f_1"}, {"text": "typeless"}]),
        message(changes=[{}], speaker="someone"),
        message(timestamp=-1e300),
    ]
    page.data["pendingChanges"] = [
        {},
        {"changeId": None, "previousValue": None, "newValue": "x"},
    ]
    seen = page.open().text
    assert seen.count("Empty message") == 3
    assert "No result or error." in seen
    assert "Unnamed tool" in seen
    assert "Content of type “file_reference”, raw" in seen
    assert '"fileId": "f_1"' in seen
    assert "typeless" in seen
    assert "Undocumented fields 1" in seen
    assert "Unreadable time" in seen
    assert "Can’t compare" in seen
    assert "Published position unknown." in seen


def test_the_published_line_follows_the_published_message(page: ConversationPage) -> None:
    page.data["conversation"] = {"publishedMessageId": "msg_1"}
    page.messages = [message(), message(messageId="msg_2", changes=[{"newValue": "x"}])]
    page.messages[1]["timestamp"] = AFTER_LIVE
    html = page.open().html
    assert "1 message and 1 change since the last publish." in text(html)
    assert "up to date" not in text(html)
    assert "Conversation 2 (1 new)" in text(html)
    assert html.index('id="m1"') < html.index('id="published"') < html.index('id="m2"')


def test_an_outdated_position_counts_from_the_live_version(page: ConversationPage) -> None:
    page.data["conversation"] = {"publishedMessageId": "msg_1"}
    page.messages = [message(), message(messageId="b"), message(messageId="c")]
    page.messages[2]["timestamp"] = AFTER_LIVE
    html = page.open().html
    assert "1 message and 0 changes since version 1 was created, 1 Mar 09:00." in text(html)
    assert "The published position in the service’s data is out of date." in text(html)
    assert html.index('id="m2"') < html.index('id="published"') < html.index('id="m3"')
    file = page.get("export/?format=markdown").text
    assert "*Version 1, which is live, was created here.*" in file
    assert page.poll().status == 204


def test_a_published_position_that_cannot_be_compared_says_so(page: ConversationPage) -> None:
    page.data["conversation"] = {"publishedMessageId": "msg_1"}
    page.messages = [message(), message(messageId="b", timestamp=None)]
    seen = page.open().text
    assert "since the last publish. Whether this position is up to date is unknown." in seen


def test_pending_changes_are_listed_with_their_states(page: ConversationPage) -> None:
    page.data["context"] = {"currentMetaTitle": "Kestrel", "currentMetaKeywords": "cold chain"}
    page.messages = [message(changes=[{"changeId": "chg_1"}])]
    page.data["pendingChanges"] = [
        {"changeId": "chg_1", "previousValue": "Kestrel", "newValue": "Kestrel Fleet"},
        {"changeId": "chg_2", "previousValue": "reefer", "newValue": "cold chain"},
        {"changeId": "chg_3", "previousValue": "Gone", "newValue": "Never"},
    ]
    board = page.open("?pending=moved").html.split('id="pending"')[1].split("</section>")[0]
    seen = text("<section " + board)
    assert "Pending changes 3" in seen
    assert "Ready meta title" in seen
    assert "Applied meta keywords" in seen
    assert "Original text changed" in seen
    assert "From message 1" in seen
    assert "2 aren’t linked to a message." in seen
    visible_ids = [
        element.attributes["data-kinds"]
        for element in elements(board, "div")
        if "data-kinds" in element.attributes and "hidden" not in element.attributes
    ]
    assert visible_ids == ["moved"]


def test_what_is_inferred_is_said_once_for_the_page(page: ConversationPage) -> None:
    past = {"previousValue": "Gone long ago", "newValue": "Replaced since"}
    page.data["context"] = {"currentMetaTitle": "Kestrel"}
    page.messages = [message(changes=[past, past]), message(messageId="b"), message()]
    page.data["pendingChanges"] = [past, past]
    seen = page.open().text
    assert [seen.count(words) for words in ("inferred", "is unknown.", "linked")] == [1, 1, 1]
    assert seen.count("Overwritten since") == 2
    assert seen.count("Original text changed") == 2  # the pending changes conflict


ODD_MESSAGES: list[dict[str, Any]] = [
    message(toolCalls=[call(arguments='{"depot": "Halden"}')]),
    message(toolCalls=[call(arguments="depot=Halden")]),
    message(toolCalls=[call(arguments=["Halden"])]),
    message(timestamp="2026-11-02T10:00:00Z"),
    message(toolCalls=[call(error={"reason": "Timed out"})]),
    message(content=[{"type": "text", "text": "Hello **there**"}]),
    message(content=None, contentParts=["Hello **again**"]),
]


def test_odd_values_of_a_conversation_are_shown_as_received(page: ConversationPage) -> None:
    page.messages = [*ODD_MESSAGES, "A message that is text"]
    page.data["pendingChanges"] = [{"changeId": "chg_1", "previousValue": {"x": 1}}]
    html = page.open().html
    seen = text(html)
    for words in (
        "Arguments depot Halden JSON",  # as the pairs in the text
        "Sent as JSON text",
        "depot=Halden",
        'reason": "Timed out',
        "timestamp Input should be a valid number",
        "A message that is text",
        "previousValue Input should be a valid string",
        "Can’t compare",
        "1 pending change",
    ):
        assert words in seen, words
    assert html.count("<strong>there</strong>") == html.count("<strong>again</strong>") == 1
    exported = page.get("export/?format=json").json()
    assert exported["messages"] == page.messages
    written = page.get("export/?format=markdown").text
    assert "A message that is text" in written


def test_errors_keep_the_turn_that_caused_them(page: ConversationPage) -> None:
    page.messages = [
        message(messageId="a"),
        message(messageId="b", content="Ask again."),
        message(messageId="c", reasoning="Hm."),
        message(messageId="d", toolCalls=[call(error="No")]),
        message(messageId="e"),
    ]
    assert page.open().visible == ["m1", "m2", "m3", "m4", "m5"]
    assert page.open("?show=errors").visible == ["m2", "m4"]


def test_a_filter_without_a_match_is_reported(page: ConversationPage) -> None:
    page.messages = [message()]
    html = page.open("?show=errors").html
    assert '<p class="none" id="none-left">No messages match.' in html
    assert '<p class="none" id="none-left" hidden>' in page.open().html


def test_changes_only_are_the_messages_that_made_some(page: ConversationPage) -> None:
    page.messages = [message(), message(messageId="b", changes=[{"newValue": "x"}])]
    assert page.open("?show=changes").visible == ["m2"]


def test_a_search_opens_folded_calls_with_matches(page: ConversationPage) -> None:
    page.messages = [
        message(content="Reefer or reefer?"),
        message(messageId="b", content="x", toolCalls=[call(result="x" * 9_000 + " REEFER")]),
        message(messageId="c", content="Nothing of it."),
    ]
    html = page.open("?q=reefer").html
    assert "3 matches for “reefer” in 2 of 3 messages" in text(html)
    assert visible(html) == ["m1", "m2"]
    [fold] = [
        element for element in elements(html, "details") if element.attributes.get("id") == "m2-1"
    ]
    assert "open" in fold.attributes
    assert " REEFER" in html


@pytest.mark.parametrize("words", ["then reefer alarms", "a & b", "two lines"])
def test_a_search_ignores_markup(page: ConversationPage, words: str) -> None:
    page.messages = [message(content="Then **reefer** alarms, *a* & b.\nTwo\nlines.")]
    assert "1 match for" in page.open(f"?q={quote(words)}").text
    assert "No matches" in page.open("?q=**").text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Then re**ef**er alarms", "reefer"),
        ("See [the ree](https://a.example)fer", "reefer"),
        ("A re&#101;fer, caf&eacute;", "reefer, cafe"),
        ("A r\\_ee", "r_ee"),
        ("```\nreefer\n```", "reefer"),
        ("# One\n\n* two", "two"),
    ],
)
def test_markup_inside_a_word_hides_it_from_no_search(
    page: ConversationPage, content: str, words: str
) -> None:
    page.messages = [message(content=content, reasoning=content)]
    assert "2 matches for" in page.open(f"?q={quote(words)}").text


@pytest.mark.parametrize("words", ["kuhl", "KÜHLKETTE", "Ku\u0308hl", "strasse"])
def test_a_search_ignores_case_and_accents(page: ConversationPage, words: str) -> None:
    page.messages = [
        message(content="Die **Kühl**kette, Weserstraße.", toolCalls=[call(result="KÜHLKETTE")]),
        message(messageId="b", toolCalls=[call(result="STRASSE")]),
        message(messageId="c", content="Nothing of it."),
    ]
    assert "2 matches for" in page.open(f"?q={quote(words)}").text


def test_a_search_renders_only_what_may_hold_the_words(page: ConversationPage) -> None:
    page.messages = [message(messageId=f"m{n}", content=f"The **{n}th**") for n in range(50)]
    with cProfile.Profile() as profile:
        page.get("?q=30th", **MATCHES)
    calls = {key[2]: row[0] for key, row in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    assert calls["_markdown_shown"] >= 50
    assert calls["visible_text"] == 1


def test_a_search_by_htmx_returns_the_matches_only(page: ConversationPage) -> None:
    page.messages = [
        message(content="reefer"),
        message(messageId="b", toolCalls=[call()]),
    ]
    answer = page.get("?q=ada", **MATCHES)
    [part] = [e for e in elements(answer.text) if e.attributes.get("id") == "matches"]
    assert part.attributes["data-messages"].split() == ["m2"]
    assert part.attributes["data-calls"] == "m2-1"
    assert b"<html" not in answer.content
    assert "HX-Target" in answer["Vary"]


def test_a_search_without_a_match_is_reported(page: ConversationPage) -> None:
    page.messages = [message()]
    assert "No matches for “zeppelin” in 1 message," in page.open("?q=zeppelin").text
    assert "1 match for “the” in 1 of 1 message " in page.open("?q=the").text
    page.messages = [message(), message(messageId="b")]
    assert "in 2 messages, including tool calls" in page.open("?q=zeppelin").text


def test_a_medium_result_loads_when_opened(page: ConversationPage) -> None:
    page.messages = [message(toolCalls=[call(result={"note": "word " * 2_000})])]
    html = page.open().html
    [fold] = [element for element in elements(html, "details") if "hx-get" in element.attributes]
    assert "word " * 40 not in html
    inside = page_html(page.client, fold.attributes["hx-get"], "m1-1-in")
    assert "word word" in inside
    assert "<html" not in inside
    assert "call 1 of message 1" in page_text(page.client, fold.attributes["hx-get"])


def test_a_large_result_shows_head_size_and_download(page: ConversationPage) -> None:
    rows = {"rows": ["<b>row</b>"] * 20_000}
    page.messages = [message(messageId="m/1", toolCalls=[call(result=rows)])]
    html = page.open("calls/m%252F1/1/").html
    assert re.search(r"Result: start of 25\d\.\d\sKB", text(html))
    assert len(html) < 40_000
    [link] = [
        element for element in elements(html, "a") if "/results/" in element.attributes["href"]
    ]
    file = page.client.get(link.attributes["href"])
    assert json.loads(file.content) == rows
    assert file["Content-Disposition"] == 'attachment; filename="result-1-1.json"'
    assert file["X-Content-Type-Options"] == "nosniff"


def test_a_deep_match_is_shown_with_its_surroundings(page: ConversationPage) -> None:
    rows = ["Straße"] * 20_000
    page.messages = [message(toolCalls=[call(result=[*rows, "a Reefer door", *rows])])]
    html = page.open("?q=reefer").html
    assert "First match" in text(html)
    assert "a Reefer door" in text(html)
    assert "a Reefer door" in page.open("calls/msg_1/1/?q=reefer").text


@pytest.mark.parametrize(
    "address", ["calls/msg_1/2/", "calls/msg_9/1/", "results/msg_1/0/", "results/@9/1/"]
)
def test_a_call_that_is_not_there_is_a_404(page: ConversationPage, address: str) -> None:
    page.messages = [message(toolCalls=[call(result=1)])]
    assert page.get(address).status_code == 404


def test_a_huge_conversation_makes_a_small_page(page: ConversationPage) -> None:
    large = {"rows": [f"row {n} of a long table" for n in range(1_000)]}
    page.messages = [message(messageId=f"m{n}", toolCalls=[call(result=large)]) for n in range(200)]
    assert len(json.dumps(page.data)) > 5_000_000
    assert len(page.open().html) < 700_000


def test_no_field_renders_hostile_text(page: ConversationPage, pytestconfig: pytest.Config) -> None:
    # A run takes a third of them.
    payloads = sampled(PAYLOADS, pytestconfig, turn=0, of=3)
    page.messages = [hostile_message(payload) for payload in payloads]
    page.data["pendingChanges"] = [change for item in page.messages for change in item["changes"]]
    page.data["context"] = dict.fromkeys(
        ("currentSupplementaryContext", "currentMetaTitle", "pageContext"), "\n\n".join(payloads)
    )
    html = page.open().html
    assert len(visible(html)) == len(payloads)
    assert [element for element in elements(html) if not is_ours(element)] == []
    result = page.open("?q=alert").html
    assert [element for element in elements(result) if not is_ours(element)] == []


def hostile_message(payload: str) -> dict[str, Any]:
    return message(
        messageId=payload,
        content=payload,
        contentParts=[{"type": payload, "text": payload, payload: payload}],
        reasoning=payload,
        toolCalls=[
            call(name=payload, arguments={payload: payload}, result=[payload], error=payload),
            call(result={payload: {payload: payload}}),
            call(result=payload),
        ],
        changes=[{"changeId": payload, "previousValue": payload, "newValue": payload + "!"}],
    )


NEVER = ("img", "iframe", "object", "embed", "style", "base", "math", "video", "textarea")


def is_ours(element: Element) -> bool:
    """Return whether our pages may have an element, and it does nothing unintended."""
    if element.tag in NEVER or "style" in element.attributes:
        return False
    if any(name.startswith("on") for name in element.attributes):
        return False
    if element.tag == "script" and not element.attributes.get("src", "").startswith("/static/"):
        return False
    href = element.attributes.get("href", "")
    if href.startswith(("http:", "https:")):
        return "nofollow" in element.attributes["rel"]
    return href.startswith(("/", "../", "#", "?", "mailto:")) or not href


def test_an_export_as_json_is_what_the_service_sent(page: ConversationPage) -> None:
    page.messages = [message(mood="unknown field", toolCalls=[call(result=None)])]
    file = page.get("export/?format=json")
    assert json.loads(file.content) == page.data
    assert file["Content-Disposition"] == 'attachment; filename="conversation.json"'


@pytest.mark.parametrize("moment", ["1700000000000", "1700000000000.5", "1e+300", "-1"])
def test_an_export_writes_a_number_as_the_service_does(page: ConversationPage, moment: str) -> None:
    page.messages = [message(timestamp=json.loads(moment))]
    file = page.get("export/?format=json").text
    assert f'"timestamp": {moment},' in file or f'"timestamp": {moment}\n' in file


def test_a_markdown_export_stays_inside_its_fences(page: ConversationPage) -> None:
    page.data["conversation"] = {"publishedMessageId": "msg_1"}
    page.messages = [
        message(
            content="# Not a heading\nof ours",
            reasoning="Because.",
            toolCalls=[call(result="```\nout"), call(error="404")],
            changes=[{"previousValue": "a", "newValue": "b"}],
            isInterrupted=True,
        )
    ]
    file = page.get("export/?format=markdown")
    written = file.text
    assert file["Content-Type"] == "text/markdown; charset=utf-8"
    assert written.startswith("# Conversation: Brightwater Foods\n\n1 message.\n")
    assert "## 1. Agent (inferred)\n\n2023-11-14 22:13:20 UTC" in written
    assert "> # Not a heading\n> of ours" in written
    assert '````json\n"```\\nout"\n````' in written
    assert "*Published up to here.*" in written


def test_a_name_in_a_markdown_export_is_only_text(page: ConversationPage) -> None:
    name = "<img src=x> ![x](https://evil.example) `a`\nb"
    page.messages = [message(toolCalls=[call(name=name)])]
    written = page.get("export/?format=markdown").text
    assert r"Tool call: \<img src=x> !\[x](https://evil.example) \`a\` b" in written


def test_a_poll_without_news_returns_nothing(page: ConversationPage) -> None:
    page.messages = [message()]
    assert page.open().poll().status == 204


def test_new_messages_are_added_to_the_thread_and_counted(page: ConversationPage) -> None:
    page.messages = [message()]
    page.open()
    page.messages = [message(), message(messageId="b", content="Later.")]
    assert "1 new message." in page.poll().text
    assert page.visible == ["m2"]
    assert page.swapped("thread", "beforeend")
    page.messages = [*page.messages, message(messageId="c")]
    assert "2 new messages." in page.poll().text
    assert page.visible == ["m3"]


def test_first_messages_bring_their_whole_page(page: ConversationPage) -> None:
    places = {element.attributes.get("id") for element in elements(page.open().html)}
    assert {"conversation", "no-messages"} <= places
    page.messages = [message(), message(messageId="b", content="Later.")]
    assert "2 new messages." in page.poll().text
    tools = page.swapped("conversation", "beforebegin")
    [form] = elements(tools, "form")
    assert form.attributes["hx-get"] == URL
    assert "All 2 Errors 0 Changes 0" in text(tools)
    assert visible(page.swapped("no-messages", "beforebegin")) == ["m1", "m2"]
    assert 'hx-swap-oob="delete:#no-messages"' in page.html
    page.messages = [*page.messages, message(messageId="c")]
    assert page.poll().swapped("thread", "beforeend")


def test_new_messages_are_counted_wherever_the_page_counts(page: ConversationPage) -> None:
    page.data["conversation"] = {"publishedMessageId": "msg_1"}
    page.messages = [message()]
    page.open()
    new = message(messageId="b", changes=[{"newValue": "x"}], timestamp=AFTER_LIVE)
    page.messages = [message(), new]
    page.poll("?show=changes&q=a")
    filters = page.swapped("filters")
    assert "Conversation 2 (1 new)" in text(page.swapped("tabs"))
    assert "All 2 Errors 0 Changes 1" in text(filters)
    since = "1 message and 1 change since the last publish."
    assert since in text(page.swapped("published-state"))
    [chosen] = [e for e in elements(filters, "a") if "aria-current" in e.attributes]
    assert chosen.attributes["data-show"] == "changes"
    assert 'href="?q=a"' in filters


def test_changed_messages_are_reported_and_polling_ends(page: ConversationPage) -> None:
    page.messages = [message()]
    page.open()
    page.messages = [message(content="Rewritten."), message(messageId="b")]
    html = page.poll().html
    assert "Messages have changed since you opened this page." in text(html)
    assert visible(html) == []
    assert "data-live-url" not in html


def test_the_head_is_the_same_on_every_tab(page: ConversationPage) -> None:
    """Otherwise the tabs below would jump from page to page."""
    page.messages = [message()]
    page.data["pendingChanges"] = [{"changeId": "chg_1", "newValue": "reefer"}]
    tabs = [URL, URL.replace("conversation/", ""), URL.replace("conversation/", "versions/")]
    pages = [page.client.get(tab).text for tab in tabs]
    # On the overview, the buttons are beside the texts.
    heads = {text(html.split('id="head"')[1].split('id="head-tools"')[0]) for html in pages}
    assert len(heads) == 1
    published = pages[0].split('id="published-state"')[1].split("</p>")[0]
    assert text(published).endswith("1 pending change")
    assert [e.attributes["href"] for e in elements(published, "a")] == ["#pending"]


def test_the_count_of_pending_changes_is_updated(page: ConversationPage) -> None:
    page.messages = [message()]
    page.open()
    page.data["pendingChanges"] = [{"changeId": "chg_1", "newValue": "reefer"}]
    page.poll()
    assert "1 pending change" in text(page.swapped("published-state"))


def test_the_current_text_names_the_live_version(page: ConversationPage) -> None:
    page.data["context"]["currentSupplementaryContext"] = "Runs 71 trucks."
    page.messages = [message()]
    assert "version 2, draft" in page.open().text
    second = {"versionId": "ver_2", "versionNumber": 2, "supplementaryContext": "Runs 71 trucks."}
    live = wire.live_version(**second)
    seed_audiences(wire.audience(latestVersion=live, publishedVersion=live))
    assert "version 2, live" in text(page.poll().swapped("context"))


def test_changed_context_is_rendered_and_announced_once(page: ConversationPage) -> None:
    page.messages = [message()]
    page.open()
    page.data["pendingChanges"] = [{"changeId": "chg_1", "newValue": "reefer"}]
    page.data["context"] = {"currentMetaTitle": "Kestrel"}
    html = page.poll().html
    assert "Pending changes updated: 1 pending." in text(html)
    assert "Context updated" in text(html)
    assert "Pending changes 1" in text(page.swapped("pending"))
    counted = page.swapped("published-state").split("</div>")[0]
    assert text(counted).endswith("1 pending change")
    assert "Kestrel" in text(page.swapped("context"))
    assert page.poll().status == 204


def test_pending_changes_rendered_again_stay_filtered(page: ConversationPage) -> None:
    page.open()
    page.data["pendingChanges"] = [
        {"changeId": "chg_1", "previousValue": "Gone", "newValue": "Never"},
        {"changeId": "chg_2", "previousValue": "Kestrel", "newValue": "Heron"},
    ]
    page.data["context"] = {"currentMetaTitle": "Kestrel"}
    html = page.poll("?pending=moved&q=a").html
    hidden = [
        element.attributes["data-kinds"]
        for element in elements(html, "div")
        if "data-kinds" in element.attributes and "hidden" in element.attributes
    ]
    assert hidden
    assert "moved" not in hidden
    assert 'href="?q=a#pending"' in html


def test_a_changed_published_position_is_reported_with_a_link(page: ConversationPage) -> None:
    page.messages = [message()]
    page.open()
    page.data["conversation"] = {"publishedMessageId": "msg_1"}
    html = page.poll().html
    assert "The published position changed." in text(html)
    assert page.poll().status == 204


def test_a_failed_poll_is_reported_once_and_recovers(page: ConversationPage) -> None:
    page.open()
    page.service.fails(httpx.ConnectError)
    assert "Couldn’t check for new messages." in page.poll().text
    assert page.poll().status == 204
    page.service.answer = page.respond
    assert page.poll().text == ""


@pytest.mark.parametrize("query", ["", "?count=x&since=-1", "?count=99999999999", "?count=5"])
def test_a_poll_with_an_invalid_query_does_not_fail(page: ConversationPage, query: str) -> None:
    page.messages = [message()]
    assert page.get("newer/" + query).status_code == 200


def test_the_conversation_requires_a_sign_in(client: Client, db: None) -> None:
    assert client.get(URL).status_code == 302


def test_publishing_is_offered_to_those_who_may(
    page: ConversationPage, as_publisher: Client
) -> None:
    assert "/versions/ver_2/publish/" not in page.open().html
    assert "/versions/ver_2/publish/" in page_html(as_publisher, URL)


@pytest.mark.parametrize(
    ("current", "named"),
    [
        ("Runs 64 trucks.", "Supplementary context: version 1, live"),
        ("Runs 71 trucks.", "Supplementary context: version 2, draft"),
        ("Runs 80 trucks.", "Supplementary context: of neither the live nor the latest version"),
    ],
)
def test_the_current_text_says_which_version_it_is(
    page: ConversationPage, current: str, named: str
) -> None:
    page.data["context"]["currentSupplementaryContext"] = current
    assert named in page.open().text
