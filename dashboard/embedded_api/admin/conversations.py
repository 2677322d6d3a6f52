"""Conversations in the Django admin: read-only."""

import json
from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import display_for_value
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.contract.dates import read_timestamp
from dashboard.embedded_api.admin.base import ServiceAdmin
from dashboard.embedded_api.models import Conversation

_MAX_TEXT = 2_000
"""Characters of a text or a tool call that are shown. A result may have 200 KB."""


class ConversationAdmin(ServiceAdmin):
    """What was written about an audience, with tool calls and changes."""

    list_display = ("id", "audience", "message_count", "created", "updated")
    list_select_related = ("audience",)
    search_fields = ("id", "audience__id", "audience__custom_name", "audience__computed_name")
    ordering = ("-created_at", "-id")
    fields = (
        *("id", "audience", "published_message_id", "created", "updated"),
        *("pending", "shown_messages"),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: an agent writes conversations, and there is none here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        """Refuse: a conversation is a record."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        """Refuse: a conversation is deleted with its audience."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return all fields."""
        return self.fields

    @admin.display(description="Messages")
    def message_count(self, row: Conversation) -> int:
        """Return the number of messages."""
        return len(row.messages)

    @admin.display(description="Pending changes")
    def pending(self, row: Conversation) -> SafeString | str:
        """Return the pending changes."""
        return _changes(row.pending_changes) or "No pending changes"

    @admin.display(description="Messages")
    def shown_messages(self, row: Conversation) -> SafeString:
        """Return the messages in order, with their tool calls and changes."""
        items = (
            (
                message.get("messageId", "-"),
                display_for_value(read_timestamp(message.get("timestamp")), "-"),
                _cut(message.get("content") or ""),
                _calls(message.get("toolCalls") or []),
                _changes(message.get("changes") or []),
            )
            for message in row.messages
        )
        item = "<li><p><b>{}</b>, {}</p><p>{}</p>{}{}</li>"
        return format_html("<ol>{}</ol>", format_html_join("", item, items))


def _calls(calls: Iterable[dict[str, Any]]) -> SafeString:
    shown = (
        (call.get("name", "-"), _cut(json.dumps(call, indent=2, ensure_ascii=False)))
        for call in calls
    )
    # What is wide scrolls, by keyboard too.
    return format_html_join("", '<p>Tool call: {}</p><pre tabindex="0">{}</pre>', shown)


def _changes(changes: Iterable[dict[str, Any]]) -> SafeString:
    shown = (
        (
            change.get("changeId", "-"),
            _cut(change.get("previousValue") or ""),
            _cut(change.get("newValue") or ""),
        )
        for change in changes
    )
    item = "<p>Change {}</p><p><del>{}</del></p><p><ins>{}</ins></p>"
    return format_html_join("", item, shown)


def _cut(text: str) -> str:
    """Return the text, or its beginning with a note on its length."""
    rest = len(text) - _MAX_TEXT
    return f"{text[:_MAX_TEXT]}… ({rest:,} more characters)" if rest > 0 else text
