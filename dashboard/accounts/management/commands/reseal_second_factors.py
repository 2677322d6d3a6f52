"""`manage.py reseal_second_factors`: re-encrypt second factors after a change of SECRET_KEY."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dashboard.accounts.overview import ENCRYPTED_FIELDS
from dashboard.accounts.second_factor.encryption import DecryptionError, decrypt, encrypt


class Command(BaseCommand):
    """Encrypt the secrets of apps and recovery codes with the current SECRET_KEY."""

    help = "Re-encrypt second factors after SECRET_KEY has changed."

    def handle(self, **options: Any) -> None:
        """Re-encrypt all secrets. Raises CommandError if some can't be decrypted."""
        every = Authenticator.objects.filter(type__in=ENCRYPTED_FIELDS).select_related("user")
        lost = sorted({held.user.get_username() for held in every if not _reencrypt(held.pk)})
        if lost:
            raise CommandError(
                "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS can decrypt the second factors of "
                f"{', '.join(lost)}. Add the key that can, or reset them."
            )
        self.stdout.write("Re-encrypted with the current SECRET_KEY.")


@transaction.atomic
def _reencrypt(number: int) -> bool:
    held = Authenticator.objects.select_for_update().get(pk=number)
    name = ENCRYPTED_FIELDS[held.type]
    try:
        held.data[name] = encrypt(decrypt(held.data[name]))
    except DecryptionError:
        return False
    held.save(update_fields=["data"])
    return True
