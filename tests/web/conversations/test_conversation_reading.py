"""Messages of a thread: each text once, the author by evidence only, idle times."""

from datetime import date, timedelta
from typing import Any

from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.conversations import Conversation
from dashboard.web.conversations.thread import ShownConversation, ShownPart, show_conversation
from tests.support import wire

NOON = 1_772_539_200  # 3 March 2026, 12:00 UTC, in seconds
HOUR = 3_600


def shown(*messages: dict[str, Any], **differs: Any) -> ShownConversation:
    found = wire.conversation(messages=list(messages), **differs)
    return show_conversation(Conversation.model_validate(found))


def parts(**message: Any) -> list[ShownPart]:
    return shown(message).messages[0].parts


def text_part(text: str, kind: str | None = "text") -> dict[str, Any]:
    return {"type": kind, "text": text}


def test_content_that_repeats_its_parts_is_shown_once() -> None:
    found = parts(content="One.\n\nTwo.", contentParts=[text_part("One."), text_part("Two.")])
    assert [part.text for part in found] == ["One.", "Two."]


def test_content_longer_than_its_parts_is_shown_whole() -> None:
    found = parts(content="One. Two. Three.", contentParts=[text_part("One."), text_part("Four.")])
    assert [part.text for part in found] == ["One. Two. Three.", "Four."]


def test_parts_keep_their_order_and_their_types() -> None:
    found = parts(contentParts=[text_part("a"), text_part("b", "chart"), text_part("c", None)])
    assert found == [ShownPart("a"), ShownPart("b", "chart"), ShownPart("c")]


def test_a_part_shows_its_undocumented_fields() -> None:
    [part] = parts(contentParts=[{"type": "image", "text": None, "fileId": "f_1"}])
    assert part == ShownPart(None, "image", {"fileId": "f_1"})


def test_a_part_that_repeats_the_reasoning_is_not_shown_again() -> None:
    found = parts(reasoning="Because.", contentParts=[text_part("Because.", "reasoning")])
    assert found == []


@given(st.lists(st.text(min_size=1).filter(str.strip), max_size=5), st.text())
def test_no_word_of_parts_or_content_is_lost(texts: list[str], content: str) -> None:
    found = parts(content=content, contentParts=[text_part(text) for text in texts])
    seen = "".join("".join((part.text or "").split()) for part in found)
    assert all("".join(text.split()) in seen for text in [*texts, content])


def test_an_agent_is_named_on_evidence_alone() -> None:
    evidence = [
        message.evidence
        for message in shown(
            {"content": "I am the agent."},
            {"reasoning": "Hm."},
            {"toolCalls": [{"name": "x"}], "changes": [{"newValue": "y"}]},
            {"toolCalls": [], "reasoning": "", "changes": None},
        ).messages
    ]
    assert evidence == [[], ["reasoning"], ["tool calls", "changes"], []]


def test_days_and_idle_hours_are_in_the_viewers_zone() -> None:
    with timezone.override("Pacific/Auckland"):  # 13 hours ahead of UTC in March
        found = shown(
            {"timestamp": NOON - 2 * HOUR},
            {"timestamp": NOON - 2 * HOUR + 60},
            {"timestamp": NOON * 1000},
            {"timestamp": None},
            {"timestamp": NOON + 30 * HOUR},
        ).messages
    assert [each.new_day for each in found] == [
        date(2026, 3, 3),
        None,
        date(2026, 3, 4),
        None,
        date(2026, 3, 5),
    ]
    assert [each.idle for each in found] == [
        None,
        None,
        timedelta(seconds=2 * HOUR - 60),
        None,
        timedelta(hours=30),
    ]


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers()))
def test_no_timestamp_is_too_odd(timestamps: list[float | None]) -> None:
    messages = [{"timestamp": None if at is None else float(at % 10**300)} for at in timestamps]
    with timezone.override("Pacific/Kiritimati"):
        assert len(shown(*messages).messages) == len(timestamps)


def test_the_line_follows_the_published_message_and_the_rest_is_counted() -> None:
    found = shown(
        {"messageId": "a", "changes": [{}]},
        {"messageId": "b"},
        {"messageId": "c", "changes": [{}, {}]},
        {"messageId": "a"},
        conversation={"publishedMessageId": "b"},
    )
    assert [each.is_published_line for each in found.messages] == [False, True, False, False]
    assert (len(found.after_line), found.changes_after_line) == (2, 2)


def test_a_published_message_that_is_missing_has_no_line() -> None:
    found = shown({"messageId": "a"}, conversation={"publishedMessageId": "zz"})
    assert (found.published_number, found.published_elsewhere, found.after_line) == (None, True, [])


def test_messages_without_a_unique_id_are_found_by_number() -> None:
    found = shown({"messageId": "a"}, {}, {"messageId": "b"}, {"messageId": "b"}).messages
    assert [each.key for each in found] == ["a", "@2", "@3", "@4"]


def test_a_pending_change_links_to_the_message_that_made_it() -> None:
    found = shown(
        {"content": "x"},
        {"changes": [{"changeId": "c1"}]},
        pendingChanges=[{"changeId": "c1"}, {"changeId": "c2"}, {}],
    )
    made_by = [pending.message.number if pending.message else None for pending in found.pending]
    assert made_by == [2, None, None]
