"""`manage.py reseal_second_factors`: what a new SECRET_KEY asks for, before the old one goes."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from dashboard.web.sealing import UnreadableSealError, reseal

SEALED = {Authenticator.Type.TOTP: "secret", Authenticator.Type.RECOVERY_CODES: "seed"}
"""What is kept sealed of each. A passkey's public half is no secret."""


class Command(BaseCommand):
    """Seal the secrets of apps and recovery codes with the present SECRET_KEY."""

    help = "After a change of SECRET_KEY: seal what second factors keep with the new one."

    def handle(self, **options: Any) -> None:
        """Do it; doing it once too often does no harm. Raises CommandError where some are lost."""
        every = Authenticator.objects.filter(type__in=SEALED).select_related("user")
        lost = sorted({held.user.get_username() for held in every if not _reseal(held.pk)})
        if lost:
            raise CommandError(
                "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS names the key that reads the second "
                f"factors of {', '.join(lost)}. Name it, or reset them."
            )
        self.stdout.write("Sealed with the present SECRET_KEY.")


@transaction.atomic
def _reseal(number: int) -> bool:
    held = Authenticator.objects.select_for_update().get(pk=number)
    name = SEALED[held.type]
    try:
        held.data[name] = reseal(held.data[name])
    except UnreadableSealError:
        return False
    held.save(update_fields=["data"])
    return True
