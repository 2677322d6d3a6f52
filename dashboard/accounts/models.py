"""A user's preferences, the sign-in policy, and the log of changes to users' sign-in."""

from typing import TypeAlias

from django.conf import settings
from django.db import models

Pin: TypeAlias = tuple[str, str]
"""The ids of a page and of one of its audiences; the second is empty for the page itself."""


class Preferences(models.Model):
    """A user's preferences. Without a row, all are the defaults."""

    class Theme(models.TextChoices):
        COMPUTER = "", "System"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    class Density(models.TextChoices):
        COMPACT = "", "Compact"
        COMFORTABLE = "comfortable", "Comfortable"

    class DateOrder(models.TextChoices):
        DAY_FIRST = "", "9 Mar 2026"
        MONTH_FIRST = "month", "Mar 9, 2026"

    class Hours(models.TextChoices):
        TWENTY_FOUR = "", "14:05"
        TWELVE = "12", "2:05 PM"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preferences"
    )
    theme = models.CharField(max_length=8, choices=Theme.choices, blank=True)
    density = models.CharField(max_length=12, choices=Density.choices, blank=True)
    time_zone = models.CharField(max_length=64, blank=True)
    """A name of the IANA database; empty for the browser's own."""
    date_order = models.CharField(
        max_length=8, choices=DateOrder.choices, blank=True, default="", db_default=""
    )
    hours = models.CharField(
        max_length=8, choices=Hours.choices, blank=True, default="", db_default=""
    )
    keys_off = models.BooleanField(default=False)
    """Whether single-key shortcuts are off (WCAG 2.1.4)."""
    pinned = models.JSONField(default=list)
    """Pairs of ids, the last pinned first."""
    email = models.EmailField(blank=True, default="", db_default="")
    """Address for e-mail instead of the account's own, confirmed by the link sent there."""
    overview_since = models.DateTimeField(null=True)
    """When the last but one visit to the overview ended; null if there was none."""
    overview_seen_at = models.DateTimeField(null=True)
    """When the overview was last opened."""

    class Meta:
        verbose_name_plural = "preferences"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["email"], condition=~models.Q(email=""), name="one_user_per_email"
            )
        ]

    def __str__(self) -> str:
        return f"preferences of {self.user}"

    @property
    def pins(self) -> list[Pin]:
        return [(page_id, audience_id) for page_id, audience_id in self.pinned]


class SignInPolicy(models.Model):
    """The single row of the sign-in policy. Without it, a password is enough."""

    publishers_need_second_factor = models.BooleanField(default=False)
    """Whether users who may change anything, at the service or here, need a second factor."""
    changed_at = models.DateTimeField(null=True)
    changed_by = models.CharField(max_length=200, blank=True)
    """The name at that time; empty before the first change."""

    class Meta:
        verbose_name_plural = "sign-in policies"
        default_permissions = ()

    def __str__(self) -> str:
        state = "required for publishers" if self.publishers_need_second_factor else "optional"
        return f"second factor: {state}"


class SignInEventKind(models.TextChoices):
    """The kinds of events. Source: our choice."""

    RULE_ON = "rule_on", "Second factor for publishers: required"
    RULE_OFF = "rule_off", "Second factor for publishers: optional"
    APP_ADDED = "app_added", "Set up an authenticator app"
    APP_REMOVED = "app_removed", "Removed the authenticator app"
    PASSKEY_ADDED = "passkey_added", "Added a passkey"
    PASSKEY_REMOVED = "passkey_removed", "Removed a passkey"
    CODES_RENEWED = "codes_renewed", "Generated new recovery codes"
    CODE_USED = "code_used", "Used a recovery code"
    WRONG = "wrong", "Wrong password, code or passkey"
    RESET = "reset", "Reset the second factor"
    CONNECTED = "connected", "Connected single sign-on"
    DISCONNECTED = "disconnected", "Disconnected single sign-on"


class SignInEvent(models.Model):
    """One event in the sign-in log. Never changed or deleted."""

    kind = models.CharField(max_length=16, choices=SignInEventKind)
    at = models.DateTimeField()
    actor_name = models.CharField(max_length=200)
    """The name at that time; it outlives the account."""
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    """The user concerned; null for a change of the policy."""
    username = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]
        default_permissions = ()
        indexes = [models.Index(fields=["user", "kind", "-at"], name="sign_in_events_of_user")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.username or 'everyone'}"
