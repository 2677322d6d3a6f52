"""Webhook subscriptions in the Django admin."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminTextInputWidget
from django.http import HttpRequest

from dashboard.contract.webhooks import EventName
from dashboard.embedded_api.admin.base import SecretURLMixin, ServiceAdmin
from dashboard.embedded_api.admin.forms import ServiceForm
from dashboard.embedded_api.models import Subscription
from dashboard.embedded_api.requests import SubscriptionChange

_NULL, _LIST = "null", "list"


class SubscriptionForm(ServiceForm):
    """A subscription, by the rules of the API's update; only here its events may be null."""

    rules = SubscriptionChange
    kind = forms.ChoiceField(
        label="Events are",
        choices=[(_LIST, "Selected below, or none"), (_NULL, "null (undocumented)")],
        widget=forms.RadioSelect,
        initial=_LIST,
    )
    events = forms.MultipleChoiceField(
        choices=[(name.value, name.value) for name in EventName],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )

    class Meta:
        model = Subscription
        fields = ("tenant", "url", "active", "kind", "events")
        widgets = {"url": AdminTextInputWidget}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not self.instance._state.adding and self.instance.events is None:
            self.initial["kind"] = _NULL

    def clean(self) -> dict[str, Any]:
        """Make one value of the two fields."""
        is_null = self.cleaned_data.get("kind") == _NULL
        selected = self.cleaned_data.get("events") or []
        if is_null and selected:
            self.add_error("events", "Select no events here if they are null.")
        cleaned = super().clean()
        if not {"kind", "events"}.isdisjoint(self.changed_data):
            cleaned["events"] = None if is_null else selected
        return cleaned


class SubscriptionAdmin(SecretURLMixin, ServiceAdmin):
    """Where the service sends which events."""

    form = SubscriptionForm
    list_display = ("target", "shown_events", "active", "tenant", "updated")
    list_filter = ("active", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("url", "id")
    ordering = ("-created_at", "-id")
    autocomplete_fields = ("tenant",)
    fixed_fields = ("tenant",)
    shown_fields = ("id", "created", "updated")

    def get_fields(self, request: HttpRequest, obj: Subscription | None = None) -> Any:
        """Return all, with the secret in the URL for users who may change it."""
        fields = super().get_fields(request, obj)
        if self.has_change_permission(request, obj) or not obj:
            return fields
        return ["target" if name == "url" else name for name in fields]

    def get_readonly_fields(
        self, request: HttpRequest, obj: Subscription | None = None
    ) -> tuple[str, ...]:
        """Return what can't be edited."""
        fields = super().get_readonly_fields(request, obj)
        return fields if self.has_change_permission(request, obj) else (*fields, "target")

    @admin.display(description="Events")
    def shown_events(self, row: Subscription) -> str:
        """Return the names, or which of the two empty values it is."""
        if row.events is None:
            return "null (undocumented)"
        return ", ".join(row.events) or "No events"
