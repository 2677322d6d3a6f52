"""The secret that verifies the signatures of deliveries, by Standard Webhooks.

Source: standardwebhooks.com. The secret is encrypted like second factors.
"""

from base64 import b64decode
from collections.abc import Mapping
from hashlib import sha256

from django import forms
from django.core.exceptions import ValidationError
from standardwebhooks import Webhook, WebhookVerificationError

from dashboard.encryption import DecryptionError, decrypt, encrypt
from dashboard.ledger.models import Receiver
from dashboard.outgoing_webhooks import MAX_SECRET_BYTES, MIN_SECRET_BYTES, SECRET_PREFIX
from dashboard.web.ui.form_fields import SingleLineField


class SigningSecretForm(forms.Form):
    """The secret that the service shows for a subscription."""

    signing_secret = SingleLineField(
        label="Signing secret",
        required=True,
        max_length=200,
        widget=forms.TextInput(
            attrs={"class": "input mono", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text=f"Starts with {SECRET_PREFIX}. The service shows it with the subscription.",
        error_messages={"required": "Enter the signing secret."},
    )

    def clean_signing_secret(self) -> str:
        """Return the secret. Raises ValidationError unless it is one of Standard Webhooks."""
        secret: str = self.cleaned_data["signing_secret"].strip()
        try:
            size = len(b64decode(secret.removeprefix(SECRET_PREFIX), validate=True))
        except ValueError:
            size = 0
        if not MIN_SECRET_BYTES <= size <= MAX_SECRET_BYTES:
            raise ValidationError(f"A secret is {SECRET_PREFIX} and 24 to 64 bytes in Base64.")
        return secret

    @property
    def encrypted(self) -> str:
        """The valid secret, to be stored."""
        return encrypt(self.cleaned_data["signing_secret"])


def is_signed(receiver: Receiver, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether a delivery is signed with the receiver's secret, at most 5 minutes ago."""
    try:
        webhook = Webhook(decrypt(receiver.signing_secret))
        webhook.verify(body, dict(headers), json_parse=False)
    except (DecryptionError, WebhookVerificationError, ValueError):
        # ValueError: a signature or a body that is no text of the expected form.
        return False
    return True


def event_digest(headers: Mapping[str, str]) -> str:
    """Return the digest of the ID of a signed delivery, which is the same each time it is sent."""
    return sha256(headers["webhook-id"].encode()).hexdigest()


def can_verify(receiver: Receiver) -> bool:
    """Return whether no secret is set, or it can be decrypted with the present SECRET_KEY."""
    try:
        return not receiver.signing_secret or bool(decrypt(receiver.signing_secret))
    except DecryptionError:
        return False
