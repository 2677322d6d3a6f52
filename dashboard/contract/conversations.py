"""The conversation of an audience: operation 6."""

from typing import Any

from dashboard.contract.resource import Resource
from dashboard.contract.wire import Number, WireModel


class ToolCall(WireModel):
    id: str | None = None
    name: str | None = None
    arguments: dict[str, Any] | None = None
    result: Any = None
    error: str | None = None


class Change(WireModel):
    """Old and new text. Which field it belongs to is not shown."""

    change_id: str | None = None
    previous_value: str | None = None
    new_value: str | None = None


class ContentPart(WireModel):
    type: str | None = None
    text: str | None = None


class Message(WireModel):
    """One message. Who speaks is not shown."""

    message_id: str | None = None
    content: str | None = None
    timestamp: Number | None = None
    has_snapshot: bool | None = None
    tool_calls: list[ToolCall] | None = None
    changes: list[Change] | None = None
    content_parts: list[ContentPart] | None = None
    reasoning: str | None = None
    is_interrupted: bool | None = None


class ConversationFacts(WireModel):
    conversation_id: str | None = None
    audience_id: str | None = None
    published_message_id: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class ConversationContext(WireModel):
    """The current state of the audience and its page."""

    audience_id: str | None = None
    page_id: str | None = None
    tenant_id: str | None = None
    current_supplementary_context: str | None = None
    current_meta_title: str | None = None
    current_meta_description: str | None = None
    current_meta_keywords: str | None = None
    page_context: str | None = None


class Conversation(Resource):
    """The response of operation 6. Source: spec, Audience conversation."""

    conversation: ConversationFacts
    messages: list[Message]
    context: ConversationContext
    pending_changes: list[Change]
