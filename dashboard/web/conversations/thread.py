"""The thread of a conversation: its messages, their content parts and times."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from functools import cached_property
from hashlib import blake2b
from typing import Any

from django.utils import timezone

from dashboard.contract.conversations import Change, Conversation, Message
from dashboard.contract.dates import read_timestamp
from dashboard.web.conversations.change_matching import ChangeState, MatchedChange, match_change
from dashboard.web.conversations.tool_calls import ShownCall

IDLE_AFTER = timedelta(hours=1)


TEXT_PARTS = ("text", None)
"""Types of content parts with Markdown; others are shown raw, under their type."""


@dataclass(frozen=True)
class ShownPart:
    """A content part of a message. `type` is None for plain text or a missing type."""

    text: str | None
    type: str | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """Fields of the part that are not in the spec."""


def _contains(whole: str | None, part: str | None) -> bool:
    """Return whether a text contains another one that is not empty, whitespace aside."""
    needle = "".join((part or "").split())
    return bool(needle) and needle in "".join((whole or "").split())


@dataclass(frozen=True)
class ShownChange:
    """A change that a message made."""

    matched: MatchedChange
    pending_place: str
    """Its HTML id among the pending changes; empty if it is not pending."""


@dataclass(frozen=True)
class ShownMessage:
    """A message of the thread; `number` counts from 1 in the service's order."""

    number: int
    key: str
    """The message's key in a URL: its id, or `@` and its number if it has no unique id."""
    message: Message
    moment: datetime | None
    new_day: date | None
    """The day that begins here, in the user's time zone."""
    idle: timedelta | None
    """The time since the message before, if it is an hour or more."""
    changes: list[ShownChange]
    is_published_line: bool
    """Whether the conversation was published up to this message."""

    @property
    def anchor(self) -> str:
        """The message's HTML id."""
        return f"m{self.number}"

    @property
    def evidence(self) -> list[str]:
        """The fields that show that an agent wrote this; empty if none does."""
        fields = {
            "tool calls": self.message.tool_calls,
            "reasoning": self.message.reasoning,
            "changes": self.message.changes,
        }
        return [name for name, value in fields.items() if value]

    @property
    def is_agent(self) -> bool:
        """Whether there is evidence of an agent."""
        return bool(self.evidence)

    @property
    def reasoning_words(self) -> int:
        """The number of words of the reasoning."""
        return len((self.message.reasoning or "").split())

    @cached_property
    def parts(self) -> list[ShownPart]:
        """Its content, each text once: `content` mostly repeats the parts."""
        parts = [
            ShownPart(
                part.text, None if part.type in TEXT_PARTS else part.type, part.model_extra or {}
            )
            for part in self.message.content_parts or []
            if part.type in TEXT_PARTS or not _contains(self.message.reasoning, part.text)
        ]
        parts = [part for part in parts if part.text or part.type or part.more]
        content = self.message.content
        if not content or _contains("".join(part.text or "" for part in parts), content):
            return parts
        more = [part for part in parts if part.type or not _contains(content, part.text)]
        return [ShownPart(content), *more]

    @cached_property
    def calls(self) -> list[ShownCall]:
        """Its tool calls, in order."""
        calls = self.message.tool_calls or []
        return [
            ShownCall(index, call, place=f"{self.anchor}-{index}")
            for index, call in enumerate(calls, start=1)
        ]

    @property
    def has_error(self) -> bool:
        """Whether a tool call failed."""
        return any(call.outcome == "error" for call in self.calls)

    @property
    def is_blank(self) -> bool:
        """Whether it has no content."""
        return not (self.parts or self.evidence)


@dataclass(frozen=True)
class ShownConversation:
    """A conversation, ready to be rendered."""

    conversation: Conversation
    messages: list[ShownMessage]
    pending: list["PendingChange"]

    @property
    def published_number(self) -> int | None:
        """The number of the message it was published up to, if that is among these."""
        return next((each.number for each in self.messages if each.is_published_line), None)

    @property
    def published_elsewhere(self) -> bool:
        """Whether it was published up to a message that is not among these."""
        named = self.conversation.conversation.published_message_id
        return bool(named) and self.published_number is None

    @property
    def after_line(self) -> list[ShownMessage]:
        """The messages after the published line; none if there is no line."""
        return self.messages[self.published_number :] if self.published_number else []

    @property
    def changes_after_line(self) -> int:
        """The number of changes of the messages after the published line."""
        return sum(len(each.changes) for each in self.after_line)

    @property
    def errors(self) -> int:
        """The number of failed tool calls."""
        return sum(call.outcome == "error" for each in self.messages for call in each.calls)

    @property
    def changes(self) -> int:
        """The number of changes of all messages."""
        return sum(len(each.changes) for each in self.messages)

    @property
    def pending_filters(self) -> list[tuple[str, str, int]]:
        """The states of pending changes, with labels and counts; none if all are the same."""
        counts = Counter(each.matched.state for each in self.pending)
        present = [(each.value, each.label, counts[each]) for each in ChangeState if counts[each]]
        return present if len(present) > 1 else []


@dataclass(frozen=True)
class PendingChange:
    """A pending change, and the message that made it, if known."""

    matched: MatchedChange
    message: ShownMessage | None
    place: str
    """Its HTML id."""


def show_conversation(conversation: Conversation) -> ShownConversation:
    """Prepare a conversation for rendering. Days are those of the current time zone."""
    pending_ids = list(_pending_ids(conversation))
    places = {change.change_id: place for change, place in pending_ids if change.change_id}
    messages = list(_messages(conversation, places))
    makers = {
        made.matched.change.change_id: message for message in messages for made in message.changes
    }
    pending = [
        PendingChange(
            match_change(change, conversation.context),
            makers.get(change.change_id) if change.change_id else None,
            place,
        )
        for change, place in pending_ids
    ]
    return ShownConversation(conversation, messages, pending)


def _pending_ids(conversation: Conversation) -> Iterator[tuple[Change, str]]:
    """Yield the pending changes, each with an HTML id that does not depend on its place."""
    seen: Counter[str] = Counter()
    for change in conversation.pending_changes:
        identity = change.change_id or change.model_dump_json()
        mark = blake2b(identity.encode(errors="replace"), digest_size=4).hexdigest()
        seen[mark] += 1
        yield change, f"pending-{mark}" if seen[mark] == 1 else f"pending-{mark}-{seen[mark]}"


def _messages(conversation: Conversation, pending_places: dict[str, str]) -> Iterator[ShownMessage]:
    ids = Counter(message.message_id for message in conversation.messages)
    published_id = conversation.conversation.published_message_id
    before: datetime | None = None
    for number, message in enumerate(conversation.messages, start=1):
        moment = _sent_at(message)
        own_id = message.message_id if ids[message.message_id] == 1 else None
        day = timezone.localdate(moment) if moment else None
        idle = moment - before if moment and before else None
        is_published_line = bool(published_id) and message.message_id == published_id
        yield ShownMessage(
            number=number,
            key=own_id or f"@{number}",
            message=message,
            moment=moment,
            new_day=None if before and day == timezone.localdate(before) else day,
            idle=idle if idle and idle >= IDLE_AFTER else None,
            changes=[
                ShownChange(
                    match_change(each, conversation.context),
                    pending_places.get(each.change_id or "", ""),
                )
                for each in message.changes or []
            ],
            is_published_line=is_published_line,
        )
        # If messages share the id, the first one has the line.
        published_id = None if is_published_line else published_id
        before = moment or before


def _sent_at(message: Message) -> datetime | None:
    """Return the time of a message; None if its timestamp can't be shown."""
    # The first and the last year of the calendar overflow in some time zones.
    found = read_timestamp(message.timestamp)
    return found if found and MINYEAR < found.year < MAXYEAR else None
