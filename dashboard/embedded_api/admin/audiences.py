"""Audiences in the Django admin, with their versions and their conversation."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.widgets import AdminTextInputWidget
from django.http import HttpRequest

from dashboard.embedded_api.admin.archiving import ArchivingAdmin
from dashboard.embedded_api.admin.base import moment_of
from dashboard.embedded_api.admin.forms import ServiceForm
from dashboard.embedded_api.admin.versions import shown_status
from dashboard.embedded_api.models import Audience, Conversation, Person, Version
from dashboard.embedded_api.requests import EditedAudience

_SHORT = (
    *("custom_name", "computed_name", "prospect_id", "prospect_route_key"),
    *("action_url_override", "action_form_id_override"),
)


class AudienceForm(ServiceForm):
    """An audience. The spec has no request that makes one; its metadata follow the contract."""

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
        """Require a person who exists; one that was set before may have been deleted since."""
        prospect_id: str | None = self.cleaned_data["prospect_id"]
        if "prospect_id" in self.changed_data and prospect_id:
            page = self.cleaned_data.get("page") or getattr(self.instance, "page", None)
            people = Person.objects.filter(person_id=prospect_id)
            if page and not people.filter(tenant_id=page.tenant_id).exists():
                self.add_error("prospect_id", "No person of this tenant has this ID.")
        return prospect_id


class _ReadOnlyInline(admin.TabularInline):  # type: ignore[type-arg]  # not so at run time
    extra = 0
    can_delete = False
    show_change_link = True

    created = moment_of("created_at", "Created")
    updated = moment_of("updated_at", "Updated")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Leave adding to the version's own page, which numbers it."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Leave changes to the version's own page."""
        return False


class VersionInline(_ReadOnlyInline):
    """The versions of an audience, newest first."""

    model = Version
    ordering = ("-version_number",)
    fields = readonly_fields = ("version_number", "status", "created", "queued", "published")

    queued = moment_of("queued_at", "Queued")
    published = moment_of("published_at", "Published")

    @admin.display(description="Status")
    def status(self, row: Version) -> str:
        """Return the status at this moment."""
        return shown_status(row)


class ConversationInline(_ReadOnlyInline):
    """The conversation of an audience; its own page shows the messages."""

    model = Conversation
    fields = readonly_fields = ("id", "message_count", "pending_count", "created", "updated")

    @admin.display(description="Messages")
    def message_count(self, row: Conversation) -> int:
        """Return the number of messages."""
        return len(row.messages)

    @admin.display(description="Pending changes")
    def pending_count(self, row: Conversation) -> int:
        """Return the number of pending changes."""
        return len(row.pending_changes)


class AudienceAdmin(ArchivingAdmin):
    """Audiences. Versions are added and published on their own pages."""

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
        """Show what exists: a new audience has no versions, and most have no conversation."""
        if not obj:
            return ()
        has_conversation = Conversation.objects.filter(audience=obj).exists()
        return (VersionInline, ConversationInline) if has_conversation else (VersionInline,)

    def save_model(self, request: HttpRequest, obj: Audience, form: Any, change: Any) -> None:
        """Save the audience; a new one belongs to the tenant of its page."""
        if not change:
            obj.tenant_id = obj.page.tenant_id
        super().save_model(request, obj, form, change)
