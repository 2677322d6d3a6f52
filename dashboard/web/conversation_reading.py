"""A conversation as it is read: what each message holds, who may have spoken, where time passed.

Pure: nothing is asked, nothing is kept. The spec gives the fields' names and types alone; what is
made of them is our choice (DESIGN.md, What the dashboard makes of the silences).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from hashlib import blake2b

from dashboard.contract.conversations import Change, Conversation, Message
from dashboard.web.change_matching import MatchedChange, count_states, match_change
from dashboard.web.message_parts import ShownPart, shown_parts
from dashboard.web.message_times import idle_time, new_day, sent_at
from dashboard.web.tool_calls import ShownCall


@dataclass(frozen=True)
class ShownChange:
    """A change that a message made."""

    matched: MatchedChange
    board_place: str
    """Where it stands among those that wait; empty where it does not."""

    @property
    def change(self) -> Change:
        """The change as sent."""
        return self.matched.change


@dataclass(frozen=True)
class ShownMessage:
    """A message in its place; `number` counts from 1 in the service's order."""

    number: int
    key: str
    """The message in an address: its id, or `@` and its number where no id tells it apart."""
    message: Message
    moment: datetime | None
    new_day: date | None
    """The day that begins here, in the reader's zone."""
    idle: timedelta | None
    """How long nothing was said before, when that is an hour or more."""
    changes: list[ShownChange]
    is_published_line: bool
    """Whether the conversation was published up to this message."""

    @property
    def anchor(self) -> str:
        """The message's place in the page."""
        return f"m{self.number}"

    @property
    def evidence(self) -> list[str]:
        """What shows that an agent wrote this; empty where nothing does."""
        found = {
            "tool calls": self.message.tool_calls,
            "reasoning": self.message.reasoning,
            "changes": self.message.changes,
        }
        return [name for name, held in found.items() if held]

    @property
    def is_agent(self) -> bool:
        """Whether there is evidence of an agent."""
        return bool(self.evidence)

    @property
    def reasoning_words(self) -> int:
        """How many words the reasoning has."""
        return len((self.message.reasoning or "").split())

    @cached_property
    def parts(self) -> list[ShownPart]:
        """What the message says, each text once."""
        return shown_parts(self.message)

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
        """Whether there is nothing to read in it."""
        return not (self.parts or self.evidence)


@dataclass(frozen=True)
class ShownConversation:
    """A conversation, ready to be drawn."""

    conversation: Conversation
    messages: list[ShownMessage]
    pending: list["PendingChange"]

    @property
    def published_number(self) -> int | None:
        """The number of the message it was published up to, where it is among these."""
        return next((each.number for each in self.messages if each.is_published_line), None)

    @property
    def published_elsewhere(self) -> bool:
        """Whether it was published up to a message that is not among these."""
        named = self.conversation.conversation.published_message_id
        return bool(named) and self.published_number is None

    @property
    def after_line(self) -> list[ShownMessage]:
        """The messages after the line; none where there is no line."""
        return self.messages[self.published_number :] if self.published_number else []

    @property
    def changes_after_line(self) -> int:
        """How many changes the messages after the line hold."""
        return sum(len(each.changes) for each in self.after_line)

    @property
    def errors(self) -> int:
        """How many tool calls failed."""
        return sum(call.outcome == "error" for each in self.messages for call in each.calls)

    @property
    def changes(self) -> int:
        """How many changes the messages hold."""
        return sum(len(each.changes) for each in self.messages)

    @property
    def pending_filters(self) -> list[tuple[str, str, int]]:
        """The states pending changes are in, with their names and counts; none where all agree."""
        counted = count_states(each.matched for each in self.pending)
        present = [(state.value, state.label, count) for state, count in counted.items() if count]
        return present if len(present) > 1 else []


@dataclass(frozen=True)
class PendingChange:
    """A change that waits, and the message that made it, where one did."""

    matched: MatchedChange
    message: ShownMessage | None
    place: str
    """Its id in the page."""


def show_conversation(conversation: Conversation) -> ShownConversation:
    """Return a conversation as it is read. Days are those of the current time zone."""
    messages = list(_messages(conversation))
    makers = {
        made.change.change_id: message
        for message in messages
        for made in message.changes
        if made.change.change_id
    }
    pending = [
        PendingChange(
            match_change(change, conversation.context),
            makers.get(change.change_id or ""),
            place,
        )
        for change, place in _on_the_board(conversation)
    ]
    return ShownConversation(conversation, messages, pending)


def _on_the_board(conversation: Conversation) -> Iterator[tuple[Change, str]]:
    """Yield the pending changes, each with its id in the page: the same wherever it stands."""
    seen: Counter[str] = Counter()
    for change in conversation.pending_changes:
        known_by = change.change_id or change.model_dump_json()
        mark = blake2b(known_by.encode(errors="replace"), digest_size=4).hexdigest()
        seen[mark] += 1
        yield change, f"pending-{mark}" if seen[mark] == 1 else f"pending-{mark}-{seen[mark]}"


def _messages(conversation: Conversation) -> Iterator[ShownMessage]:
    ids = Counter(message.message_id for message in conversation.messages)
    places = {
        change.change_id: place for change, place in _on_the_board(conversation) if change.change_id
    }
    published_id = conversation.conversation.published_message_id
    before: datetime | None = None
    for number, message in enumerate(conversation.messages, start=1):
        moment = sent_at(message)
        own_id = message.message_id if ids[message.message_id] == 1 else None
        yield ShownMessage(
            number=number,
            key=own_id or f"@{number}",
            message=message,
            moment=moment,
            new_day=new_day(before, moment),
            idle=idle_time(before, moment),
            changes=[
                ShownChange(
                    match_change(each, conversation.context), places.get(each.change_id or "", "")
                )
                for each in message.changes or []
            ],
            is_published_line=bool(published_id) and message.message_id == published_id,
        )
        # Of messages that share the id, the first has the line.
        published_id = None if message.message_id == published_id else published_id
        before = moment or before
