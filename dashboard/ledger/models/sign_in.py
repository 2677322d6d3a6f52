"""The sign-in policy, and the log of changes to users' sign-in."""

from django.conf import settings
from django.db import models


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
        indexes = [models.Index(fields=["user", "kind", "-at"], name="ledger_event_of_user")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.username or 'everyone'}"
