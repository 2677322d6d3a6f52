from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminTextInputWidget
from django.http import HttpRequest

from dashboard import clock
from dashboard.contract.pages import PageStatus, PageType
from dashboard.embedded_api.admin.base import ArchivingAdmin, StatusFilter
from dashboard.embedded_api.admin.forms import ServiceForm
from dashboard.embedded_api.ids import last_uuid7_of
from dashboard.embedded_api.models import Page
from dashboard.embedded_api.models.pages import status_of_page
from dashboard.embedded_api.requests import EditedPage, NewPage, new_page, page_columns

_SHORT = ("name", "title", "brand_id", "header_action_id")


class PageAdminForm(ServiceForm):
    page_type = forms.ChoiceField(
        choices=[(kind.value, kind.value) for kind in PageType], initial=PageType.INBOUND.value
    )

    class Meta:
        model = Page
        fields = (
            *("tenant", "name", "title", "page_type", "page_context", "brand_id", "metadata"),
            *("actions", "header_action_id", "action_card_widgets", "footer_links", "scripts"),
        )
        widgets = dict.fromkeys(_SHORT, AdminTextInputWidget)
        help_texts = {
            "page_context": "Purpose and tone. The agent uses this for every audience.",
            "brand_id": "Empty: the brand of the tenant.",
            "metadata": 'A JSON object, such as {"title": "…", "keywords": ["…"]}.',
            "actions": "A JSON list of purpose, buttonTitle, actionType, url and actionId; an "
            "empty actionId is filled.",
            "action_card_widgets": "A JSON list of type, title and logos.",
            "footer_links": "A JSON list of title and links, each with text and url.",
            "scripts": "A JSON list of name, description, content and enabled.",
        }

    def clean(self) -> dict[str, Any]:
        is_new = self.instance._state.adding
        self.rules = NewPage if is_new else EditedPage
        cleaned = super().clean()
        if self.request and not is_new:
            columns = page_columns(self.request)
            columns["brand_id"] = columns["brand_id"] or self.instance.tenant.brand_id
            cleaned |= {name: columns[name] for name in self.changed_data if name in columns}
        return cleaned

    def body(self) -> dict[str, Any]:
        actions = [
            {name: value for name, value in action.items() if name != "actionIndex"}
            if isinstance(action, dict)
            else action
            for action in self.cleaned_data.get("actions") or []
        ]
        return {"brandId": "", **super().body(), "actions": actions}

    def save(self, commit: bool = True) -> Page:  # noqa: FBT001, FBT002 (Django's)
        page: Page = super().save(commit=False)
        if page._state.adding:
            page = self.instance = new_page(self.cleaned_data["tenant"], self.request)
        if commit:
            page.save()
        return page


class PageStatusFilter(StatusFilter):
    statuses = PageStatus
    dates = {"archived_at": PageStatus.ARCHIVED, "published_at": PageStatus.PUBLISHED}
    otherwise = PageStatus.DRAFT


class PageAdmin(ArchivingAdmin):
    form = PageAdminForm
    list_display = ("name", "page_type", "status", "tenant", "created", "updated")
    list_filter = (PageStatusFilter, "page_type", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("name", "title", "id")
    ordering = ("-created_at", "-id")
    autocomplete_fields = ("tenant",)
    fixed_fields = ("tenant",)
    shown_fields = ("id", "status", "created", "updated", "archived")
    path_from_version = "audience__page"

    def get_exclude(self, request: HttpRequest, obj: Page | None = None) -> Any:
        """Leave out the title of a new page. The service takes it from the metadata or the name."""
        return None if obj else ("title",)

    @admin.display(description="Status")
    def status(self, row: Page) -> str:
        return status_of_page(row, last_uuid7_of(clock.now())).value
