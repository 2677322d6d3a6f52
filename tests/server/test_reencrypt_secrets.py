"""`manage.py reencrypt_secrets`: after a change of SECRET_KEY, no secret depends on the old one."""

from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.utils import timezone

from dashboard.embedded_api import signing
from dashboard.embedded_api.models import SigningSecret
from dashboard.encryption import DecryptionError, EncryptedText, decrypt, encrypt
from dashboard.notifications.models import WebhookFormat, WebhookTarget
from dashboard.webhooks.receiver import set_signing_secret
from tests.support.embedded_api_factories import make_subscription

pytestmark = pytest.mark.django_db
NEW = "another-key-of-the-tests-" + "y" * 40
MORE_THAN_A_BATCH = 501


@pytest.fixture
def encrypted() -> None:
    """A secret in every column that can have one, and more than a batch in one of them."""
    set_signing_secret("of the receiver", by="Ada")
    signing.rotate(make_subscription().signing_secret, timezone.now())
    WebhookTarget.objects.bulk_create(
        WebhookTarget(
            name=f"Desk {number}",
            url="https://chat.example/hook",
            format=WebhookFormat.STANDARD,
            secret=encrypt(f"of desk {number}"),
            created_at=timezone.now(),
        )
        for number in range(MORE_THAN_A_BATCH)
    )


def stored() -> dict[str, str]:
    """Return each stored encrypted text by its place."""
    columns = [
        field
        for model in apps.get_models()
        for field in model._meta.fields
        if isinstance(field, EncryptedText)
    ]
    return {
        f"{field}, {number}": text
        for field in columns
        for number, text in field.model.objects.values_list("pk", field.name)
    }


def decrypted() -> dict[str, str]:
    return {place: decrypt(text) for place, text in stored().items()}


@pytest.mark.usefixtures("encrypted")
def test_afterwards_the_old_key_is_not_needed(settings: Any) -> None:
    before = decrypted()
    assert len(before) == 1 + 2 + MORE_THAN_A_BATCH
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [settings.SECRET_KEY]
    call_command("reencrypt_secrets", verbosity=0)
    settings.SECRET_KEY_FALLBACKS = []
    assert decrypted() == before


@pytest.mark.usefixtures("encrypted")
def test_a_second_run_changes_nothing(settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [settings.SECRET_KEY]
    call_command("reencrypt_secrets", verbosity=0)
    after_the_first = stored()
    call_command("reencrypt_secrets", verbosity=0)
    assert stored() == after_the_first


@pytest.mark.usefixtures("encrypted")
def test_an_undecryptable_value_is_named(settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [settings.SECRET_KEY]
    lost = SigningSecret.objects.get()
    SigningSecret.objects.update(encrypted="of a key that nobody has")
    with pytest.raises(CommandError, match=f"can decrypt: signing secret {lost.pk}. All others"):
        call_command("reencrypt_secrets", verbosity=0)
    settings.SECRET_KEY_FALLBACKS = []
    assert decrypt(WebhookTarget.objects.latest("pk").secret) == f"of desk {MORE_THAN_A_BATCH - 1}"
    with pytest.raises(DecryptionError):
        decrypted()
