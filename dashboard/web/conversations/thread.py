"""The thread of a conversation: its messages, their content parts and times."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Any

from django.utils import timezone
from django.utils.functional import cached_property
from pydantic import ValidationError

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.conversations import Change, ContentPart, Conversation, Message
from dashboard.contract.resource import UnreadableValue, below
from dashboard.contract.wire import read_date, read_timestamp
from dashboard.web.conversations.change_matching import (
    NO_CALLS,
    CallTexts,
    ChangeState,
    CurrentTexts,
    MatchedChange,
    match_change,
)
from dashboard.web.conversations.tool_calls import ThreadCall

IDLE_AFTER = timedelta(hours=1)


TEXT_PARTS = ("text", None)
"""Types of content parts that hold Markdown. Other parts are shown raw under their type."""


@dataclass(frozen=True)
class ThreadPart:
    """A content part of a message. `type` is None for plain text or a missing type."""

    text: str | None
    type: str | None = None
    more: Any = field(default_factory=dict)
    """Fields that are not in the spec; the part as received if it can't be read."""

    @classmethod
    def of(cls, part: ContentPart) -> "ThreadPart":
        part_type = None if part.type in TEXT_PARTS else part.type
        return cls(part.text, part_type, part.model_extra or {})

    @classmethod
    def of_raw(cls, raw: Any) -> "ThreadPart":
        """Return a part for an unreadable value: plain text, an object with a text, or raw."""
        if isinstance(raw, str):
            return cls(raw)
        try:
            return cls.of(ContentPart.model_validate(raw, by_name=False))
        except ValidationError:
            return cls(None, "unknown", raw)


def _contains(whole: str | None, part: str | None) -> bool:
    needle = "".join((part or "").split())
    return bool(needle) and needle in "".join((whole or "").split())


@dataclass(frozen=True)
class ThreadChange:
    matched: MatchedChange
    pending_place: str
    """HTML id of the same pending change; empty if the change is not pending."""


@dataclass(frozen=True)
class ThreadMessage:
    """A message of the thread. `number` counts from 1 in the service's order."""

    number: int
    key: str
    """Key in URLs: the message's id, or `@` and its number if the id is missing or not unique."""
    message: Message
    moment: datetime | None
    new_day: date | None
    """Day that begins with this message, in the user's time zone."""
    idle: timedelta | None
    """Time since the previous message, if it is an hour or more."""
    calls: list[ThreadCall]
    call_texts: CallTexts
    changes: list[ThreadChange]
    line: str
    """Words of the published line, if the line follows this message; otherwise empty."""
    unreadable: list[UnreadableValue]
    """Values that could not be read, including those in tool calls."""

    @property
    def anchor(self) -> str:
        return f"m{self.number}"

    @property
    def evidence(self) -> list[str]:
        """The fields that show that an agent wrote the message; empty if there are none."""
        fields = {
            "tool calls": self.message.tool_calls,
            "reasoning": self.message.reasoning,
            "changes": self.message.changes,
        }
        return [name for name, value in fields.items() if value]

    @property
    def is_agent(self) -> bool:
        return bool(self.evidence)

    @property
    def reasoning_words(self) -> int:
        return len((self.message.reasoning or "").split())

    @property
    def raw(self) -> UnreadableValue | None:
        """The message as received, if it could not be read at all."""
        return next((value for value in self.unreadable if not value.location), None)

    @property
    def unreadable_fields(self) -> list[UnreadableValue]:
        """Unreadable values outside tool calls and changes, which show their own."""
        return [
            value
            for value in self.unreadable
            if len(value.location) == 1
            or (value.location and value.location[0] not in ("toolCalls", "changes"))
        ]

    @property
    def _raw_content(self) -> list[Any]:
        raw = [value.raw for value in self.unreadable if value.location == ("content",)]
        return raw[0] if raw and isinstance(raw[0], list) else raw

    @cached_property
    def parts(self) -> list[ThreadPart]:
        """The content of the message. Each text occurs once: `content` mostly repeats the parts."""
        raw_parts = {value.location: value.raw for value in self.unreadable}
        parts = [ThreadPart.of_raw(raw) for raw in self._raw_content]
        for index, part in enumerate(self.message.content_parts or []):
            if (location := ("contentParts", index)) in raw_parts:
                parts.append(ThreadPart.of_raw(raw_parts[location]))
            elif part.type in TEXT_PARTS or not _contains(self.message.reasoning, part.text):
                parts.append(ThreadPart.of(part))
        parts = [part for part in parts if part.text or part.type or part.more]
        content = self.message.content
        if not content or _contains("".join(part.text or "" for part in parts), content):
            return parts
        more = [part for part in parts if part.type or not _contains(content, part.text)]
        return [ThreadPart(content), *more]

    @property
    def has_error(self) -> bool:
        return any(call.outcome == "error" for call in self.calls)

    @property
    def is_blank(self) -> bool:
        return not (self.parts or self.evidence)


class Marker(StrEnum):
    """Whether the service's published message fits the live version."""

    CURRENT = "current"
    OUTDATED = "outdated"
    """A message was sent after it and before the live version was created.

    The published line goes where the live version was created.
    """
    UNCERTAIN = "uncertain"
    """A date is missing or unreadable, or nothing is live."""


@dataclass(frozen=True)
class PublishedLine:
    number: int | None
    """Number of the last published message; None if it is not listed."""
    marker: Marker = Marker.CURRENT
    live: AudienceVersion | None = None

    @property
    def words(self) -> str:
        if self.live and self.marker is Marker.OUTDATED:
            return f"Version {self.live.version_number}, which is live, was created here"
        return "Published up to here"


@dataclass(frozen=True)
class ConversationThread:
    conversation: Conversation
    messages: list[ThreadMessage]
    pending: list["PendingChange"]
    line: PublishedLine

    @property
    def published_elsewhere(self) -> bool:
        named = self.conversation.conversation.published_message_id
        return bool(named) and self.line.number is None

    @property
    def after_line(self) -> list[ThreadMessage]:
        return self.messages[self.line.number :] if self.line.number else []

    @property
    def changes_after_line(self) -> int:
        return sum(len(message.changes) for message in self.after_line)

    @property
    def errors(self) -> int:
        return sum(call.outcome == "error" for message in self.messages for call in message.calls)

    @property
    def changes(self) -> int:
        return sum(len(message.changes) for message in self.messages)

    @property
    def unlinked(self) -> int:
        """The number of pending changes whose message is unknown."""
        return sum(pending.message is None for pending in self.pending)

    @property
    def unreadable(self) -> list[UnreadableValue]:
        """Unreadable values outside the messages and the pending changes."""
        return [
            value
            for value in self.conversation.unreadable
            if len(value.location) == 1 or value.location[0] not in ("messages", "pendingChanges")
        ]

    @property
    def pending_filters(self) -> list[tuple[str, str, int]]:
        """The states of pending changes with labels and counts; empty if all have the same one."""
        counts = Counter(change.matched.state for change in self.pending)
        present = [
            (state.value, state.label, counts[state]) for state in ChangeState if counts[state]
        ]
        return present if len(present) > 1 else []


@dataclass(frozen=True)
class PendingChange:
    matched: MatchedChange
    message: ThreadMessage | None
    place: str
    """HTML id of the change."""


def build_thread(
    conversation: Conversation, *, live: AudienceVersion | None = None
) -> ConversationThread:
    """Prepare a conversation for rendering. Days begin in the current time zone.

    The published line is compared with `live`, the live version of the audience.
    """
    pending_ids = list(_pending_ids(conversation))
    places = {change.change_id: place for change, place in pending_ids if change.change_id}
    current = CurrentTexts(conversation.context)
    line = _published_line(conversation, live)
    messages = list(_messages(conversation, places, current, line))
    makers = {
        change.matched.change.change_id: message
        for message in messages
        for change in message.changes
    }
    pending = []
    for index, (change, place) in enumerate(pending_ids):
        maker = makers.get(change.change_id) if change.change_id else None
        matched = match_change(
            change,
            current,
            calls=maker.call_texts if maker else NO_CALLS,
            unreadable=below(conversation.unreadable, "pendingChanges", index),
        )
        pending.append(PendingChange(matched, maker, place))
    return ConversationThread(conversation, messages, pending, line)


def _published_line(conversation: Conversation, live: AudienceVersion | None) -> PublishedLine:
    """Return the line where the published messages end.

    The service might not move its marker when a version goes live (the spec does not say). The
    marker is outdated if a message was sent after it and before the live version was created.
    Source: our choice.
    """
    published_id = conversation.conversation.published_message_id
    ids = [message.message_id for message in conversation.messages]
    if not published_id or published_id not in ids:
        return PublishedLine(None, live=live)
    # If several messages have this id, the line follows the first one.
    number = ids.index(published_id) + 1
    created = read_date(live.created_at) if live else None
    moments = [_sent_at(message) for message in conversation.messages[number:]]
    if created:
        between = [n for n, at in enumerate(moments, number + 1) if at and at < created]
        if between:
            return PublishedLine(between[-1], Marker.OUTDATED, live)
    if moments and (created is None or None in moments):
        return PublishedLine(number, Marker.UNCERTAIN, live)
    return PublishedLine(number, live=live)


def _pending_ids(conversation: Conversation) -> Iterator[tuple[Change, str]]:
    """Yield each pending change with an HTML id that does not depend on its position."""
    seen: Counter[str] = Counter()
    for change in conversation.pending_changes:
        identity = change.change_id or change.model_dump_json()
        mark = blake2b(identity.encode(errors="replace"), digest_size=4).hexdigest()
        seen[mark] += 1
        yield change, f"pending-{mark}" if seen[mark] == 1 else f"pending-{mark}-{seen[mark]}"


def _messages(
    conversation: Conversation,
    pending_places: dict[str, str],
    current: CurrentTexts,
    line: PublishedLine,
) -> Iterator[ThreadMessage]:
    ids = Counter(message.message_id for message in conversation.messages)
    before: datetime | None = None
    unreadable: dict[int | str, list[UnreadableValue]] = {}
    for value in conversation.unreadable:
        if value.location[0] == "messages" and len(value.location) > 1:
            unreadable.setdefault(value.location[1], []).append(value)
    for number, message in enumerate(conversation.messages, start=1):
        moment = _sent_at(message)
        own_id = message.message_id if ids[message.message_id] == 1 else None
        day = timezone.localdate(moment) if moment else None
        idle = moment - before if moment and before else None
        in_message = below(unreadable.get(number - 1, ()), "messages", number - 1)
        calls = [
            ThreadCall(
                index,
                call,
                place=f"m{number}-{index}",
                unreadable=below(in_message, "toolCalls", index - 1),
            )
            for index, call in enumerate(message.tool_calls or [], start=1)
        ]
        call_texts = CallTexts(calls) if message.changes else NO_CALLS
        yield ThreadMessage(
            number=number,
            key=own_id or f"@{number}",
            message=message,
            moment=moment,
            new_day=None if before and day == timezone.localdate(before) else day,
            idle=idle if idle and idle >= IDLE_AFTER else None,
            changes=[
                ThreadChange(
                    match_change(
                        change,
                        current,
                        calls=call_texts,
                        unreadable=below(in_message, "changes", index),
                    ),
                    pending_places.get(change.change_id or "", ""),
                )
                for index, change in enumerate(message.changes or [])
            ],
            line=line.words if number == line.number else "",
            calls=calls,
            call_texts=call_texts,
            unreadable=in_message,
        )
        before = moment or before


def _sent_at(message: Message) -> datetime | None:
    """Return the time of a message; None if its timestamp can't be shown."""
    # Dates in the first and last year of the calendar overflow in some time zones.
    timestamp = read_timestamp(message.timestamp)
    return timestamp if timestamp and MINYEAR < timestamp.year < MAXYEAR else None
