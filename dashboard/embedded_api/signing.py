"""The secrets that sign deliveries, one for each subscription. Source: standardwebhooks.com."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from dashboard.embedded_api.models import SigningSecret, Subscription
from dashboard.encryption import DecryptionError, decrypt, encrypt
from dashboard.outgoing_webhooks import new_secret, signed_headers

OVERLAP = timedelta(days=1)
"""How long the previous secret also signs after a rotation. Source: our choice."""
_SIGNATURE = "webhook-signature"


def create_secret(
    instance: Subscription, *, created: bool = False, raw: bool = False, **_: object
) -> None:
    """Give a new subscription a secret. Receiver of the signal `post_save`."""
    if created and not raw:
        secret_of(instance)


def create_secrets(subscriptions: Iterable[Subscription]) -> None:
    # Rows that are inserted in bulk send no signal.
    SigningSecret.objects.bulk_create(
        SigningSecret(subscription=subscription, encrypted=encrypt(new_secret()))
        for subscription in subscriptions
    )


def secret_of(subscription: Subscription) -> SigningSecret:
    secret, _ = SigningSecret.objects.get_or_create(
        subscription=subscription, defaults={"encrypted": encrypt(new_secret())}
    )
    return secret


def reveal(secret: SigningSecret) -> str:
    """Return a secret in the form that receivers need, `whsec_…`. Raises DecryptionError."""
    return decrypt(secret.encrypted)


@transaction.atomic
def rotate(secret: SigningSecret, now: datetime, *, form_key: str = "") -> bool:
    """Replace a secret. The previous one also signs for a day.

    Returns False if this form has rotated it before. A second rotation would drop the secret that
    receivers still use.
    """
    row = SigningSecret.objects.select_for_update().get(pk=secret.pk)
    if form_key and row.form_key == form_key:
        return False
    try:
        reveal(row)
        row.previous_encrypted = row.encrypted
    except DecryptionError:
        row.previous_encrypted = ""
    row.encrypted = encrypt(new_secret())
    row.rotated_at, row.form_key = now, form_key
    row.save(update_fields=["previous_encrypted", "encrypted", "rotated_at", "form_key"])
    return True


def sign(secret: SigningSecret, message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that sign a body. Raises DecryptionError."""
    headers = signed_headers(reveal(secret), message_id, now, body)
    if secret.previous_encrypted and secret.rotated_at and now < secret.rotated_at + OVERLAP:
        previous = signed_headers(decrypt(secret.previous_encrypted), message_id, now, body)
        headers[_SIGNATURE] = f"{headers[_SIGNATURE]} {previous[_SIGNATURE]}"
    return headers
