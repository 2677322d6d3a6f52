"""A tool call in one line, and how much of it is shown."""

import json
from typing import Any

import pytest
from hypothesis import given

from dashboard.contract.conversations import ToolCall
from dashboard.web.conversations.tool_calls import (
    MAX_LINE,
    MAX_PAIRS,
    ThreadCall,
    readable_pairs,
    size_of,
    summarize,
)
from tests.support.highlighted_json import JSON


def call(**fields: Any) -> ThreadCall:
    return ThreadCall(1, ToolCall.model_validate(fields), "m1-1")


@pytest.mark.parametrize(
    ("result", "line"),
    [
        ([], "Empty list"),
        (["a"], "1 item, first: a"),
        ([{"a": 1}, 2], "2 items, first: 1 field"),
        ({}, "Empty object"),
        ({"name": "Ada"}, "name: Ada"),
        ({"rows": [1, 2], "more": True, "next": None}, "rows: 2 items (and 2 more)"),
        ("two\nlines", "two lines"),
        ("", "Empty text"),
        (None, "null"),
        (False, "false"),
        (12, "12"),
    ],
)
def test_a_result_is_summarized_by_count_and_first_item(result: Any, line: str) -> None:
    assert summarize(result) == line


@given(JSON)
def test_a_summary_is_one_short_line_of_anything(value: Any) -> None:
    line = summarize(value)
    assert "\n" not in line
    assert len(line) < MAX_LINE + 60


def test_an_error_is_the_summary_even_beside_a_result() -> None:
    result = call(error="404\nNot Found", result={"a": 1})
    assert (result.outcome, result.summary) == ("error", "404 Not Found")


def test_a_null_result_is_a_result() -> None:
    assert call(result=None).outcome == "result"
    assert call(error="").outcome == "none"


def test_nested_values_are_pairs_by_their_paths() -> None:
    value = {"replace": {"depots": ["Leeds", ""], "note": "a\nb", "old": None, "more": {}}}
    assert [(pair.path, pair.text, pair.is_word) for pair in readable_pairs(value)] == [
        ("replace.depots.0", "Leeds", False),
        ("replace.depots.1", "Empty text", True),
        ("replace.note", "a\nb", False),
        ("replace.old", "null", True),
        ("replace.more", "Empty object", True),
    ]


def test_false_and_zero_are_values_and_not_our_words() -> None:
    assert [pair.is_word for pair in readable_pairs({"a": False, "b": 0})] == [False, False]


@pytest.mark.parametrize("value", [{str(n): n for n in range(MAX_PAIRS + 1)}, {"k" * 49: 1}, [1]])
def test_what_reads_better_as_json_has_no_pairs(value: Any) -> None:
    assert readable_pairs(value) == []


@given(JSON)
def test_a_size_is_that_of_the_json_in_bytes(value: Any) -> None:
    assert size_of(value) == len(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    )


def test_above_100_kb_the_head_is_shown() -> None:
    assert not call(result="x" * 99_000).is_large
    large = call(result={"rows": ["x" * 1_000] * 200})
    assert large.is_large
    assert large.result_head.startswith('{\n  "rows": [\n    "xxx')
    assert len(large.result_head) == 2_000
