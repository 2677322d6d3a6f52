"""Webhook targets of users and teams.

The caller checks permissions: a team's targets need MANAGE_DELIVERIES of `accounts/permissions.py`.
"""

from collections.abc import Collection
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from dashboard import clock
from dashboard.encryption import DecryptionError, decrypt, encrypt
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.ledger.models.operations import actor_name
from dashboard.limits import has_room
from dashboard.notifications.kinds import KINDS, TEAM_KINDS
from dashboard.notifications.models import (
    Channel,
    Delivery,
    DeliveryState,
    NotificationError,
    WebhookFormat,
    WebhookTarget,
)
from dashboard.notifications.outbox import new_delivery
from dashboard.outgoing_webhooks import (
    NO_SECRET,
    ForbiddenURLError,
    check_url,
    is_secret,
    new_secret,
)

MAX_NAME = 100
"""Maximum length of a name, in characters."""
MAX_TARGETS = 20
"""Maximum for each user, and for all teams together. Source: our choice."""


def list_targets(user: User | None) -> QuerySet[WebhookTarget]:
    """Return a user's targets, or the targets of all teams for None, oldest first."""
    return WebhookTarget.objects.filter(user=user)


def get_target(user: User | None, target_id: int) -> WebhookTarget | None:
    return list_targets(user).filter(pk=target_id).first()


@transaction.atomic
def add_target(
    actor: User,
    *,
    is_team: bool,
    name: str,
    url: str,
    format: str,  # noqa: A002  # as the column
    secret: str = "",
    kinds: Collection[str] | None = None,
    form_key: str | None = None,
) -> WebhookTarget:
    """Add a target. If this form has added one already, return that one.

    Without a secret, the signed format gets a new one: see `reveal_secret`. `kinds` is for teams
    only; None means TEAM_KINDS. Raises NotificationError with the invalid `field`. This checks the
    URL only; its host is resolved when a message is sent.
    """
    owner = None if is_team else actor
    form_key = form_key or token_hex()
    is_full = not has_room(list_targets(owner), at_most=MAX_TARGETS)
    if target := list_targets(owner).filter(form_key=form_key).first():
        return target
    if format not in WebhookFormat.values:
        raise NotificationError("Choose a format.", field="format")
    if is_full:
        raise NotificationError(f"There are {MAX_TARGETS} webhooks already. Delete one first.")
    columns = {
        "name": _valid_name(name),
        "url": _valid_url(url),
        "format": format,
        "secret": encrypt(_valid_secret(secret)) if format == WebhookFormat.STANDARD else "",
        "kinds": _valid_kinds(kinds) if is_team else [],
        "created_at": clock.now(),
        "created_by_name": actor_name(actor),
    }
    target, _ = WebhookTarget.objects.get_or_create(user=owner, form_key=form_key, defaults=columns)
    add_to_feed(target)
    return target


@transaction.atomic
def change_target(
    target: WebhookTarget,
    *,
    name: str,
    url: str,
    is_active: bool,
    kinds: Collection[str] | None = None,
) -> None:
    """Change a target. Turning it on again also removes the reason why it was off.

    `kinds` is None to leave them unchanged. Raises NotificationError as `add_target`.
    """
    columns: dict[str, Any] = {
        "name": _valid_name(name),
        "url": _valid_url(url),
        "is_active": is_active,
    }
    if kinds is not None and target.user_id is None:
        columns["kinds"] = _valid_kinds(kinds)
    if is_active:
        columns["off_reason"] = ""
    if not list_targets(target.user).filter(pk=target.pk).update(**columns):
        raise NotificationError("This webhook no longer exists.")
    add_to_feed(target)


@transaction.atomic
def delete_target(target: WebhookTarget) -> None:
    # Lock first: a worker may just have recorded an attempt, which has to be deleted, too.
    list(WebhookTarget.objects.select_for_update().filter(pk=target.pk))
    list(Delivery.objects.select_for_update().filter(target=target).order_by("pk"))
    add_to_feed(target)
    target.delete()


def add_to_feed(target: WebhookTarget) -> None:
    """Add a feed entry about a target, for its owner or for those who may change teams' targets."""
    feed.add(FeedEntry(kind=FeedKind.TARGET, object_id=str(target.pk), user_id=target.user_id))


def reveal_secret(target: WebhookTarget) -> str:
    """Return the secret that verifies the signature, `whsec_…`; "" if it can’t be decrypted."""
    try:
        return decrypt(target.secret) if target.secret else ""
    except DecryptionError:
        return ""


def begin_test(target: WebhookTarget, user: User) -> bool:
    """Have a worker send a test message once. Returns False while the user's last test waits."""
    now = clock.now()
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
    secret = secret.strip() or new_secret()
    if not is_secret(secret):
        raise NotificationError(NO_SECRET, field="secret")
    return secret


def _valid_kinds(kinds: Collection[str] | None) -> list[str]:
    if kinds is None:
        return TEAM_KINDS
    if not set(kinds) <= {kind.name for kind in KINDS.values() if not kind.is_personal}:
        sentence = "This form is out of date. Reload the page, then save again."
        raise NotificationError(sentence, field="kinds")
    return [kind for kind in KINDS if kind in kinds]
