"""Targets of webhooks, of a user or of a team.

The caller checks permissions: of a team's, MANAGE_DELIVERIES of `accounts/permissions.py`.
"""

from base64 import b64decode
from collections.abc import Collection

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.encryption import DecryptionError, decrypt, encrypt
from dashboard.ledger.models.operations import actor_name
from dashboard.notifications.errors import NotificationError
from dashboard.notifications.kinds import KINDS, TEAM_KINDS
from dashboard.notifications.models import (
    Channel,
    Delivery,
    DeliveryState,
    WebhookFormat,
    WebhookTarget,
)
from dashboard.notifications.outbox import new_delivery
from dashboard.outgoing_webhooks import (
    MAX_SECRET_BYTES,
    MIN_SECRET_BYTES,
    SECRET_PREFIX,
    ForbiddenURLError,
    check_url,
    new_secret,
)

MAX_NAME = 100
"""Characters."""
MAX_TARGETS = 20
"""Of a user, and of all teams together. Source: our choice."""


def list_targets(user: User | None) -> QuerySet[WebhookTarget]:
    """Return a user's targets, or with None those of teams, the oldest first."""
    return WebhookTarget.objects.filter(user=user)


def get_target(user: User | None, target_id: int) -> WebhookTarget | None:
    """Return one of a user's targets, or with None one of a team's."""
    return list_targets(user).filter(pk=target_id).first()


def add_target(
    actor: User,
    *,
    is_team: bool,
    name: str,
    url: str,
    format: str,  # noqa: A002  # as the column
    secret: str = "",
    kinds: Collection[str] | None = None,
) -> WebhookTarget:
    """Add a target. Without a secret, the signed format gets a new one: see `reveal_secret`.

    `kinds` are those of a team's; without any named, TEAM_KINDS. Raises NotificationError with the
    `field` that is invalid. The host is resolved when it is sent to; here the URL is checked as far
    as it shows.
    """
    owner = None if is_team else actor
    if format not in WebhookFormat.values:
        raise NotificationError("Choose a format.", field="format")
    if list_targets(owner).count() >= MAX_TARGETS:
        raise NotificationError(f"There are {MAX_TARGETS} webhooks already. Delete one first.")
    return WebhookTarget.objects.create(
        user=owner,
        name=_valid_name(name),
        url=_valid_url(url),
        format=format,
        secret=encrypt(_valid_secret(secret)) if format == WebhookFormat.STANDARD else "",
        kinds=_valid_kinds(kinds) if is_team else [],
        created_at=timezone.now(),
        created_by_name=actor_name(actor),
    )


def change_target(
    target: WebhookTarget,
    *,
    name: str,
    url: str,
    is_active: bool,
    kinds: Collection[str] | None = None,
) -> WebhookTarget:
    """Change a target; turning it on again also removes the reason why it was off.

    `kinds` is None to leave them as they are. Raises NotificationError as `add_target`.
    """
    target.name, target.url, target.is_active = _valid_name(name), _valid_url(url), is_active
    if kinds is not None and target.user_id is None:
        target.kinds = _valid_kinds(kinds)
    if is_active:
        target.off_reason = ""
    target.save(update_fields=["name", "url", "is_active", "kinds", "off_reason"])
    return target


def delete_target(target: WebhookTarget) -> None:
    """Delete a target, and what is still to be delivered to it."""
    target.delete()


def reveal_secret(target: WebhookTarget) -> str:
    """Return the secret that verifies the signature, `whsec_…`; "" if it can’t be decrypted."""
    try:
        return decrypt(target.secret) if target.secret else ""
    except DecryptionError:
        return ""


def begin_test(target: WebhookTarget, user: User) -> bool:
    """Have a worker send a test message, once. Returns False while the user's last one waits."""
    now = timezone.now()
    tests = Delivery.objects.filter(tested_by=user)
    tests.exclude(state=DeliveryState.WAITING).filter(target=target).delete()
    delivery = new_delivery(Channel.WEBHOOK, target_id=target.pk, now=now)
    delivery.tested_by, delivery.retry_until = user, now
    try:
        with transaction.atomic():
            delivery.save()
    except IntegrityError:
        return False
    return True


def last_test(target: WebhookTarget, user: User) -> Delivery | None:
    """Return the test message that a user sent last to a target, whatever became of it."""
    return Delivery.objects.filter(tested_by=user, target=target).first()


def _valid_name(name: str) -> str:
    name = name.strip()
    if not name or "\0" in name:
        raise NotificationError("Enter a name.", field="name")
    if len(name) > MAX_NAME:
        raise NotificationError(f"The maximum is {MAX_NAME} characters.", field="name")
    return name


def _valid_url(url: str) -> str:
    try:
        return str(check_url(url, allows_loopback=settings.WEBHOOKS_TO_LOOPBACK))
    except ForbiddenURLError as error:
        raise NotificationError(str(error), field="url") from error


def _valid_secret(secret: str) -> str:
    """Return a secret as receivers have it, or a new one."""
    secret = secret.strip()
    if not secret:
        return new_secret()
    try:
        size = len(b64decode(secret.removeprefix(SECRET_PREFIX), validate=True))
    except ValueError:
        size = 0
    if not MIN_SECRET_BYTES <= size <= MAX_SECRET_BYTES:
        sentence = f"A secret is {SECRET_PREFIX} and 24 to 64 bytes in Base64."
        raise NotificationError(sentence, field="secret")
    return secret


def _valid_kinds(kinds: Collection[str] | None) -> list[str]:
    if kinds is None:
        return TEAM_KINDS
    if not set(kinds) <= set(KINDS):
        sentence = "This form is out of date. Reload the page, then save again."
        raise NotificationError(sentence, field="kinds")
    return [kind for kind in KINDS if kind in kinds]
