"""What a user wants to be notified of, by which channel, and when; and targets of webhooks."""

from django.conf import settings
from django.db import models

from dashboard.encryption import EncryptedText

DEFAULT_DIGEST_HOUR = 8


class Channel(models.TextChoices):
    """A way to notify a user. Source: our choice."""

    IN_APP = "in_app", "In Pressroom"
    EMAIL = "email", "E-mail"
    WEBHOOK = "webhook", "Webhook"


class Preference(models.Model):
    """One cell of a user's matrix that differs from the default, or did once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=32)
    """A name of `kinds.KINDS`."""
    channel = models.CharField(max_length=8, choices=Channel)
    is_on = models.BooleanField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["user", "kind", "channel"], name="one_preference_a_cell"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.channel}: {'on' if self.is_on else 'off'}"


class NotificationSettings(models.Model):
    """When a user is notified. Without a row, all are the defaults."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    time_zone = models.CharField(max_length=64, blank=True)
    """Of the quiet hours and the digest, by its name in the IANA database; empty for UTC."""
    quiet_from = models.TimeField(null=True)
    """When quiet hours begin each day; null without any. They may end on the next day."""
    quiet_to = models.TimeField(null=True)
    has_digest = models.BooleanField(default=True)
    digest_hour = models.PositiveSmallIntegerField(default=DEFAULT_DIGEST_HOUR)
    """0 to 23, in the time zone."""
    digested_on = models.DateField(null=True)
    """The user's date of the last digest, whether or not it had anything to say."""
    digested_at = models.DateTimeField(null=True)
    """When that digest was made: the next one begins there."""

    class Meta:
        verbose_name_plural = "notification settings"
        default_permissions = ()

    def __str__(self) -> str:
        return f"notification settings of {self.user_id}"


class WebhookFormat(models.TextChoices):
    """The body of a webhook."""

    SLACK = "slack", "Slack"
    STANDARD = "standard", "JSON, signed"
    """Source: standardwebhooks.com."""


class WebhookTarget(models.Model):
    """A URL that is notified: of what concerns one user, or a team."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    """Null for a team's."""
    name = models.CharField(max_length=100)
    url = models.TextField()
    """For Slack's format it is a secret itself: shown to those who may change it only."""
    format = models.CharField(max_length=8, choices=WebhookFormat)
    secret = EncryptedText(blank=True)
    """Signs the body of the signed format; encrypted, and empty for Slack's."""
    kinds = models.JSONField(default=list)
    """Names of the kinds that a team's is notified of; a user's follows the user's matrix."""
    is_active = models.BooleanField(default=True)
    off_reason = models.TextField(blank=True)
    """Why Pressroom turned it off, in a sentence; empty unless it did."""
    created_at = models.DateTimeField()
    created_by_name = models.CharField(max_length=200)

    class Meta:
        ordering = ["pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
