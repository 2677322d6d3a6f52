"""Webhook subscriptions."""

from django.db import models

from dashboard.embedded_api.ids import MARK_LENGTH, id_column, uuid7_now
from dashboard.embedded_api.models.tenants import Tenant
from dashboard.texts import redact_secret


class Subscription(models.Model):
    id = id_column("whs")
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="subscriptions")
    url = models.TextField("URL")
    events = models.JSONField(null=True, blank=True)
    """A list of event names, or null (the spec does not say what that selects)."""
    active = models.BooleanField(default=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    updated_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)

    class Meta:
        verbose_name = "webhook subscription"

    def __str__(self) -> str:
        return redact_secret(self.url)
