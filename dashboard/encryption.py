"""Encrypt secrets at rest with keys derived from SECRET_KEY.

Secrets encrypted with a key of SECRET_KEY_FALLBACKS can still be read. `manage.py
reencrypt_secrets` encrypts them with the current key.
"""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models
from django.utils.crypto import salted_hmac

_SALT = "dashboard.accounts.second_factor.encryption"
"""Never change this: the keys are derived from it."""


class DecryptionError(Exception):
    """The text was encrypted with an unknown key, or is not encrypted."""


class EncryptedText(models.TextField):  # type: ignore[type-arg]  # not so at run time
    """Column for a result of `encrypt`, or "". `reencrypt_secrets` finds all such columns."""


def encrypt(text: str) -> str:
    return _keys().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str:
    try:
        return _keys().decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise DecryptionError from None


def reencrypt(encrypted: str) -> str:
    """Return the secret encrypted with the current key. Raises DecryptionError."""
    try:
        Fernet(_key(settings.SECRET_KEY)).decrypt(encrypted.encode())
    except InvalidToken:
        return encrypt(decrypt(encrypted))
    return encrypted


def _keys() -> MultiFernet:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(_key(secret)) for secret in secrets])


def _key(secret: str) -> bytes:
    digest = salted_hmac(_SALT, "seal", secret=secret, algorithm="sha256").digest()
    return urlsafe_b64encode(digest)
