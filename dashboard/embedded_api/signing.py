"""The secrets that sign deliveries, one per subscription. Source: standardwebhooks.com."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from dashboard.embedded_api.models import SigningSecret, Subscription
from dashboard.encryption import DecryptionError, decrypt, encrypt
from dashboard.outgoing_webhooks import new_secret, signed_headers

OVERLAP = timedelta(days=1)
"""For so long after a rotation the previous secret signs too. Source: our choice."""
_SIGNATURE = "webhook-signature"


def create_secret(
    instance: Subscription, *, created: bool = False, raw: bool = False, **_: object
) -> None:
    """Give a new subscription a secret: a receiver of the signal `post_save`."""
    if created and not raw:
        secret_of(instance)


def create_secrets(subscriptions: Iterable[Subscription]) -> None:
    """Give subscriptions that were inserted in bulk a secret each."""
    SigningSecret.objects.bulk_create(
        SigningSecret(subscription=each, encrypted=encrypt(new_secret())) for each in subscriptions
    )


def secret_of(subscription: Subscription) -> SigningSecret:
    """Return the secret of a subscription, a new one if it has none."""
    found, _ = SigningSecret.objects.get_or_create(
        subscription=subscription, defaults={"encrypted": encrypt(new_secret())}
    )
    return found


def reveal(secret: SigningSecret) -> str:
    """Return a secret as the receiver needs it: `whsec_…`. Raises DecryptionError."""
    return decrypt(secret.encrypted)


@transaction.atomic
def rotate(secret: SigningSecret, now: datetime) -> None:
    """Replace a secret; the previous one signs too for a day."""
    row = SigningSecret.objects.select_for_update().get(pk=secret.pk)
    row.previous_encrypted = row.encrypted if _is_readable(row) else ""
    row.encrypted = encrypt(new_secret())
    row.rotated_at = now
    row.save()


def _is_readable(row: SigningSecret) -> bool:
    """Return whether a secret was encrypted with a SECRET_KEY that is still known."""
    try:
        reveal(row)
    except DecryptionError:
        return False
    return True


def sign(secret: SigningSecret, message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that sign a body. Raises DecryptionError."""
    headers = signed_headers(reveal(secret), message_id, now, body)
    if secret.previous_encrypted and secret.rotated_at and now < secret.rotated_at + OVERLAP:
        previous = signed_headers(decrypt(secret.previous_encrypted), message_id, now, body)
        headers[_SIGNATURE] = f"{headers[_SIGNATURE]} {previous[_SIGNATURE]}"
    return headers
