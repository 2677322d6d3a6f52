"""Secrets that have to be read again are kept sealed, with keys made from SECRET_KEY.

What a key of SECRET_KEY_FALLBACKS sealed can still be read, and is sealed anew by
`manage.py reseal_second_factors`.
"""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac

_SALT = "dashboard.web.sealing"


class UnreadableSealError(Exception):
    """It was sealed with a key that is not named any more, or is no seal at all."""


def seal(text: str) -> str:
    """Return the text as it is kept."""
    return _keys().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Return the text. Raises UnreadableSealError."""
    try:
        return _keys().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise UnreadableSealError from None


def reseal(sealed: str) -> str:
    """Return it sealed with the present key. Raises UnreadableSealError."""
    return seal(unseal(sealed))


def _keys() -> MultiFernet:
    """Return the keys to read with; the first of them seals."""
    return MultiFernet(
        [_key(each) for each in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    )


def _key(secret: str) -> Fernet:
    digest = salted_hmac(_SALT, "seal", secret=secret, algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(digest))
