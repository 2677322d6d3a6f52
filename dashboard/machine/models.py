"""Access tokens, the plans made with them, and the results of keyed requests."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import models

from dashboard import clock
from dashboard.ledger.models.operations import MAX_ACTOR_NAME
from dashboard.releases.models import Release
from dashboard.work.claims import ClaimedRow

MAX_TOKEN_NAME, MAX_CLIENT, MAX_KEY = 60, 120, 128
PLAN_LASTS = timedelta(hours=24)
"""How long a plan can be used. Our choice; workers remove undecided drafts after a day."""


class Scope(models.TextChoices):
    READ = "read", "Read"
    REQUEST = "request", "Request"
    PUBLISH = "publish", "Publish"


class MachineToken(models.Model):
    """A token for a program that acts for a person, or for a service owned by an Administrator."""

    form_key = models.CharField(max_length=64, unique=True, default=secrets.token_hex)
    """Key of the form that made the token; sending the form again makes no other."""
    name = models.CharField(max_length=MAX_TOKEN_NAME)
    sha256 = models.CharField(max_length=64, unique=True)
    """Hash of the token. The token itself is not stored."""
    last_four = models.CharField(max_length=4)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """User whose rights the token has, and the requester of everything it asks for."""
    is_service = models.BooleanField(default=False)
    """Whether it belongs to a service. Its owner is then an Administrator, and can change."""
    is_agent = models.BooleanField(default=False)
    """Whether an AI agent uses it. Such a token can never publish."""
    scopes = models.JSONField(default=list)
    page_ids = models.JSONField(null=True)
    """IDs of the pages that it may see; null for all."""
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    last_client = models.CharField(max_length=MAX_CLIENT, blank=True)
    """Name that the program gave itself in its User-Agent header."""
    revoked_at = models.DateTimeField(null=True)
    revoked_by_name = models.CharField(max_length=MAX_ACTOR_NAME, blank=True)

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= clock.now() else "active"

    def may_see(self, page_id: str) -> bool:
        return self.page_ids is None or page_id in self.page_ids


class MachinePlan(models.Model):
    """A release planned with a token, and when the plan expires."""

    release = models.OneToOneField(
        Release, on_delete=models.CASCADE, related_name="machine_plan", primary_key=True
    )
    token = models.ForeignKey(MachineToken, on_delete=models.PROTECT, related_name="plans")
    request_id = models.CharField(max_length=128, blank=True)
    """ID of the HTTP request that made the plan, as in the log."""
    digest = models.CharField(max_length=64)
    """Digest of the planned release; a request or publish must name it."""
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.digest


class KeyedRequest(ClaimedRow):
    """The result of a request with an Idempotency-Key. It is never deleted.

    The process that performs the request claims it.
    """

    token = models.ForeignKey(MachineToken, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=MAX_KEY)
    digest = models.CharField(max_length=64)
    """Digest of the act and its arguments."""
    status = models.PositiveSmallIntegerField(null=True)
    """Status code of the response; null until there is one."""
    body = models.JSONField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="one_request_a_key")]

    def __str__(self) -> str:
        return self.key
