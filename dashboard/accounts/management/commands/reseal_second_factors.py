"""`manage.py reseal_second_factors`: re-encrypt secrets after a change of SECRET_KEY."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dashboard.accounts.overview import ENCRYPTED_FIELDS
from dashboard.encryption import DecryptionError, decrypt, encrypt
from dashboard.ledger.models import Receiver


class Command(BaseCommand):
    """Encrypt the secrets of apps, recovery codes and the receiver with the current SECRET_KEY."""

    help = "Re-encrypt second factors and the receiver's secret after SECRET_KEY has changed."

    def handle(self, **options: Any) -> None:
        """Re-encrypt all secrets. Raises CommandError if some can't be decrypted."""
        every = Authenticator.objects.filter(type__in=ENCRYPTED_FIELDS).select_related("user")
        lost = sorted({held.user.get_username() for held in every if not _reencrypt(held.pk)})
        if lost:
            raise CommandError(
                "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS can decrypt the second factors of "
                f"{', '.join(lost)}. Add the key that can, or reset them."
            )
        if not _reencrypt_receiver():
            raise CommandError(
                "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS can decrypt the signing secret of the "
                "webhook receiver. Add the key that can, or enter the secret again."
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


@transaction.atomic
def _reencrypt_receiver() -> bool:
    for receiver in Receiver.objects.select_for_update().exclude(signing_secret=""):
        try:
            receiver.signing_secret = encrypt(decrypt(receiver.signing_secret))
        except DecryptionError:
            return False
        receiver.save(update_fields=["signing_secret"])
    return True
