"""Messages of a thread: each text once, authors only by evidence, idle times."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.conversations import Conversation
from dashboard.web.conversations.thread import ConversationThread, Marker, ThreadPart, build_thread
from tests.support import wire

NOON = 1_772_539_200  # 3 March 2026, 12:00 UTC, in seconds
HOUR = 3_600


def thread_of(
    *messages: dict[str, Any], live: dict[str, Any] | None = None, **differs: Any
) -> ConversationThread:
    conversation = Conversation.model_validate(
        wire.conversation(messages=list(messages), **differs)
    )
    version = AudienceVersion.model_validate(wire.version(**live)) if live else None
    return build_thread(conversation, live=version)


def parts(**message: Any) -> list[ThreadPart]:
    return thread_of(message).messages[0].parts


def text_part(text: str, kind: str | None = "text") -> dict[str, Any]:
    return {"type": kind, "text": text}


def test_content_that_repeats_its_parts_is_shown_once() -> None:
    shown_parts = parts(content="One.\n\nTwo.", contentParts=[text_part("One."), text_part("Two.")])
    assert [part.text for part in shown_parts] == ["One.", "Two."]


def test_content_longer_than_its_parts_is_shown_whole() -> None:
    shown_parts = parts(
        content="One. Two. Three.", contentParts=[text_part("One."), text_part("Four.")]
    )
    assert [part.text for part in shown_parts] == ["One. Two. Three.", "Four."]


def test_parts_keep_their_order_and_their_types() -> None:
    shown_parts = parts(
        contentParts=[text_part("a"), text_part("b", "chart"), text_part("c", None)]
    )
    assert shown_parts == [ThreadPart("a"), ThreadPart("b", "chart"), ThreadPart("c")]


def test_a_part_shows_its_undocumented_fields() -> None:
    [part] = parts(contentParts=[{"type": "image", "text": None, "fileId": "f_1"}])
    assert part == ThreadPart(None, "image", {"fileId": "f_1"})


def test_a_part_repeating_the_reasoning_is_hidden() -> None:
    shown_parts = parts(reasoning="Because.", contentParts=[text_part("Because.", "reasoning")])
    assert shown_parts == []


@given(st.lists(st.text(min_size=1).filter(str.strip), max_size=5), st.text())
def test_no_word_of_parts_or_content_is_lost(texts: list[str], content: str) -> None:
    shown_parts = parts(content=content, contentParts=[text_part(text) for text in texts])
    seen = "".join("".join((part.text or "").split()) for part in shown_parts)
    assert all("".join(text.split()) in seen for text in [*texts, content])


def test_an_agent_is_named_on_evidence_alone() -> None:
    evidence = [
        message.evidence
        for message in thread_of(
            {"content": "I am the agent."},
            {"reasoning": "Hm."},
            {"toolCalls": [{"name": "x"}], "changes": [{"newValue": "y"}]},
            {"toolCalls": [], "reasoning": "", "changes": None},
        ).messages
    ]
    assert evidence == [[], ["reasoning"], ["tool calls", "changes"], []]


def test_days_and_idle_hours_are_in_the_viewers_zone() -> None:
    with timezone.override("Pacific/Auckland"):  # 13 hours ahead of UTC in March
        result = thread_of(
            {"timestamp": NOON - 2 * HOUR},
            {"timestamp": NOON - 2 * HOUR + 60},
            {"timestamp": NOON * 1000},
            {"timestamp": None},
            {"timestamp": NOON + 30 * HOUR},
        ).messages
    assert [item.new_day for item in result] == [
        date(2026, 3, 3),
        None,
        date(2026, 3, 4),
        None,
        date(2026, 3, 5),
    ]
    assert [item.idle for item in result] == [
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
        assert len(thread_of(*messages).messages) == len(timestamps)


def test_the_line_follows_the_published_message() -> None:
    result = thread_of(
        {"messageId": "a", "changes": [{}]},
        {"messageId": "b"},
        {"messageId": "c", "changes": [{}, {}]},
        {"messageId": "a"},
        conversation={"publishedMessageId": "b"},
    )
    assert [message.line for message in result.messages] == ["", "Published up to here", "", ""]
    assert (len(result.after_line), result.changes_after_line) == (2, 2)


def sent_hourly(count: int) -> list[dict[str, Any]]:
    return [{"messageId": f"m{n}", "timestamp": NOON + n * HOUR} for n in range(count)]


def test_a_marker_with_no_later_message_is_current() -> None:
    conversation = thread_of(
        *sent_hourly(4),
        live={"createdAt": "2026-03-03T13:30:00Z"},
        conversation={"publishedMessageId": "m1"},
    )
    assert conversation.line.marker is Marker.CURRENT
    assert (conversation.line.number, len(conversation.after_line)) == (2, 2)


def test_an_outdated_marker_yields_to_the_live_version() -> None:
    conversation = thread_of(
        *sent_hourly(4),
        live={"createdAt": "2026-03-03T14:30:00Z", "versionNumber": 7},
        conversation={"publishedMessageId": "m0"},
    )
    assert conversation.line.marker is Marker.OUTDATED
    assert (conversation.line.number, len(conversation.after_line)) == (3, 1)
    assert conversation.messages[2].line == "Version 7, which is live, was created here"


@pytest.mark.parametrize(
    ("live", "timestamp"),
    [
        (None, NOON + HOUR),
        ({"createdAt": "yesterday"}, NOON + HOUR),
        ({"createdAt": "2026-03-03T12:30:00Z"}, None),
        ({"createdAt": "2026-03-03T12:30:00Z"}, 1e300),
    ],
)
def test_a_marker_without_readable_times_is_uncertain(
    live: dict[str, Any] | None, timestamp: float | None
) -> None:
    conversation = thread_of(
        *sent_hourly(1),
        {"messageId": "b", "timestamp": timestamp},
        live=live,
        conversation={"publishedMessageId": "m0"},
    )
    assert (conversation.line.number, conversation.line.marker) == (1, Marker.UNCERTAIN)


def test_a_marker_at_the_end_is_current_without_times() -> None:
    conversation = thread_of({"messageId": "a"}, conversation={"publishedMessageId": "a"})
    assert conversation.line.marker is Marker.CURRENT


def test_a_published_message_that_is_missing_has_no_line() -> None:
    result = thread_of({"messageId": "a"}, conversation={"publishedMessageId": "zz"})
    assert result.line.number is None
    assert result.published_elsewhere
    assert result.after_line == []


def test_messages_without_a_unique_id_are_found_by_number() -> None:
    result = thread_of({"messageId": "a"}, {}, {"messageId": "b"}, {"messageId": "b"}).messages
    assert [item.key for item in result] == ["a", "@2", "@3", "@4"]


def test_a_pending_change_links_to_its_message() -> None:
    result = thread_of(
        {"content": "x"},
        {"changes": [{"changeId": "c1"}]},
        pendingChanges=[{"changeId": "c1"}, {"changeId": "c2"}, {}],
    )
    made_by = [pending.message.number if pending.message else None for pending in result.pending]
    assert made_by == [2, None, None]
