"""The subjects of threads besides passages: fields, messages and changes, as last read."""

from collections.abc import Iterable, Mapping

from pydantic.alias_generators import to_snake

from dashboard.client import APIError
from dashboard.comments.anchors import text_digest
from dashboard.comments.models import TargetKind, Thread
from dashboard.contract.audiences import Audience
from dashboard.contract.conversations import Conversation
from dashboard.contract.metadata import FIELDS
from dashboard.service.reading import read_conversation

OF_CONVERSATION = (TargetKind.MESSAGE, TargetKind.CHANGE)


def metadata_fields(audience: Audience) -> dict[str, str]:
    """Return the texts of the metadata fields that aren't empty, by their names in the API."""
    metadata = audience.effective_metadata
    values = {name: getattr(metadata, to_snake(name), None) for name in FIELDS} if metadata else {}
    return {name: str(value) for name, value in values.items() if value not in (None, "", [])}


def conversation_digests(conversation: Conversation) -> dict[tuple[str, str], str]:
    """Return digests of the texts of messages and changes that have an id, by kind and id."""
    digests = {}
    for message in conversation.messages:
        parts = [part.text or "" for part in message.content_parts or []]
        text = "\n".join([message.content or "", *parts])
        digests[TargetKind.MESSAGE.value, message.message_id or ""] = text_digest(text)
        for change in message.changes or []:
            text = "\n".join([change.previous_value or "", change.new_value or ""])
            digests[TargetKind.CHANGE.value, change.change_id or ""] = text_digest(text)
    return {key: digest for key, digest in digests.items() if key[1]}


def subject_notes(
    threads: Iterable[Thread], page_id: str, audience_id: str, audience: Audience
) -> dict[int, str]:
    """Return sentences on how the subjects of threads have changed, by the threads' primary keys.

    A sentence is empty if nothing has changed. The conversation is read once, if a thread is about
    a message or change.
    """
    fields = metadata_fields(audience).items()
    digests = {(TargetKind.FIELD.value, name): text_digest(text) for name, text in fields}
    kinds, problem = {TargetKind.FIELD, *OF_CONVERSATION}, ""
    threads = [thread for thread in threads if thread.kind in kinds]
    if any(thread.kind in OF_CONVERSATION for thread in threads):
        try:
            digests |= conversation_digests(read_conversation(page_id, audience_id))
        except APIError:
            problem = "The conversation can’t be read at the moment."
    return {
        thread.pk: (thread.kind in OF_CONVERSATION and problem) or _note(thread, digests)
        for thread in threads
    }


def _note(thread: Thread, digests: Mapping[tuple[str, str], str]) -> str:
    digest = digests.get((thread.kind, thread.object_id))
    if digest is None:
        return f"This {thread.kind} is no longer returned."
    return "" if digest == thread.text_digest else f"The {thread.kind} has changed since."
