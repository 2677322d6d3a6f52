"""The tables of notifications: preferences and webhooks, events, and the outbox.

A worker adds an outbox item for each recipient of an event. It combines the items of a recipient
into one message, a delivery, and sends it until it arrives or is given up.
"""

import secrets

from django.conf import settings
from django.db import models

from dashboard.encryption import EncryptedText
from dashboard.ledger.models.operations import MAX_ACTOR_NAME
from dashboard.work.claims import ClaimedRow
from dashboard.work.deliveries import DeliveryRow

DEFAULT_DIGEST_HOUR = 8


class NotificationError(Exception):
    """Invalid input: nothing was changed.

    `str(error)` is a sentence for the user, and `field` names the input it belongs to, or is "".
    """

    def __init__(self, sentence: str, *, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


class Channel(models.TextChoices):
    """A way to notify a user. Source: our choice."""

    IN_APP = "in_app", "In Pressroom"
    EMAIL = "email", "E-mail"
    WEBHOOK = "webhook", "Webhook"


class Preference(models.Model):
    """A saved cell of a user's matrix. Without a row, the default applies."""

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


class Follow(models.Model):
    """A page or an audience that a user follows.

    Ids are text of any length (spec). There are no foreign keys; records are joined by these ids.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    page_id = models.TextField()
    audience_id = models.TextField(blank=True)
    """Empty for the page itself."""
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["page_id", "audience_id", "user"], name="one_follow_a_user"
            )
        ]

    def __str__(self) -> str:
        return self.audience_id or self.page_id


class NotificationSettings(models.Model):
    """When a user is notified. Without a row, the defaults apply."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    time_zone = models.CharField(max_length=64, blank=True)
    """Time zone of the quiet hours and the digest, by its IANA name; empty for UTC."""
    quiet_from = models.TimeField(null=True)
    """When quiet hours begin each day; null if there are none. They may end on the next day."""
    quiet_to = models.TimeField(null=True)
    has_digest = models.BooleanField(default=True)
    digest_hour = models.PositiveSmallIntegerField(default=DEFAULT_DIGEST_HOUR)
    """Hour of the digest, 0 to 23, in the time zone."""
    digested_on = models.DateField(null=True)
    """The user's date of the last digest, whether or not it had anything to say."""
    digested_at = models.DateTimeField(null=True)
    """When that digest was made. The next one covers events from shortly before then."""

    class Meta:
        verbose_name_plural = "notification settings"
        default_permissions = ()

    def __str__(self) -> str:
        return f"notification settings of {self.user_id}"


class WebhookFormat(models.TextChoices):
    SLACK = "slack", "Slack"
    STANDARD = "standard", "JSON, signed"
    """Source: standardwebhooks.com."""


class WebhookTarget(models.Model):
    """A URL that receives the notifications of a user or a team."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    """Owner of the webhook; null for a team's."""
    form_key = models.CharField(max_length=64, unique=True, default=secrets.token_hex)
    """Key of the form that added it, or a random one."""
    name = models.CharField(max_length=100)
    url = models.TextField()
    """In Slack's format, the URL is a secret. It is shown only to those who may change it."""
    format = models.CharField(max_length=8, choices=WebhookFormat)
    secret = EncryptedText(blank=True)
    """Encrypted secret that signs the body; empty for Slack's format."""
    kinds = models.JSONField(default=list)
    """Names of the kinds that a team's webhook gets. A user's webhook follows the user's matrix."""
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


MAX_KEY = 200


class Event(ClaimedRow):
    """Something that happened once. It has ids, names and numbers, but no text of agents or people.

    A worker claims it to notify its recipients. Ids of the service are text of any length (spec).
    Our own ids aren't foreign keys: an event outlives its subject, and is recorded even if its
    subject is deleted at the same moment.
    """

    kind = models.CharField(max_length=32)
    """A name of `kinds.KINDS`."""
    key = models.CharField(max_length=MAX_KEY, unique=True)
    """Identifies what happened. Recording the same key again, in any process, has no effect."""
    at = models.DateTimeField()
    actor_id = models.BigIntegerField(null=True)
    """The user who did it; null if nobody did, such as when the service is unreachable."""
    actor_name = models.CharField(max_length=MAX_ACTOR_NAME, blank=True)
    owner_ids = models.JSONField(default=list)
    """The users whose change it is."""

    page_id = models.TextField(blank=True)
    audience_id = models.TextField(blank=True)
    version_id = models.TextField(blank=True)
    operation_key = models.CharField(max_length=128, blank=True)
    release_id = models.BigIntegerField(null=True)
    approval_id = models.BigIntegerField(null=True)

    path = models.TextField()
    """Path of the page that shows it, such as `/releases/7/`."""
    facts = models.JSONField(default=dict)
    """Names and numbers that fill the sentence of its kind."""

    class Meta:
        ordering = ["-at", "-pk"]
        default_permissions = ()
        indexes = [
            # For the daily digest and `manage.py prune`.
            models.Index(fields=["at"]),
            models.Index(
                name="events_to_notify_of",
                fields=["wake_at"],
                condition=models.Q(wake_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Notification(models.Model):
    """An event in one user's notifications: the channel *In Pressroom* and the history."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="notifications")
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "event"], name="one_notification_an_event")
        ]
        indexes = [
            models.Index(fields=["user", "-id"]),
            # For the count of the bell on every page.
            models.Index(
                name="unread_notifications", fields=["user"], condition=models.Q(read_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"notification {self.pk}"


class DeliveryState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    """Waiting for its first or next attempt."""
    SENT = "sent", "Sent"
    GIVEN_UP = "given_up", "Given up"
    """No attempt succeeded within three days, or none can succeed."""
    DROPPED = "dropped", "Not sent"
    """Dropped by a restore, as it may have been sent after the backup."""


class Delivery(DeliveryRow):
    """One message to one recipient by e-mail or webhook."""

    channel = models.CharField(max_length=8, choices=Channel)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    """The recipient of an e-mail; null for a webhook."""
    target = models.ForeignKey(
        WebhookTarget, null=True, on_delete=models.CASCADE, related_name="deliveries"
    )
    """The recipient of a webhook; null for an e-mail."""
    message_id = models.CharField(max_length=64, unique=True)
    """The same in every attempt, so that the recipient recognizes a repeated message."""
    digest_on = models.DateField(null=True)
    """The user's date of a daily digest; null for all other messages."""
    new_address = models.EmailField(blank=True, max_length=254)
    """New address of the user, which the link in this message confirms; empty for all others."""
    tested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    """The user who waits for the result of a test message; null for all others."""
    created_at = models.DateTimeField()

    state = models.CharField(max_length=8, choices=DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    attempted_at = models.DateTimeField(null=True)
    status_code = models.PositiveIntegerField(null=True)
    """Status code of the last attempt's HTTP or SMTP response; null if there was none."""
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        default_permissions = ()
        permissions = [
            (
                "manage_deliveries",
                "Can see the delivery log, send again, and change webhooks of teams",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "digest_on"],
                condition=models.Q(digest_on__isnull=False),
                name="one_digest_a_day",
            ),
            models.UniqueConstraint(
                fields=["tested_by"],
                condition=models.Q(tested_by__isnull=False, state="waiting"),
                name="one_test_at_a_time",
            ),
        ]
        indexes = [
            models.Index(
                name="deliveries_to_attempt",
                fields=["channel", "wake_at"],
                condition=models.Q(wake_at__isnull=False),
            ),
            models.Index(fields=["state", "-id"]),
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk}"


class DeliveryAttempt(models.Model):
    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempt_log")
    at = models.DateTimeField()
    status_code = models.PositiveIntegerField(null=True)
    """Status code of the HTTP or SMTP response; null if there was none."""
    problem = models.TextField(blank=True)
    """Why it failed, in a sentence; empty if it succeeded."""

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"attempt {self.pk}"


class DeliveryItem(models.Model):
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="+")
    channel = models.CharField(max_length=8, choices=Channel)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    target = models.ForeignKey(WebhookTarget, null=True, on_delete=models.CASCADE, related_name="+")
    due_at = models.DateTimeField()
    """When it may go into a message: after the bundling window and the quiet hours."""
    delivery = models.ForeignKey(
        Delivery, null=True, on_delete=models.CASCADE, related_name="items"
    )
    """The message that contains it; null until there is one."""

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        indexes = [
            models.Index(
                name="delivery_items_due",
                fields=["due_at"],
                condition=models.Q(delivery__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"
