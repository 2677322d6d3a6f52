"""Exports of a conversation with its verdicts and comments, which Pressroom records."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils import timezone

from dashboard.comments.models import Comment, TargetKind
from dashboard.comments.queries import threads_of
from dashboard.contract.conversations import Change, Conversation
from dashboard.live.presence import place_of
from dashboard.review.verdicts import JudgedChange
from dashboard.web.conversations.thread import ConversationThread, ThreadMessage
from dashboard.web.conversations.tool_calls import ThreadCall
from dashboard.web.ui.highlighting import pretty_json


def comments_in(page_id: str, audience_id: str) -> list[Comment]:
    """Return the comments on messages and changes with their threads, in three queries."""
    kinds = (TargetKind.MESSAGE, TargetKind.CHANGE)
    threads = threads_of(place_of("audience", page_id, audience_id), kinds=kinds)
    return [line for thread in threads for line in thread.lines if line.body]


def to_json(
    conversation: Conversation, *, verdicts: Mapping[str, JudgedChange], comments: Sequence[Comment]
) -> dict[str, Any]:
    """Return the conversation as received, with `pressroom` if there are verdicts or comments."""
    recorded = {
        "verdicts": [
            {
                "change": judged.key,
                "verdict": judged.verdict.verdict,
                "note": judged.verdict.note,
                "by": judged.verdict.user_name,
                "at": judged.verdict.at,
                "is_old": judged.is_old,
            }
            for judged in verdicts.values()
            if judged.verdict
        ],
        "comments": [
            {
                "on": comment.thread.kind,
                "id": comment.thread.object_id,
                "is_open": comment.thread.is_open,
                "by": comment.author_name,
                "at": comment.created_at,
                "text": comment.body,
            }
            for comment in comments
        ],
    }
    return conversation.as_received() | ({"pressroom": recorded} if any(recorded.values()) else {})


def to_markdown(
    conversation: ConversationThread,
    *,
    title: str,
    verdicts: Mapping[str, JudgedChange],
    comments: Sequence[Comment],
) -> str:
    """Return the conversation as Markdown. Texts of the service and of users are fenced or quoted.

    Times are in the current time zone.
    """
    count = len(conversation.messages)
    blocks = [f"# Conversation: {_one_line(title)}", f"{count} message{'' if count == 1 else 's'}."]
    for message in conversation.messages:
        blocks += _message(message)
    blocks.append(f"## Pending changes: {len(conversation.pending)}")
    for pending in conversation.pending:
        field = pending.matched.field_label
        blocks.append(f"Inferred status: {pending.matched.state}{f', {field}' if field else ''}.")
        blocks += _verdict(verdicts[pending.place])
        blocks += _change(pending.matched.change)
    if comments:
        blocks.append(f"## Comments: {len(comments)}")
    for comment in comments:
        thread = comment.thread
        blocks.append(
            f"{_one_line(comment.author_name)} on {thread.kind} {_one_line(thread.object_id)}, "
            f"{timezone.localtime(comment.created_at):%Y-%m-%d %H:%M:%S %Z}"
        )
        blocks.append(_quoted(comment.body))
    return "\n\n".join(blocks) + "\n"


def _verdict(judged: JudgedChange) -> Iterator[str]:
    if verdict := judged.verdict:
        note = f": {_one_line(verdict.note).removesuffix('.')}" if verdict.note else ""
        old = " Its text has changed since." if judged.is_old else ""
        yield f"{verdict.get_verdict_display()} by {_one_line(verdict.user_name)}{note}.{old}"


def _message(message: ThreadMessage) -> Iterator[str]:
    yield f"## {message.number}. {'Agent (inferred)' if message.is_agent else 'Author unknown'}"
    when = timezone.localtime(message.moment) if message.moment else None
    yield f"{when:%Y-%m-%d %H:%M:%S %Z}" if when else "Time unknown"
    if message.message.reasoning:
        yield f"Reasoning:\n\n{_quoted(message.message.reasoning)}"
    for call in message.calls:
        yield from _call(call)
    for part in message.parts:
        named = f"Content of type {_one_line(part.type)}:\n\n" if part.type else ""
        yield named + _quoted(part.text or "(no text)")
    for change in message.changes:
        yield from _change(change.matched.change)
    yield from _unreadable(message)
    if message.message.is_interrupted:
        yield "*Interrupted: the message ends here.*"
    if message.line:
        yield f"---\n\n*{message.line}.*"


def _unreadable(message: ThreadMessage) -> Iterator[str]:
    if message.is_blank and not message.unreadable:
        yield "Empty message."
    for value in message.unreadable:
        received = _fenced(pretty_json(value.raw), "json")
        yield f"Could not be read ({_one_line(value.path)}), as received:\n\n{received}"


def _call(call: ThreadCall) -> Iterator[str]:
    yield f"Tool call: {_one_line(call.name or 'unnamed')}"
    if call.arguments:
        yield "Arguments:\n\n" + _fenced(pretty_json(call.arguments), "json")
    if call.error:
        yield "Error:\n\n" + _fenced(call.error_text)
    if call.outcome == "result":
        yield "Result:\n\n" + _fenced(pretty_json(call.result), "json")
    if call.outcome == "none":
        yield "No result."


def _change(change: Change) -> Iterator[str]:
    yield "Old text:\n\n" + _fenced(change.previous_value or "")
    yield "New text:\n\n" + _fenced(change.new_value or "")


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _fenced(text: str, language: str = "") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _one_line(text: str) -> str:
    """Return a name in one line, with no link, picture, code or HTML."""
    return re.sub(r"[\\`<\[]", r"\\\g<0>", " ".join(text.split()))
