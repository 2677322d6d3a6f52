"""The inferred field and state of a change."""

import string
import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dashboard.contract.conversations import Change, Conversation, ConversationContext, ToolCall
from dashboard.contract.resource import read_resource
from dashboard.web.conversations.change_matching import (
    CallTexts,
    ChangeState,
    CurrentTexts,
    MatchedChange,
    match_change,
)
from dashboard.web.conversations.thread import build_thread
from dashboard.web.conversations.tool_calls import ThreadCall
from tests.support import wire

FIELDS = {
    "supplementary context": "current_supplementary_context",
    "meta title": "current_meta_title",
    "meta description": "current_meta_description",
    "meta keywords": "current_meta_keywords",
    "page context": "page_context",
}
NOW = {
    "supplementary context": "Runs 64 trucks out of three depots.",
    "meta title": "Kestrel for Brightwater",
    "meta description": "Alarms that reach the driver first.",
    "meta keywords": "cold chain, reefer",
    "page context": "Every truck on one map.",
}
texts = st.text(min_size=1).filter(lambda text: bool(text.strip()))


def matched(old: str | None, new: str | None, **now: str | None) -> MatchedChange:
    current: dict[str, Any] = {FIELDS[name]: text for name, text in (now or NOW).items()}
    texts = CurrentTexts(ConversationContext(**current))
    return match_change(Change(previous_value=old, new_value=new), texts)


@pytest.mark.parametrize("field", FIELDS)
def test_an_old_text_found_in_a_field_is_ready(field: str) -> None:
    match = matched(NOW[field], "Something else entirely")
    assert (match.state, match.field_label) == (ChangeState.READY, field)


@pytest.mark.parametrize("field", FIELDS)
def test_a_new_text_found_in_a_field_is_applied(field: str) -> None:
    match = matched("What stood there before", NOW[field])
    assert (match.state, match.field_label) == (ChangeState.APPLIED, field)


def test_no_matching_text_means_the_original_changed() -> None:
    match = matched("What stood there before", "What was to stand there")
    assert (match.state, match.fields) == (ChangeState.MOVED, ())


def test_blanks_and_line_breaks_do_not_count() -> None:
    assert matched(" Kestrel\nfor  Brightwater ", "x").fields == ("meta title",)


def test_an_excerpt_is_found_inside_its_field() -> None:
    match = matched("out of three depots", "out of four depots")
    assert (match.state, match.field_label) == (ChangeState.READY, "part of supplementary context")


def test_an_excerpt_that_was_put_in_is_applied() -> None:
    match = matched("64 trucks", "64 trucks out of three depots")
    assert (match.state, match.is_part) == (ChangeState.APPLIED, True)


def test_a_shortened_excerpt_is_ready() -> None:
    assert matched("64 trucks out of three depots", "64 trucks out of").state is ChangeState.READY


def test_a_short_text_is_not_searched_inside_a_field() -> None:
    assert matched("trucks", "lorries").state is ChangeState.MOVED


EMPTY = NOW | {"meta description": None, "meta keywords": "", "supplementary context": ""}


def test_an_empty_old_text_proves_nothing() -> None:
    match = matched("", "A title", **EMPTY)
    assert (match.state, match.fields) == (ChangeState.UNKNOWN, ())


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("update_supplementary_context", {"text": "New words"}, "supplementary context"),
        ("update_supplementary_context", '{"text": "New words"}', "supplementary context"),
        ("updateMetaDescription", {}, "meta description"),
        ("update_audience", {"metaKeywords": "New words"}, "meta keywords"),
        ("update_field", {"field": "meta_description", "to": "New words"}, "meta description"),
    ],
)
def test_the_tool_that_wrote_a_change_names_its_field(
    name: str, arguments: Any, field: str
) -> None:
    change = {"changeId": "1", "previousValue": "", "newValue": "New words"}
    other = {"name": "update_meta_title", "arguments": {"title": "Another text"}}
    call = {"name": name, "arguments": arguments}
    calls = [other, call] if arguments else [call]
    thread = build_thread(
        read_resource(
            Conversation,
            wire.conversation(
                context={"currentMetaTitle": "Kestrel", "pageContext": "Trucks"},
                messages=[{"toolCalls": calls, "changes": [change]}],
                pendingChanges=[change],
            ),
        )
    )
    matches = [thread.messages[0].changes[0].matched, thread.pending[0].matched]
    assert [(match.state, match.field_label) for match in matches] == [
        (ChangeState.READY, field)
    ] * 2


def test_the_tool_counts_more_than_an_equal_text() -> None:
    change = Change(previous_value="Same", new_value="New words")
    call = ToolCall(name="update_meta_title", arguments={"title": "New words"})
    context = ConversationContext(current_meta_title="Other", current_meta_keywords="Same")
    match = match_change(
        change, CurrentTexts(context), calls=CallTexts([ThreadCall(1, call, place="m1-1")])
    )
    assert (match.state, match.field_label) == (ChangeState.MOVED, "meta title")


def test_an_empty_old_text_may_be_applied() -> None:
    match = matched(None, NOW["meta title"], **NOW | {"meta keywords": ""})
    assert (match.state, match.fields) == (ChangeState.APPLIED, ("meta title",))


def test_an_empty_field_does_not_prove_a_deletion() -> None:
    match = matched("Old keywords", "", **NOW | {"meta keywords": ""})
    assert (match.state, match.fields) == (ChangeState.MOVED, ())


def test_a_change_that_changes_nothing_is_applied() -> None:
    assert matched(NOW["meta title"], NOW["meta title"]).state is ChangeState.APPLIED


def test_a_context_without_fields_has_nothing_to_compare() -> None:
    assert matched("a", "b", **dict.fromkeys(FIELDS)).state is ChangeState.UNKNOWN


@given(st.none() | st.text(), st.none() | st.text(), st.lists(st.none() | st.text(), min_size=5))
def test_any_texts_have_a_state_and_only_known_fields(
    old: str | None, new: str | None, now: list[str | None]
) -> None:
    match = matched(old, new, **dict(zip(FIELDS, now, strict=False)))
    assert match.state in ChangeState
    assert set(match.fields) <= set(FIELDS)
    assert bool(match.fields) is (match.state in {ChangeState.READY, ChangeState.APPLIED})


@given(st.sampled_from(list(FIELDS)), texts, texts)
def test_a_ready_change_is_applied_with_its_new_text(field: str, old: str, new: str) -> None:
    assume(old.split() != new.split())
    before = matched(old, new, **NOW | {field: old})
    assert before.state is ChangeState.READY
    assert field in before.fields
    after = matched(old, new, **dict.fromkeys(FIELDS, "") | {field: new})
    assert (after.state, after.fields) == (ChangeState.APPLIED, (field,))


def test_pending_changes_are_counted_by_state() -> None:
    conversation = Conversation.model_validate(
        wire.conversation(
            context={"currentMetaTitle": "A"},
            pendingChanges=[
                {"changeId": "1", "previousValue": "A", "newValue": "B"},
                {"changeId": "2", "previousValue": "Z", "newValue": "A"},
                {"changeId": "3", "previousValue": "Y", "newValue": "X"},
                {"changeId": "4"},
            ],
        )
    )
    assert build_thread(conversation).pending_filters == [
        ("ready", "Ready", 1),
        ("applied", "Applied", 1),
        ("moved", "Original text changed", 1),
        ("unknown", "Can’t compare", 1),
    ]


def test_a_part_is_found_wherever_it_begins() -> None:
    text = string.ascii_letters
    for start in range(len(text) - 12):
        match = matched(text[start : start + 12], "Another text.", **{"page context": text})
        assert (match.state, match.is_part) == (ChangeState.READY, True)


def test_a_thousand_changes_against_a_megabyte_are_cheap() -> None:
    text = "word " * 200_000
    conversation = Conversation.model_validate(
        {
            "conversation": {},
            "pendingChanges": [],
            "context": {"currentSupplementaryContext": text, "pageContext": text},
            "messages": [
                {
                    "messageId": "m1",
                    "toolCalls": [
                        {"name": "edit", "arguments": {"a": f"{n}"}} for n in range(1_000)
                    ],
                    "changes": [
                        {"changeId": f"c{n}", "previousValue": f"an old sentence {n}"}
                        for n in range(1_000)
                    ],
                }
            ],
        },
        by_name=False,
    )
    begun = time.process_time()
    assert build_thread(conversation).changes == 1_000
    # It would take eighteen seconds to split and search each text for each change.
    assert time.process_time() - begun < 2
