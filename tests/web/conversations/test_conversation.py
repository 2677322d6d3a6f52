"""The conversation page, whatever the service returns."""

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
from tests.support.fake_service import Answer, FakeService
from tests.support.hostile_strings import PAYLOADS
from tests.support.html import Element, elements, response_text, text
from tests.support.matrix import sampled
from tests.support.seeding import seed_audiences

# Conversations are never stored.
pytestmark = pytest.mark.same_on_any_database

URL = "/pages/page_1/audiences/aud_1/conversation/"
FOUND = {"HX-Request": "true", "HX-Target": "found"}
AFTER_LIVE = 1_772_400_000
"""After the live version was created, in seconds."""
COUNTING = ("tabs", "filters", "published-state")
"""The parts of the page that count its messages."""


@pytest.fixture
def conversation(fake_service: FakeService) -> dict[str, Any]:
    """The conversation that the service returns; tests change it."""
    conversation = wire.conversation()

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/messages"):
            # Lone surrogates travel as escapes.
            return httpx.Response(200, text=json.dumps(conversation))
        return httpx.Response(200, json=wire.envelope(wire.audience()))

    fake_service.answer = answer
    return conversation


def message(**fields: Any) -> dict[str, Any]:
    return {"messageId": "msg_1", "content": "Write the context.", "timestamp": 1.7e9} | fields


def call(**fields: Any) -> dict[str, Any]:
    return {"id": "call_1", "name": "find_person", "arguments": {"query": "ada"}} | fields


def read(browser: Client, query: str = "", **headers: Any) -> str:
    answer = browser.get(URL + query, headers=headers or None)
    assert answer.status_code == 200
    return answer.text


def visible(html: str) -> list[str]:
    return [
        element.attributes["id"]
        for element in elements(html, "li")
        if element.attributes.get("class") == "message" and "hidden" not in element.attributes
    ]


def test_a_conversation_shows_messages_calls_and_changes_in_order(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [
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
    html = read(as_viewer)
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
    as_viewer: Client,
    conversation: dict[str, Any],
    fake_service: FakeService,
    django_assert_max_num_queries: Any,
) -> None:
    conversation["messages"] = [
        message(messageId=f"m{n}", toolCalls=[call(result=n)]) for n in range(60)
    ]
    conversation["pendingChanges"] = [{"changeId": str(n), "newValue": str(n)} for n in range(60)]
    read(as_viewer)  # remembers the audience
    fake_service.sent.clear()
    with django_assert_max_num_queries(16):
        read(as_viewer)
    assert len(fake_service.sent) == 2


def test_a_conversation_leaves_nothing_in_the_database(
    as_viewer: Client, conversation: dict[str, Any], django_assert_max_num_queries: Any
) -> None:
    from django.apps import apps

    conversation["messages"] = [message(content="A secret of Marisol's", reasoning="Hers")]
    conversation["context"] = {"currentMetaTitle": "Marisol's title"}
    read(as_viewer)
    for model in apps.get_models():
        assert "Marisol" not in str(list(model._base_manager.values_list())), model


def test_an_empty_conversation_has_an_empty_state(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    assert "This conversation has no messages yet." in text(read(as_viewer))


def test_an_audience_without_conversation_shows_its_name(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = without_conversation(404, wire.audience())
    seen = text(read(as_viewer))
    assert "No conversation" in seen
    assert "The service lists this audience but has no conversation for it. " in seen
    assert "404: No conversation." in seen
    assert "Brightwater Foods" in seen


def test_an_unlisted_audience_is_not_reported_as_listed(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_audiences(wire.audience())
    fake_service.answer = without_conversation(404)
    seen = text(read(as_viewer))
    assert "The service returned neither this audience nor a conversation for it." in seen
    assert "lists this audience" not in seen


def test_a_deleted_conversation_is_reported(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answer = without_conversation(410, wire.audience())
    response = as_viewer.get(URL)
    seen = response_text(response)
    assert response.status_code == 410
    assert "Conversation no longer exists" in seen
    assert "starts when someone works" not in seen
    assert "410: No conversation." in seen


def without_conversation(status: int, *audiences: dict[str, Any]) -> Answer:
    """Return a service that lists these audiences and responds so for any conversation."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/messages"):
            return httpx.Response(status, json={"detail": "No conversation."})
        return httpx.Response(200, json=wire.envelope(*audiences))

    return answer


def test_a_conversation_of_an_unlisted_audience_is_shown(
    as_viewer: Client, fake_service: FakeService
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/messages"):
            return httpx.Response(200, json=wire.conversation(messages=[message()]))
        return httpx.Response(200, json=wire.envelope())

    fake_service.answer = answer
    assert "Write the context." in text(read(as_viewer))


def test_neither_audience_nor_conversation_is_a_404(
    as_viewer: Client, fake_service: FakeService
) -> None:
    assert as_viewer.get(URL).status_code == 404


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (500, "oops", "Service error"),
        (200, "<html>", "can't be read"),
        (200, '{"messages": 1}', "can't be read"),
        (401, "{}", "API key rejected"),
    ],
)
def test_a_conversation_that_fails_still_shows_its_audience(
    as_viewer: Client, fake_service: FakeService, status: int, body: str, sentence: str
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/messages"):
            return httpx.Response(status, text=body)
        return httpx.Response(200, json=wire.envelope(wire.audience()))

    fake_service.answer = answer
    failed = as_viewer.get(URL)
    seen = response_text(failed)
    assert failed.status_code == 502
    assert sentence in seen
    assert "Brightwater Foods" in seen
    assert "Pressroom doesn’t store conversations" in seen


def test_an_outage_shows_the_last_known_audience(
    as_publisher: Client, conversation: dict[str, Any], fake_service: FakeService
) -> None:
    read(as_publisher)
    fake_service.fails(httpx.ConnectError)
    fake_service.sent.clear()
    failed = as_publisher.get(URL)
    seen = response_text(failed)
    assert failed.status_code == 504
    assert "Showing the last known state" in seen
    assert "Brightwater Foods" in seen
    assert "Pressroom doesn’t store conversations" in seen
    assert 'aria-disabled="true"' in failed.text
    assert {request.url.path for request in fake_service.sent} == {"/v0/pages/page_1/audiences"}


def test_a_conversation_of_nulls_and_unknown_fields_is_shown(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["conversation"] = {"publishedMessageId": None, "mood": "good"}
    conversation["context"] = {}
    conversation["messages"] = [
        {},
        dict.fromkeys(("messageId", "content", "timestamp", "toolCalls", "changes", "reasoning")),
        message(content=""),
        message(toolCalls=[{}, call(name=None, arguments=None, error="")]),
        message(contentParts=[{"type": "file_reference", "fileId": "f_1"}, {"text": "typeless"}]),
        message(changes=[{}], speaker="someone"),
        message(timestamp=-1e300),
    ]
    conversation["pendingChanges"] = [
        {},
        {"changeId": None, "previousValue": None, "newValue": "x"},
    ]
    seen = text(read(as_viewer))
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


def test_the_published_line_follows_the_published_message(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["conversation"] = {"publishedMessageId": "msg_1"}
    conversation["messages"] = [message(), message(messageId="msg_2", changes=[{"newValue": "x"}])]
    conversation["messages"][1]["timestamp"] = AFTER_LIVE
    html = read(as_viewer)
    assert "1 message and 1 change since the last publish." in text(html)
    assert "up to date" not in text(html)
    assert "Conversation 2 (1 new)" in text(html)
    assert html.index('id="m1"') < html.index('id="published"') < html.index('id="m2"')


def test_an_outdated_position_counts_from_the_live_version(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["conversation"] = {"publishedMessageId": "msg_1"}
    conversation["messages"] = [message(), message(messageId="b"), message(messageId="c")]
    conversation["messages"][2]["timestamp"] = AFTER_LIVE
    html = read(as_viewer)
    assert "1 message and 0 changes since version 1 was created, 1 Mar 09:00." in text(html)
    assert "The published position in the service’s data is out of date." in text(html)
    assert html.index('id="m2"') < html.index('id="published"') < html.index('id="m3"')
    file = as_viewer.get(URL + "export/?format=markdown").text
    assert "*Version 1, which is live, was created here.*" in file
    poll_url = poll_url_in(html)
    assert as_viewer.get(poll_url).status_code == 204


def test_a_published_position_that_cannot_be_compared_says_so(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["conversation"] = {"publishedMessageId": "msg_1"}
    conversation["messages"] = [message(), message(messageId="b", timestamp=None)]
    seen = text(read(as_viewer))
    assert "since the last publish. Whether this position is up to date is unknown." in seen


def test_pending_changes_are_listed_with_their_states(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["context"] = {"currentMetaTitle": "Kestrel", "currentMetaKeywords": "cold chain"}
    conversation["messages"] = [message(changes=[{"changeId": "chg_1"}])]
    conversation["pendingChanges"] = [
        {"changeId": "chg_1", "previousValue": "Kestrel", "newValue": "Kestrel Fleet"},
        {"changeId": "chg_2", "previousValue": "reefer", "newValue": "cold chain"},
        {"changeId": "chg_3", "previousValue": "Gone", "newValue": "Never"},
    ]
    board = read(as_viewer, "?pending=moved").split('id="pending"')[1].split("</section>")[0]
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


def test_what_is_inferred_is_said_once_for_the_page(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    past = {"previousValue": "Gone long ago", "newValue": "Replaced since"}
    conversation["context"] = {"currentMetaTitle": "Kestrel"}
    conversation["messages"] = [message(changes=[past, past]), message(messageId="b"), message()]
    conversation["pendingChanges"] = [past, past]
    seen = text(read(as_viewer))
    assert [seen.count(words) for words in ("inferred", "is unknown.", "linked")] == [1, 1, 1]
    assert seen.count("Overwritten since") == 2
    assert seen.count("Original text changed") == 2  # the pending ones, which conflict


ODD_MESSAGES: list[dict[str, Any]] = [
    message(toolCalls=[call(arguments='{"depot": "Halden"}')]),
    message(toolCalls=[call(arguments="depot=Halden")]),
    message(toolCalls=[call(arguments=["Halden"])]),
    message(timestamp="2026-11-02T10:00:00Z"),
    message(toolCalls=[call(error={"reason": "Timed out"})]),
    message(content=[{"type": "text", "text": "Hello **there**"}]),
    message(content=None, contentParts=["Hello **again**"]),
]


def test_odd_values_of_a_conversation_are_shown_as_received(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [*ODD_MESSAGES, "A message that is text"]
    conversation["pendingChanges"] = [{"changeId": "chg_1", "previousValue": {"x": 1}}]
    html = read(as_viewer)
    seen = text(html)
    for words in (
        "Arguments depot Halden JSON",  # as the pairs that the text holds
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
    exported = as_viewer.get(f"{URL}export/?format=json").json()
    assert exported["messages"] == conversation["messages"]
    written = as_viewer.get(f"{URL}export/?format=markdown").text
    assert "A message that is text" in written


def test_errors_keep_the_turn_that_caused_them(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [
        message(messageId="a"),
        message(messageId="b", content="Ask again."),
        message(messageId="c", reasoning="Hm."),
        message(messageId="d", toolCalls=[call(error="No")]),
        message(messageId="e"),
    ]
    assert visible(read(as_viewer)) == ["m1", "m2", "m3", "m4", "m5"]
    assert visible(read(as_viewer, "?show=errors")) == ["m2", "m4"]


def test_a_filter_without_a_match_is_reported(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message()]
    html = read(as_viewer, "?show=errors")
    assert '<p class="none" id="none-left">No messages match.' in html
    assert '<p class="none" id="none-left" hidden>' in read(as_viewer)


def test_changes_only_are_the_messages_that_made_some(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message(), message(messageId="b", changes=[{"newValue": "x"}])]
    assert visible(read(as_viewer, "?show=changes")) == ["m2"]


def test_a_search_opens_folded_calls_with_matches(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [
        message(content="Reefer or reefer?"),
        message(messageId="b", content="x", toolCalls=[call(result="x" * 9_000 + " REEFER")]),
        message(messageId="c", content="Nothing of it."),
    ]
    html = read(as_viewer, "?q=reefer")
    assert "3 matches for “reefer” in 2 of 3 messages" in text(html)
    assert visible(html) == ["m1", "m2"]
    [fold] = [
        element for element in elements(html, "details") if element.attributes.get("id") == "m2-1"
    ]
    assert "open" in fold.attributes
    assert " REEFER" in html


@pytest.mark.parametrize("words", ["then reefer alarms", "a & b", "two lines"])
def test_a_search_ignores_markup(
    as_viewer: Client, conversation: dict[str, Any], words: str
) -> None:
    conversation["messages"] = [message(content="Then **reefer** alarms, *a* & b.\nTwo\nlines.")]
    assert "1 match for" in text(read(as_viewer, f"?q={quote(words)}"))
    assert "No matches" in text(read(as_viewer, "?q=**"))


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
    as_viewer: Client, conversation: dict[str, Any], content: str, words: str
) -> None:
    conversation["messages"] = [message(content=content, reasoning=content)]
    assert "2 matches for" in text(read(as_viewer, f"?q={quote(words)}"))


@pytest.mark.parametrize("words", ["kuhl", "KÜHLKETTE", "Ku\u0308hl", "strasse"])
def test_a_search_ignores_case_and_accents(
    as_viewer: Client, conversation: dict[str, Any], words: str
) -> None:
    conversation["messages"] = [
        message(content="Die **Kühl**kette, Weserstraße.", toolCalls=[call(result="KÜHLKETTE")]),
        message(messageId="b", toolCalls=[call(result="STRASSE")]),
        message(messageId="c", content="Nothing of it."),
    ]
    assert "2 matches for" in text(read(as_viewer, f"?q={quote(words)}"))


def test_a_search_renders_only_what_may_hold_the_words(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [
        message(messageId=f"m{n}", content=f"The **{n}th**") for n in range(50)
    ]
    with cProfile.Profile() as profile:
        as_viewer.get(URL + "?q=30th", headers=FOUND)
    calls = {key[2]: row[0] for key, row in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    assert calls["_markdown_shown"] >= 50
    assert calls["visible_text"] == 1


def test_a_search_by_htmx_returns_the_matches_only(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [
        message(content="reefer"),
        message(messageId="b", toolCalls=[call()]),
    ]
    answer = as_viewer.get(URL + "?q=ada", headers=FOUND)
    [part] = [e for e in elements(answer.text) if e.attributes.get("id") == "found"]
    assert part.attributes["data-messages"].split() == ["m2"]
    assert part.attributes["data-calls"] == "m2-1"
    assert b"<html" not in answer.content
    assert "HX-Target" in answer["Vary"]


def test_a_search_without_a_match_is_reported(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message()]
    assert "No matches for “zeppelin” in 1 message," in text(read(as_viewer, "?q=zeppelin"))
    assert "1 match for “the” in 1 of 1 message " in text(read(as_viewer, "?q=the"))
    conversation["messages"] = [message(), message(messageId="b")]
    assert "in 2 messages, including tool calls" in text(read(as_viewer, "?q=zeppelin"))


def test_a_middling_result_comes_when_its_fold_is_opened(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message(toolCalls=[call(result={"note": "word " * 2_000})])]
    html = read(as_viewer)
    [fold] = [element for element in elements(html, "details") if "hx-get" in element.attributes]
    assert "word " * 40 not in html
    inside = as_viewer.get(
        fold.attributes["hx-get"], headers={"HX-Request": "true", "HX-Target": "m1-1-in"}
    )
    assert "word word" in inside.text
    assert b"<html" not in inside.content
    page = as_viewer.get(fold.attributes["hx-get"])
    assert "call 1 of message 1" in response_text(page)


def test_a_large_result_shows_head_size_and_download(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    rows = {"rows": ["<b>row</b>"] * 20_000}
    conversation["messages"] = [message(messageId="m/1", toolCalls=[call(result=rows)])]
    html = read(as_viewer, "calls/m%252F1/1/")
    assert re.search(r"Result: start of 25\d\.\d\sKB", text(html))
    assert len(html) < 40_000
    [link] = [
        element for element in elements(html, "a") if "/results/" in element.attributes["href"]
    ]
    file = as_viewer.get(link.attributes["href"])
    assert json.loads(file.content) == rows
    assert file["Content-Disposition"] == 'attachment; filename="result-1-1.json"'
    assert file["X-Content-Type-Options"] == "nosniff"


def test_a_deep_match_is_shown_with_its_surroundings(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    rows = ["Straße"] * 20_000
    conversation["messages"] = [message(toolCalls=[call(result=[*rows, "a Reefer door", *rows])])]
    html = read(as_viewer, "?q=reefer")
    assert "First match" in text(html)
    assert "a Reefer door" in text(html)
    assert "a Reefer door" in text(read(as_viewer, "calls/msg_1/1/?q=reefer"))


@pytest.mark.parametrize(
    "address", ["calls/msg_1/2/", "calls/msg_9/1/", "results/msg_1/0/", "results/@9/1/"]
)
def test_a_call_that_is_not_there_is_a_404(
    as_viewer: Client, conversation: dict[str, Any], address: str
) -> None:
    conversation["messages"] = [message(toolCalls=[call(result=1)])]
    assert as_viewer.get(URL + address).status_code == 404


def test_a_huge_conversation_makes_a_small_page(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    large = {"rows": [f"row {n} of a long table" for n in range(1_000)]}
    conversation["messages"] = [
        message(messageId=f"m{n}", toolCalls=[call(result=large)]) for n in range(200)
    ]
    assert len(json.dumps(conversation)) > 5_000_000
    assert len(read(as_viewer)) < 700_000


def test_no_field_renders_hostile_text(
    as_viewer: Client, conversation: dict[str, Any], pytestconfig: pytest.Config
) -> None:
    # A run takes a third of them.
    payloads = sampled(PAYLOADS, pytestconfig, turn=0, of=3)
    conversation["messages"] = [hostile_message(payload) for payload in payloads]
    conversation["pendingChanges"] = [
        change for item in conversation["messages"] for change in item["changes"]
    ]
    conversation["context"] = dict.fromkeys(
        ("currentSupplementaryContext", "currentMetaTitle", "pageContext"), "\n\n".join(payloads)
    )
    html = read(as_viewer)
    assert len(visible(html)) == len(payloads)
    assert [element for element in elements(html) if not is_ours(element)] == []
    result = read(as_viewer, "?q=alert")
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
    """Tell whether an element may be on a page of ours, and does nothing that we don't mean."""
    if element.tag in NEVER or "style" in element.attributes:
        return False
    if any(name.startswith("on") for name in element.attributes):
        return False
    if element.tag == "script" and not element.attributes.get("src", "").startswith("/static/"):
        return False
    href = element.attributes.get("href", "")
    if href.startswith(("http:", "https:")):
        return "nofollow" in element.attributes["rel"]
    return href.startswith(("/", "#", "?", "mailto:")) or not href


def test_an_export_as_json_is_what_the_service_sent(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message(mood="unknown field", toolCalls=[call(result=None)])]
    file = as_viewer.get(URL + "export/?format=json")
    assert json.loads(file.content) == conversation
    assert file["Content-Disposition"] == 'attachment; filename="conversation.json"'


@pytest.mark.parametrize("moment", ["1700000000000", "1700000000000.5", "1e+300", "-1"])
def test_an_export_writes_a_number_as_the_service_does(
    as_viewer: Client, conversation: dict[str, Any], moment: str
) -> None:
    conversation["messages"] = [message(timestamp=json.loads(moment))]
    file = as_viewer.get(URL + "export/?format=json").text
    assert f'"timestamp": {moment},' in file or f'"timestamp": {moment}\n' in file


def test_a_markdown_export_stays_inside_its_fences(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["conversation"] = {"publishedMessageId": "msg_1"}
    conversation["messages"] = [
        message(
            content="# Not a heading\nof ours",
            reasoning="Because.",
            toolCalls=[call(result="```\nout"), call(error="404")],
            changes=[{"previousValue": "a", "newValue": "b"}],
            isInterrupted=True,
        )
    ]
    file = as_viewer.get(URL + "export/?format=markdown")
    written = file.text
    assert file["Content-Type"] == "text/markdown; charset=utf-8"
    assert written.startswith("# Conversation: Brightwater Foods\n\n1 message.\n")
    assert "## 1. Agent (inferred)\n\n2023-11-14 22:13:20 UTC" in written
    assert "> # Not a heading\n> of ours" in written
    assert '````json\n"```\\nout"\n````' in written
    assert "*Published up to here.*" in written


def poll_url_in(html: str) -> str:
    [newer] = [element for element in elements(html) if element.attributes.get("id") == "newer"]
    return newer.attributes["hx-get"]


def test_a_poll_without_news_returns_nothing(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message()]
    assert as_viewer.get(poll_url_in(read(as_viewer))).status_code == 204


def test_new_messages_are_added_to_the_thread_and_counted(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message()]
    poll_url = poll_url_in(read(as_viewer))
    conversation["messages"] = [message(), message(messageId="b", content="Later.")]
    first = as_viewer.get(poll_url).text
    assert "1 new message." in text(first)
    assert visible(first) == ["m2"]
    assert 'hx-swap-oob="beforeend:#thread"' in first
    conversation["messages"] = [*conversation["messages"], message(messageId="c")]
    second = as_viewer.get(poll_url_in(first)).text
    assert "2 new messages." in text(second)
    assert visible(second) == ["m3"]


def test_first_messages_bring_their_whole_page(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    html = read(as_viewer)
    places = {element.attributes.get("id") for element in elements(html)}
    assert {"talk", "no-messages"} <= places
    conversation["messages"] = [message(), message(messageId="b", content="Later.")]
    newer = as_viewer.get(poll_url_in(html)).text
    tools = newer.split('hx-swap-oob="beforebegin:#talk"')[1]
    [form] = elements(tools, "form")
    assert form.attributes["hx-get"] == URL
    assert "All 2 Errors 0 Changes 0" in text(tools)
    assert visible(newer.split('hx-swap-oob="beforebegin:#no-messages"')[1]) == ["m1", "m2"]
    assert 'hx-swap-oob="delete:#no-messages"' in newer
    assert "2 new messages." in text(newer)
    conversation["messages"].append(message(messageId="c"))
    assert 'hx-swap-oob="beforeend:#thread"' in as_viewer.get(poll_url_in(newer)).text


def test_new_messages_are_counted_wherever_the_page_counts(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["conversation"] = {"publishedMessageId": "msg_1"}
    conversation["messages"] = [message()]
    poll_url = poll_url_in(read(as_viewer))
    new = message(messageId="b", changes=[{"newValue": "x"}], timestamp=AFTER_LIVE)
    conversation["messages"] = [message(), new]
    page = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{URL}?show=changes&q=a"}
    html = as_viewer.get(poll_url, headers=page).text
    parts = {name: html.split(f'hx-swap-oob="morph:#{name}"')[1] for name in COUNTING}
    assert "Conversation 2 (1 new)" in text(parts["tabs"])
    assert "All 2 Errors 0 Changes 1" in text(parts["filters"])
    assert "1 message and 1 change since the last publish." in text(parts["published-state"])
    [chosen] = [e for e in elements(parts["filters"], "a") if "aria-current" in e.attributes]
    assert chosen.attributes["data-show"] == "changes"
    assert 'href="?q=a"' in parts["filters"]


def test_changed_messages_are_reported_and_polling_ends(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message()]
    poll_url = poll_url_in(read(as_viewer))
    conversation["messages"] = [message(content="Rewritten."), message(messageId="b")]
    html = as_viewer.get(poll_url).text
    assert "Messages have changed since you opened this page." in text(html)
    assert visible(html) == []
    assert "hx-get" not in html


def test_the_head_is_the_same_on_every_tab(as_viewer: Client, conversation: dict[str, Any]) -> None:
    """Else the tabs below it jump from one to the other."""
    conversation["messages"] = [message()]
    conversation["pendingChanges"] = [{"changeId": "chg_1", "newValue": "reefer"}]
    tabs = [URL, URL.replace("conversation/", ""), URL.replace("conversation/", "versions/")]
    pages = [as_viewer.get(tab).text for tab in tabs]
    # The overview has the buttons beside its texts.
    heads = {text(html.split('id="head"')[1].split('id="head-tools"')[0]) for html in pages}
    assert len(heads) == 1
    published = pages[0].split('id="published-state"')[1].split("</p>")[0]
    assert text(published).endswith("1 pending change")
    assert [e.attributes["href"] for e in elements(published, "a")] == ["#pending"]


def test_the_count_of_pending_changes_is_updated(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message()]
    poll_url = poll_url_in(read(as_viewer))
    conversation["pendingChanges"] = [{"changeId": "chg_1", "newValue": "reefer"}]
    html = as_viewer.get(poll_url).text
    assert "1 pending change" in text(html.split('hx-swap-oob="morph:#published-state"')[1])


def test_the_current_text_names_the_live_version(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["context"]["currentSupplementaryContext"] = "Runs 71 trucks."
    conversation["messages"] = [message()]
    page = read(as_viewer)
    assert "version 2, draft" in text(page)
    second = {"versionId": "ver_2", "versionNumber": 2, "supplementaryContext": "Runs 71 trucks."}
    live = wire.live_version(**second)
    seed_audiences(wire.audience(latestVersion=live, publishedVersion=live))
    part = as_viewer.get(poll_url_in(page)).text
    assert "version 2, live" in text(part.split('hx-swap-oob="morph:#context"')[1])


def test_changed_context_is_rendered_and_announced_once(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message()]
    poll_url = poll_url_in(read(as_viewer))
    conversation["pendingChanges"] = [{"changeId": "chg_1", "newValue": "reefer"}]
    conversation["context"] = {"currentMetaTitle": "Kestrel"}
    html = as_viewer.get(poll_url).text
    assert "Pending changes updated: 1 pending." in text(html)
    assert "Context updated" in text(html)
    assert "Pending changes 1" in text(html.split('hx-swap-oob="morph:#pending"')[1])
    counted = html.split('hx-swap-oob="morph:#published-state"')[1].split("</div>")[0]
    assert text(counted).endswith("1 pending change")
    assert "Kestrel" in text(html.split('hx-swap-oob="morph:#context"')[1])
    assert as_viewer.get(poll_url_in(html)).status_code == 204


def test_pending_changes_rendered_again_stay_filtered(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    poll_url = poll_url_in(read(as_viewer))
    conversation["pendingChanges"] = [
        {"changeId": "chg_1", "previousValue": "Gone", "newValue": "Never"},
        {"changeId": "chg_2", "previousValue": "Kestrel", "newValue": "Heron"},
    ]
    conversation["context"] = {"currentMetaTitle": "Kestrel"}
    page = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{URL}?pending=moved&q=a"}
    html = as_viewer.get(poll_url, headers=page).text
    hidden = [
        element.attributes["data-kinds"]
        for element in elements(html, "div")
        if "data-kinds" in element.attributes and "hidden" in element.attributes
    ]
    assert hidden
    assert "moved" not in hidden
    assert 'href="?q=a#pending"' in html


def test_a_changed_published_position_is_reported_with_a_link(
    as_viewer: Client, conversation: dict[str, Any]
) -> None:
    conversation["messages"] = [message()]
    poll_url = poll_url_in(read(as_viewer))
    conversation["conversation"] = {"publishedMessageId": "msg_1"}
    html = as_viewer.get(poll_url).text
    assert "The published position changed." in text(html)
    assert as_viewer.get(poll_url_in(html)).status_code == 204


def test_a_failed_poll_is_reported_once_and_recovers(
    as_viewer: Client, conversation: dict[str, Any], fake_service: FakeService
) -> None:
    poll_url = poll_url_in(read(as_viewer))
    answer = fake_service.answer
    fake_service.fails(httpx.ConnectError)
    failed = as_viewer.get(poll_url).text
    assert "Couldn’t check for new messages." in text(failed)
    assert as_viewer.get(poll_url_in(failed)).status_code == 204
    fake_service.answer = answer
    assert response_text(as_viewer.get(poll_url_in(failed))) == ""


@pytest.mark.parametrize("query", ["", "?count=x&since=-1", "?count=99999999999", "?count=5"])
def test_a_poll_with_an_invalid_query_does_not_fail(
    as_viewer: Client, conversation: dict[str, Any], query: str
) -> None:
    conversation["messages"] = [message()]
    assert as_viewer.get(URL + "newer/" + query).status_code == 200


def test_the_conversation_requires_a_sign_in(client: Client, db: None) -> None:
    assert client.get(URL).status_code == 302


def test_publishing_is_offered_to_those_who_may(
    as_viewer: Client, as_publisher: Client, conversation: dict[str, Any]
) -> None:
    assert "/versions/ver_2/publish/" not in read(as_viewer)
    assert "/versions/ver_2/publish/" in read(as_publisher)


@pytest.mark.parametrize(
    ("current", "named"),
    [
        ("Runs 64 trucks.", "Supplementary context: version 1, live"),
        ("Runs 71 trucks.", "Supplementary context: version 2, draft"),
        ("Runs 80 trucks.", "Supplementary context: of neither the live nor the latest version"),
    ],
)
def test_the_current_text_says_which_version_it_is(
    current: str, named: str, conversation: dict[str, Any], as_viewer: Client
) -> None:
    conversation["context"]["currentSupplementaryContext"] = current
    assert named in text(read(as_viewer))
