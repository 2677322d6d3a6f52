"""Audiences in the Django admin with their versions, and read-only conversations."""

import json
from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import display_for_value
from django.contrib.admin.widgets import AdminTextInputWidget
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.contract.wire import read_timestamp
from dashboard.embedded_api.admin.base import (
    ArchivingAdmin,
    ReadOnlyInline,
    ServiceAdmin,
    moment_of,
)
from dashboard.embedded_api.admin.forms import ServiceForm
from dashboard.embedded_api.admin.versions import shown_status
from dashboard.embedded_api.models import Audience, Conversation, Person, Version
from dashboard.embedded_api.requests import EditedAudience

_SHORT = (
    *("custom_name", "computed_name", "prospect_id", "prospect_route_key"),
    *("action_url_override", "action_form_id_override"),
)


class AudienceForm(ServiceForm):
    """Form of an audience. The spec has no request that creates one, but describes its metadata."""

    rules = EditedAudience

    class Meta:
        model = Audience
        fields = (
            *("page", "custom_name", "computed_name", "prospect_id", "prospect_route_key"),
            *("is_new_page_agent", "supplementary_context", "metadata_override"),
            *("action_url_override", "action_form_id_override"),
            "action_form_instructions_override",
        )
        widgets = dict.fromkeys(_SHORT, AdminTextInputWidget)
        help_texts = {
            "custom_name": "Takes precedence over the computed name.",
            "prospect_id": "The ID of a person, such as prospect_….",
            "supplementary_context": "What the agent knows besides the page’s context. A version "
            "has its own, which is what is published.",
            "metadata_override": "A JSON object; its fields replace those of the page.",
        }

    def clean_prospect_id(self) -> str | None:
        """Require an existing person. An unchanged one isn't checked, as it may be deleted."""
        prospect_id: str | None = self.cleaned_data["prospect_id"]
        if "prospect_id" in self.changed_data and prospect_id:
            page = self.cleaned_data.get("page") or getattr(self.instance, "page", None)
            people = Person.objects.filter(person_id=prospect_id)
            if page and not people.filter(tenant_id=page.tenant_id).exists():
                self.add_error("prospect_id", "No person of this tenant has this ID.")
        return prospect_id


class VersionInline(ReadOnlyInline):
    """Lists the versions. They are created and changed on their own admin page."""

    model = Version
    show_change_link = True
    ordering = ("-version_number",)
    fields = readonly_fields = ("version_number", "status", "created", "queued", "published")

    queued = moment_of("queued_at", "Queued")
    published = moment_of("published_at", "Published")

    @admin.display(description="Status")
    def status(self, row: Version) -> str:
        return shown_status(row)


class ConversationInline(ReadOnlyInline):
    """Shows the conversation of an audience. Its own admin page shows the messages."""

    model = Conversation
    show_change_link = True
    fields = readonly_fields = ("id", "message_count", "pending_count", "created", "updated")

    @admin.display(description="Messages")
    def message_count(self, row: Conversation) -> int:
        return len(row.messages)

    @admin.display(description="Pending changes")
    def pending_count(self, row: Conversation) -> int:
        return len(row.pending_changes)


class AudienceAdmin(ArchivingAdmin):
    form = AudienceForm
    list_display = ("__str__", "page", "prospect_route_key", "created", "archived")
    list_filter = (("archived_at", admin.EmptyFieldListFilter), "is_new_page_agent", "tenant")
    list_select_related = ("page",)
    search_fields = ("custom_name", "computed_name", "prospect_route_key", "id", "page__name")
    ordering = ("-created_at", "-id")
    autocomplete_fields = ("page",)
    fixed_fields = ("page",)
    shown_fields = ("id", "created", "archived")
    path_from_version = "audience"

    def get_inlines(self, request: HttpRequest, obj: Audience | None = None) -> Any:
        """Show what exists. A new audience has no versions, and most have no conversation."""
        if not obj:
            return ()
        has_conversation = Conversation.objects.filter(audience=obj).exists()
        return (VersionInline, ConversationInline) if has_conversation else (VersionInline,)

    def save_model(self, request: HttpRequest, obj: Audience, form: Any, change: Any) -> None:
        if not change:
            obj.tenant_id = obj.page.tenant_id
        super().save_model(request, obj, form, change)


_MAX_TEXT = 2_000
"""Displayed characters of a text or a tool call. A result may have 200 KB."""


class ConversationAdmin(ServiceAdmin):
    """Read-only. An agent writes conversations, and they are deleted with their audience."""

    list_display = ("id", "audience", "message_count", "created", "updated")
    list_select_related = ("audience",)
    search_fields = ("id", "audience__id", "audience__custom_name", "audience__computed_name")
    ordering = ("-created_at", "-id")
    fields = ("id", "audience", "created", "updated", "pending", "shown_messages")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.fields

    @admin.display(description="Messages")
    def message_count(self, row: Conversation) -> int:
        return len(row.messages)

    @admin.display(description="Pending changes")
    def pending(self, row: Conversation) -> SafeString | str:
        return _changes(row.pending_changes) or "No pending changes"

    @admin.display(description="Messages")
    def shown_messages(self, row: Conversation) -> SafeString:
        items = (
            (
                message.get("messageId", "-"),
                display_for_value(read_timestamp(message.get("timestamp")), "-"),
                _cut(message.get("content") or ""),
                _tool_calls(message.get("toolCalls") or []),
                _changes(message.get("changes") or []),
            )
            for message in row.messages
        )
        item = "<li><p><b>{}</b>, {}</p><p>{}</p>{}{}</li>"
        return format_html("<ol>{}</ol>", format_html_join("", item, items))


def _tool_calls(calls: Iterable[dict[str, Any]]) -> SafeString:
    rows = (
        (call.get("name", "-"), _cut(json.dumps(call, indent=2, ensure_ascii=False)))
        for call in calls
    )
    # Wide content scrolls, also by keyboard.
    return format_html_join("", '<p>Tool call: {}</p><pre tabindex="0">{}</pre>', rows)


def _changes(changes: Iterable[dict[str, Any]]) -> SafeString:
    rows = (
        (
            change.get("changeId", "-"),
            _cut(change.get("previousValue") or ""),
            _cut(change.get("newValue") or ""),
        )
        for change in changes
    )
    item = "<p>Change {}</p><p><del>{}</del></p><p><ins>{}</ins></p>"
    return format_html_join("", item, rows)


def _cut(text: str) -> str:
    rest = len(text) - _MAX_TEXT
    return f"{text[:_MAX_TEXT]}… ({rest:,} more characters)" if rest > 0 else text
