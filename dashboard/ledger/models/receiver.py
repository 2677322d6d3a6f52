"""The webhook receiver, a URL of ours to subscribe, and the deliveries it received."""

import secrets

from django.db import models


def new_secret() -> str:
    """Return 256 random bits as text for a URL."""
    return secrets.token_urlsafe(32)


class Receiver(models.Model):
    """The single row with the state of the receiver and the secret in its URL.

    The secret is not hashed: it is displayed again to be copied, and gives access only to a log
    in this same database.
    """

    is_on = models.BooleanField(default=False)
    secret = models.CharField(max_length=64, default=new_secret)
    changed_at = models.DateTimeField(null=True)
    changed_by = models.CharField(max_length=200, blank=True)
    """The name at that time; empty before the first change."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"receiver, {'on' if self.is_on else 'off'}"


class Delivery(models.Model):
    """One request to the receiver. It is not signed: a claim, never a fact."""

    received_at = models.DateTimeField(db_index=True)
    size = models.PositiveIntegerField()
    """Bytes of the whole body."""
    content_type = models.CharField(max_length=200, blank=True)
    headers = models.JSONField()
    """Names and values, with likely secrets redacted."""
    body = models.TextField(blank=True)
    """The beginning of the body, as text."""
    is_cut = models.BooleanField(default=False)
    event = models.CharField(max_length=64, blank=True)
    """The name of the event in the body, if it is one of the spec's six."""
    audience_id = models.TextField(blank=True)
    """The id of the audience in the body, if there is one."""

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
