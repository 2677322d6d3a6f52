"""Webhooks in the Django admin: subscriptions, their secrets and the delivery log."""

from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.admin.widgets import AdminTextInputWidget
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from dashboard import clock
from dashboard.contract.webhooks import EventName
from dashboard.embedded_api import signing
from dashboard.embedded_api.admin.base import ReadOnlyInline, SecretURLMixin, ServiceAdmin
from dashboard.embedded_api.admin.forms import ServiceForm
from dashboard.embedded_api.deliveries import send_again
from dashboard.embedded_api.models import (
    SigningSecret,
    Subscription,
    WebhookDelivery,
    WebhookDeliveryAttempt,
)
from dashboard.embedded_api.requests import SubscriptionChange
from dashboard.encryption import DecryptionError

_NULL, _LIST = "null", "list"


class SubscriptionForm(ServiceForm):
    """A subscription with the rules of the API's update. Only here, events can be set to null."""

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
        is_null = self.cleaned_data.get("kind") == _NULL
        selected = self.cleaned_data.get("events") or []
        if is_null and selected:
            self.add_error("events", "Select no events here if they are null.")
        cleaned = super().clean()
        if not {"kind", "events"}.isdisjoint(self.changed_data):
            cleaned["events"] = None if is_null else selected
        return cleaned


class SubscriptionAdmin(SecretURLMixin, ServiceAdmin):
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
        fields = super().get_fields(request, obj)
        if self.has_change_permission(request, obj) or not obj:
            return fields
        return ["target" if name == "url" else name for name in fields]

    def get_readonly_fields(
        self, request: HttpRequest, obj: Subscription | None = None
    ) -> tuple[str, ...]:
        fields = super().get_readonly_fields(request, obj)
        return fields if self.has_change_permission(request, obj) else (*fields, "target")

    @admin.display(description="Events")
    def shown_events(self, row: Subscription) -> str:
        if row.events is None:
            return "null (undocumented)"
        return ", ".join(row.events) or "No events"


class ReadOnlyAdmin(SecretURLMixin):
    """For rows that only the service writes. Their actions require the change permission.

    Deletion is allowed, as otherwise their parents couldn't be deleted.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        hidden = {"show_save": False, "show_save_and_continue": False}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | hidden)


class AttemptInline(ReadOnlyInline):
    model = WebhookDeliveryAttempt
    fields = readonly_fields = ("at", "seconds", "status_code", "problem")

    @admin.display(description="took")
    def seconds(self, attempt: WebhookDeliveryAttempt) -> str:
        return f"{attempt.duration.total_seconds():.2f} s"


class WebhookDeliveryAdmin(ReadOnlyAdmin):
    list_display = (
        *("event_name", "state", "status_code", "attempt_count", "host", "created_at"),
        *("wake_at", "problem"),
    )
    list_filter = ("state", "event__name", "event__tenant")
    list_select_related = ("event",)
    search_fields = ("event__event_id", "url", "subscription__id", "event__page__id")
    show_full_result_count = False
    fields = readonly_fields = (
        *("event_name", "webhook_id", "data", "subscription", "target", "state", "status_code"),
        *("problem", "created_at", "wake_at", "retry_until"),
    )
    inlines = (AttemptInline,)
    actions = ("send_again",)

    @admin.display(description="event", ordering="event__name")
    def event_name(self, delivery: WebhookDelivery) -> str:
        return delivery.event.name

    @admin.display(description="webhook ID")
    def webhook_id(self, delivery: WebhookDelivery) -> str:
        return delivery.event.event_id

    @admin.display(description="data")
    def data(self, delivery: WebhookDelivery) -> str:
        return ", ".join(f"{name}: {value}" for name, value in delivery.event.data.items())

    @admin.action(description="Send again", permissions=["change"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        selected, sent = queryset.count(), send_again(queryset)
        messages.success(request, f"Deliveries queued: {sent}. The worker sends them shortly.")
        if skipped := selected - sent:
            reason = "being sent now, or the subscription was deleted"
            messages.warning(request, f"Deliveries not queued: {skipped} ({reason}).")


class KeyedActionForm(ActionForm):
    """Chooses an action. It runs once, even if the form is sent twice."""

    form_key = forms.CharField(label="", required=False, widget=forms.HiddenInput, initial=uuid4)


class SigningSecretAdmin(ReadOnlyAdmin):
    """Secrets by subscription. Only users who may change a secret can see it."""

    list_display = ("subscription", "subscription_id", "rotated_at")
    list_filter = ("subscription__tenant",)
    list_select_related = ("subscription",)
    search_fields = ("subscription__id", "subscription__url")
    fields = readonly_fields = ("subscription", "secret", "rotated_at")
    actions = ("rotate",)
    action_form = KeyedActionForm

    def get_fields(self, request: HttpRequest, obj: SigningSecret | None = None) -> tuple[str, ...]:
        may_change = self.has_change_permission(request, obj)
        return tuple(name for name in self.fields if may_change or name != "secret")

    @admin.display(description="secret")
    def secret(self, row: SigningSecret) -> str:
        try:
            return signing.reveal(row)
        except DecryptionError:
            return "It was encrypted with another SECRET_KEY. Rotate it."

    @admin.action(description="Rotate the selected secrets", permissions=["change"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[SigningSecret]) -> None:
        """Replace the selected secrets. The previous ones also sign for a day."""
        now, form_key = clock.now(), request.POST.get("form_key", "")[:64]
        rows = [row for row in queryset if signing.rotate(row, now, form_key=form_key)]
        for row in rows:
            self.log_change(request, row, "Secret rotated.")
        note = "Copy the new ones to the receivers within a day."
        messages.success(request, f"Secrets rotated: {len(rows)}. {note}")
