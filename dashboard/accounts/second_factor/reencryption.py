"""Re-encrypt second factors after a change of SECRET_KEY."""

from allauth.mfa.models import Authenticator
from django.db import transaction

from dashboard.accounts.overview import ENCRYPTED_FIELDS
from dashboard.encryption import DecryptionError, reencrypt


def reencrypt_factors() -> list[str]:
    """Encrypt them with the present key; return the names of users whose can't be decrypted."""
    every = Authenticator.objects.filter(type__in=ENCRYPTED_FIELDS).select_related("user")
    return sorted({each.user.get_username() for each in every if not _reencrypt(each.pk)})


@transaction.atomic
def _reencrypt(number: int) -> bool:
    """Encrypt one with the present key; return False if no key can decrypt it."""
    row = Authenticator.objects.select_for_update().get(pk=number)
    name = ENCRYPTED_FIELDS[row.type]
    try:
        row.data[name] = reencrypt(row.data[name])
    except DecryptionError:
        return False
    row.save(update_fields=["data"])
    return True
