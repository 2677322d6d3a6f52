"""The receiver: an address of ours that a subscription may point to, and what arrived there."""

import secrets

from django.db import models


def new_secret() -> str:
    """Return 256 random bits as they stand in an address."""
    return secrets.token_urlsafe(32)


class Receiver(models.Model):
    """The one row that says whether the receiver is on, and at which address.

    The secret is kept as it is, not hashed: it is shown again so that it can be copied, and all
    it opens is a log that this same database holds.
    """

    is_on = models.BooleanField(default=False)
    secret = models.CharField(max_length=64, default=new_secret)
    changed_at = models.DateTimeField(null=True)
    changed_by = models.CharField(max_length=200, blank=True)
    """The name at that time; empty until it is first switched."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"receiver, {'on' if self.is_on else 'off'}"


class Delivery(models.Model):
    """One request that arrived at the receiver. Nobody signed it: it is a claim, never a fact."""

    received_at = models.DateTimeField(db_index=True)
    size = models.PositiveIntegerField()
    """Bytes of the body, all of it."""
    content_type = models.CharField(max_length=200, blank=True)
    headers = models.JSONField()
    """Names and values, with what looks like a secret masked."""
    body = models.TextField(blank=True)
    """The beginning of the body, as text."""
    is_cut = models.BooleanField(default=False)
    event = models.CharField(max_length=64, blank=True)
    """The name of the event that the body speaks of, where it is one of the spec's six."""
    audience_id = models.TextField(blank=True)
    """The audience that the body speaks of, where it names one."""

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        default_permissions = ()
        indexes = [
            models.Index(
                fields=["audience_id", "event", "-received_at"],
                name="ledger_delivery_of_audience",
                condition=~models.Q(audience_id=""),
            )
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk}"
