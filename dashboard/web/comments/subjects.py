"""The subjects of threads besides passages: fields, messages and changes, as last read."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from pydantic.alias_generators import to_snake

from dashboard.client import APIError
from dashboard.comments.anchors import text_digest
from dashboard.comments.models import TargetKind, Thread
from dashboard.contract.audiences import Audience
from dashboard.contract.conversations import Change, Conversation, Message
from dashboard.contract.metadata import FIELDS
from dashboard.service.reading import read_conversation

OF_CONVERSATION = (TargetKind.MESSAGE, TargetKind.CHANGE)


@dataclass(frozen=True)
class ConversationItem:
    kind: TargetKind
    item_id: str
    digest: str


def metadata_fields(audience: Audience) -> dict[str, str]:
    """Return the texts of the metadata fields that aren't empty, by their names in the API."""
    metadata = audience.effective_metadata
    values = {name: getattr(metadata, to_snake(name), None) for name in FIELDS} if metadata else {}
    return {name: str(value) for name, value in values.items() if value not in (None, "", [])}


def read_items(page_id: str, audience_id: str) -> dict[tuple[str, str], ConversationItem]:
    """Read what can be commented on in a conversation, by kind and id. Raises APIError."""
    return items_of(read_conversation(page_id, audience_id))


def items_of(conversation: Conversation) -> dict[tuple[str, str], ConversationItem]:
    items = {}
    for message in conversation.messages:
        if message.message_id:
            key = (TargetKind.MESSAGE.value, message.message_id)
            digest = text_digest(_text_of(message))
            items[key] = ConversationItem(TargetKind.MESSAGE, key[1], digest)
        for change in message.changes or []:
            if change.change_id:
                key = (TargetKind.CHANGE.value, change.change_id)
                digest = text_digest(_text_of_change(change))
                items[key] = ConversationItem(TargetKind.CHANGE, key[1], digest)
    return items


def _text_of(message: Message) -> str:
    parts = [part.text or "" for part in message.content_parts or []]
    return "\n".join([message.content or "", *parts])


def _text_of_change(change: Change) -> str:
    return "\n".join([change.previous_value or "", change.new_value or ""])


def subject_notes(
    threads: Iterable[Thread], page_id: str, audience_id: str, audience: Audience
) -> dict[int, str]:
    """Return sentences on how the subjects of threads have changed, by the threads' primary keys.

    A sentence is empty if nothing has changed. The conversation is read once, if a thread is about
    a message or change.
    """
    threads = list(threads)
    fields = metadata_fields(audience)
    items: Mapping[tuple[str, str], ConversationItem] | None = None
    if any(thread.kind in OF_CONVERSATION for thread in threads):
        with suppress(APIError):
            items = read_items(page_id, audience_id)
    notes = {}
    for thread in threads:
        if thread.kind == TargetKind.FIELD:
            text = fields.get(thread.object_id)
            notes[thread.pk] = _note(thread, "field", None if text is None else text_digest(text))
        elif thread.kind in OF_CONVERSATION and items is None:
            notes[thread.pk] = "The conversation can’t be read at the moment."
        elif thread.kind in OF_CONVERSATION and items is not None:
            item = items.get((thread.kind, thread.object_id))
            notes[thread.pk] = _note(thread, thread.kind, item.digest if item else None)
    return notes


def _note(thread: Thread, subject: str, digest: str | None) -> str:
    if digest is None:
        return f"This {subject} is no longer returned."
    return "" if digest == thread.text_digest else f"The {subject} has changed since."
