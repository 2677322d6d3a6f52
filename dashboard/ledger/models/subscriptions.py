"""Webhook subscriptions as last seen."""

from django.conf import settings
from django.db import models

from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models.base import ObservedRecord


class SubscriptionRecord(ObservedRecord):
    """A subscription as last seen. The service can't list them: a user adds each by its id."""

    subscription_id = models.TextField(unique=True)
    label = models.CharField(max_length=120, blank=True)
    """A name given here; the service has none."""
    url = models.TextField()
    active = models.BooleanField()
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["label", "subscription_id"]

    def __str__(self) -> str:
        return self.label or self.subscription_id

    @property
    def subscription(self) -> WebhookSubscription:
        """The subscription as last seen."""
        return WebhookSubscription.from_json(self.body)
