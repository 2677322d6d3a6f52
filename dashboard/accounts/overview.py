"""Summaries of sign-in methods: a user's own for the settings, all users' for administrators."""

from dataclasses import dataclass, field
from datetime import datetime

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from dashboard.accounts.single_sign_on.policy import (
    is_configured,
    organisation_name,
    provider_account,
)
from dashboard.encryption import DecryptionError, decrypt

Type = Authenticator.Type

ENCRYPTED_FIELDS = {Type.TOTP: "secret", Type.RECOVERY_CODES: "seed"}
"""The encrypted field of each type. A passkey's public key is no secret."""


@dataclass(frozen=True)
class Factors:
    app: Authenticator | None = None
    passkeys: list[Authenticator] = field(default_factory=list)
    codes_left: int | None = None
    """Number of unused recovery codes; None if they can't be decrypted."""
    organisation: str = ""
    """The name of the organization's provider; "" if none is configured."""
    connected_at: datetime | None = None
    """When the user's account was connected to the provider; None if it isn't."""
    can_disconnect: bool = False
    """Whether the user could still sign in without the provider."""

    @property
    def is_on(self) -> bool:
        return bool(self.app or self.passkeys)


def factors_of(user: User) -> Factors:
    factors = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    codes = next((factor for factor in factors if factor.type == Type.RECOVERY_CODES), None)
    codes_left: int | None = 0
    if codes:
        codes_left = len(codes.wrap().get_unused_codes()) if _is_readable(codes) else None
    account = provider_account(user) if is_configured() else None
    return Factors(
        app=next((factor for factor in factors if factor.type == Type.TOTP), None),
        passkeys=[factor for factor in factors if factor.type == Type.WEBAUTHN],
        codes_left=codes_left,
        organisation=organisation_name(),
        connected_at=account.date_joined if account else None,
        can_disconnect=account is not None and user.has_usable_password(),
    )


def list_sign_in_summaries() -> QuerySet[User]:
    """Return the active users by name, with `by_organisation`, `has_app` and `passkeys` (count)."""
    factors = Authenticator.objects.filter(user=OuterRef("pk"))
    return (
        User.objects.filter(is_active=True)
        .annotate(
            by_organisation=Exists(SocialAccount.objects.filter(user=OuterRef("pk"))),
            has_app=Exists(factors.filter(type=Type.TOTP)),
            passkeys=Count("authenticator", filter=Q(authenticator__type=Type.WEBAUTHN)),
        )
        .prefetch_related("groups")
        .order_by("username")
    )


def unreadable_second_factors() -> list[str]:
    factors = Authenticator.objects.filter(type__in=ENCRYPTED_FIELDS, user__is_active=True)
    return sorted(
        {
            factor.user.get_username()
            for factor in factors.select_related("user")
            if not _is_readable(factor)
        }
    )


def _is_readable(factor: Authenticator) -> bool:
    try:
        decrypt(factor.data[ENCRYPTED_FIELDS[factor.type]])
    except DecryptionError:
        return False
    return True
