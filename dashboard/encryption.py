"""Encrypt secrets at rest with keys derived from SECRET_KEY.

Secrets encrypted with a key of SECRET_KEY_FALLBACKS can still be read;
`manage.py reseal_second_factors` encrypts them with the present key.
"""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac

_SALT = "dashboard.accounts.second_factor.encryption"
"""Never change this: the keys are derived from it."""


class DecryptionError(Exception):
    """The text was encrypted with an unknown key, or is not encrypted."""


def encrypt(text: str) -> str:
    """Encrypt a text with the present key."""
    return _keys().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Decrypt a text. Raises DecryptionError."""
    try:
        return _keys().decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise DecryptionError from None


def _keys() -> MultiFernet:
    """Return all keys for decryption; the first encrypts."""
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    digests = [salted_hmac(_SALT, "seal", secret=each, algorithm="sha256") for each in secrets]
    return MultiFernet([Fernet(urlsafe_b64encode(each.digest())) for each in digests])
