"""The webhook receiver, a URL of ours to subscribe, and the deliveries it received."""

import secrets

from django.db import models

from dashboard.encryption import EncryptedText
from dashboard.work.claims import ClaimedRow


def new_secret() -> str:
    """Return 256 random bits as text for a URL."""
    return secrets.token_urlsafe(32)


class Receiver(models.Model):
    """The single row with the state of the receiver and the secret in its URL.

    The secret isn't hashed, because it is displayed again to be copied. It only lets a caller add
    to a log in this database and have known pages read again.
    """

    is_on = models.BooleanField(default=False)
    secret = models.CharField(max_length=64, default=new_secret)
    signing_secret = EncryptedText(blank=True)
    """Encrypted secret that verifies signatures; empty if none is required."""
    rejected_at = models.DateTimeField(null=True)
    """When a delivery without a valid signature was last rejected, to the minute."""
    form_key = models.CharField(max_length=64, blank=True)
    """Key of the form that last replaced the URL."""
    changed_at = models.DateTimeField(null=True)
    changed_by = models.CharField(max_length=200, blank=True)
    """Name of that user at the time; empty before the first change."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"receiver, {'on' if self.is_on else 'off'}"


class HintResult(models.TextChoices):
    READ = "read", "Refresh requested"
    """A worker reads the audience's page again."""
    NOT_KNOWN = "not_known", "Unknown audience"
    """The ledger doesn't have its page or audience, so nothing is read."""
    TOO_MANY = "too_many", "Too many at once"
    """Left out, because too many other pages were waiting."""
    NONE = "", "None"
    """It names no audience, or is about a form, which changes none."""


class ReceivedDelivery(models.Model):
    """One request to the receiver: a claim, never a fact, even if it is signed."""

    received_at = models.DateTimeField(db_index=True)
    size = models.PositiveIntegerField()
    """Bytes of the whole body."""
    content_type = models.CharField(max_length=200, blank=True)
    headers = models.JSONField()
    """Names and values, with likely secrets redacted."""
    encoding = models.CharField(max_length=40, blank=True)
    """How the body was compressed, such as gzip."""
    body = models.TextField(blank=True)
    """The beginning of the body, unpacked, as text."""
    changes = models.JSONField(default=list)
    """Sentences on how `body` differs from the bytes that were sent."""
    is_cut = models.BooleanField(default=False)
    event = models.CharField(max_length=64, blank=True)
    """The name of the event in the body, if it is one of the spec's six."""
    audience_id = models.TextField(blank=True)
    is_signed = models.BooleanField(default=False)
    """Whether its signature was verified; False if no signing secret was set."""
    event_digest = models.CharField(max_length=64, null=True, unique=True)
    """Digest of the signed ID, so that a replay is stored once; null if not signed."""
    hint = models.CharField(max_length=16, choices=HintResult, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        default_permissions = ()
        indexes = [
            models.Index(
                fields=["audience_id", "event", "-received_at"],
                name="delivery_of_audience",
                condition=~models.Q(audience_id=""),
            )
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk}"


class PageHint(ClaimedRow):
    """A page to read again, or one that was read recently.

    An event was about it, or a version on it is in flight. There is one row per page, because the
    service has one list for all audiences of a page.
    """

    page_id = models.TextField(unique=True)
    waiting_since = models.DateTimeField(null=True)
    """When the first event arrived since the last read began; null if none did."""
    not_before = models.DateTimeField()
    """A second after the last read began."""
    read_at = models.DateTimeField(null=True)
    """When the last successful read of the whole list began, if the service returned all of it."""
    followed_at = models.DateTimeField(null=True)
    """When the last version in flight that a worker follows was recorded."""

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["wake_at"])]

    def __str__(self) -> str:
        return f"hint of page {self.page_id}"
