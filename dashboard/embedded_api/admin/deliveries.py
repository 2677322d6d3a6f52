"""Deliveries and signing secrets in the Django admin: the log, "Send again", and rotation."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dashboard.embedded_api import signing
from dashboard.embedded_api.admin.base import SecretURLMixin
from dashboard.embedded_api.deliveries import send_again
from dashboard.embedded_api.models import DeliveryAttempt, SigningSecret, WebhookDelivery
from dashboard.encryption import DecryptionError


class ReadOnlyAdmin(SecretURLMixin):
    """Rows that the service writes. Their actions require the change permission.

    Deletion is Django's own: what they belong to can't be deleted otherwise.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: the service adds rows."""
        return False

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show a row without buttons to save it: no field can be changed."""
        hidden = {"show_save": False, "show_save_and_continue": False}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | hidden)


class AttemptInline(admin.TabularInline):  # type: ignore[type-arg]  # as above
    """The attempts of a delivery, oldest first."""

    model = DeliveryAttempt
    fields = readonly_fields = ("at", "seconds", "status_code", "problem")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: the worker adds attempts."""
        return False

    @admin.display(description="took")
    def seconds(self, attempt: DeliveryAttempt) -> str:
        """Return how long an attempt took."""
        return f"{attempt.duration.total_seconds():.2f} s"


class WebhookDeliveryAdmin(ReadOnlyAdmin):
    """The delivery log, newest first."""

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
        """Return the name of the event."""
        return delivery.event.name

    @admin.display(description="webhook ID")
    def webhook_id(self, delivery: WebhookDelivery) -> str:
        """Return the id that the receiver gets in every attempt."""
        return delivery.event.event_id

    @admin.display(description="data")
    def data(self, delivery: WebhookDelivery) -> str:
        """Return the ids in the body."""
        return ", ".join(f"{name}: {value}" for name, value in delivery.event.data.items())

    @admin.action(description="Send again", permissions=["change"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        """Have the selected deliveries sent again, with the same ID."""
        selected, sent = queryset.count(), send_again(queryset, timezone.now())
        messages.success(request, f"Deliveries queued: {sent}. The worker sends them shortly.")
        if skipped := selected - sent:
            reason = "being sent now, or the subscription was deleted"
            messages.warning(request, f"Deliveries not queued: {skipped} ({reason}).")


class SigningSecretAdmin(ReadOnlyAdmin):
    """The secrets by subscription. Only users who may change one can see it."""

    list_display = ("subscription", "subscription_id", "rotated_at")
    list_filter = ("subscription__tenant",)
    list_select_related = ("subscription",)
    search_fields = ("subscription__id", "subscription__url")
    fields = readonly_fields = ("subscription", "secret", "rotated_at")
    actions = ("rotate",)

    def get_fields(self, request: HttpRequest, obj: SigningSecret | None = None) -> tuple[str, ...]:
        """Leave out the secret for users who may only view."""
        may_change = self.has_change_permission(request, obj)
        return tuple(name for name in self.fields if may_change or name != "secret")

    @admin.display(description="secret")
    def secret(self, row: SigningSecret) -> str:
        """Return the secret as the receiver needs it."""
        try:
            return signing.reveal(row)
        except DecryptionError:
            return "It was encrypted with another SECRET_KEY. Rotate it."

    @admin.action(description="Rotate the selected secrets", permissions=["change"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[SigningSecret]) -> None:
        """Replace the selected secrets; the previous ones sign too for a day."""
        now, rows = timezone.now(), list(queryset)
        for row in rows:
            signing.rotate(row, now)
            self.log_change(request, row, "Secret rotated.")
        note = "Copy the new ones to the receivers within a day."
        messages.success(request, f"Secrets rotated: {len(rows)}. {note}")
