"""`manage.py reencrypt_secrets`: re-encrypt all secrets after a change of SECRET_KEY."""

from collections.abc import Sequence
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Field

from dashboard.accounts.overview import ENCRYPTED_FIELDS
from dashboard.encryption import DecryptionError, EncryptedText, reencrypt

BATCH_SIZE = 500
"""Rows locked at a time: few enough that the dashboard never waits long for one of them."""
MAX_NAMED = 20


class Command(BaseCommand):
    help = (
        "Re-encrypt all secrets after SECRET_KEY has changed: second factors, and the secrets that "
        "sign webhooks. Secrets that are encrypted with the current key stay as they are."
    )

    def handle(self, **options: Any) -> None:
        factors = Authenticator.objects.filter(type__in=ENCRYPTED_FIELDS).select_related("user")
        users = {row.user.get_username() for row in factors if not _reencrypt_factor(row.pk)}
        lost = [f"second factor of {name}" for name in sorted(users)]
        for model in apps.get_models():
            for column in model._meta.fields:
                if isinstance(column, EncryptedText):
                    lost += _reencrypt_column(column)
        if lost:
            more = f", and {len(lost) - MAX_NAMED} more" if len(lost) > MAX_NAMED else ""
            raise CommandError(
                "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS can decrypt: "
                f"{', '.join(lost[:MAX_NAMED])}{more}. All others are re-encrypted. Add the key "
                "that can, or reset these second factors and replace these secrets."
            )
        self.stdout.write("Re-encrypted with the current SECRET_KEY.")


@transaction.atomic
def _reencrypt_factor(number: int) -> bool:
    """Re-encrypt a second factor; return whether it could be decrypted."""
    row = Authenticator.objects.select_for_update().get(pk=number)
    name = ENCRYPTED_FIELDS[row.type]
    try:
        row.data[name] = reencrypt(row.data[name])
    except DecryptionError:
        return False
    row.save(update_fields=["data"])
    return True


def _reencrypt_column(column: "Field[Any, Any]") -> list[str]:
    """Re-encrypt a column in batches; return the names of secrets that can't be decrypted."""
    model = column.model
    numbers = list(model._default_manager.order_by("pk").values_list("pk", flat=True))
    lost: list[object] = []
    for start in range(0, len(numbers), BATCH_SIZE):
        lost += _reencrypt_rows(column, numbers[start : start + BATCH_SIZE])
    return [f"{model._meta.verbose_name} {number}" for number in lost]


@transaction.atomic
def _reencrypt_rows(column: "Field[Any, Any]", numbers: Sequence[object]) -> list[object]:
    rows, name = column.model._default_manager, column.attname
    changed, lost = [], []
    for row in rows.select_for_update().filter(pk__in=numbers).exclude(**{name: ""}):
        before = getattr(row, name)
        try:
            after = reencrypt(before)
        except DecryptionError:
            lost.append(row.pk)
            continue
        if after != before:
            setattr(row, name, after)
            changed.append(row)
    rows.bulk_update(changed, [name])
    return lost
