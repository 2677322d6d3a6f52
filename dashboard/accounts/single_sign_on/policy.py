"""Rules for the claims of the organization's OpenID Connect provider.

They decide who may sign in, with which groups, and whether a second factor was used. Only the
signed-in user of an account can connect it to the provider.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import Q

AMR_OF_SECOND_FACTORS = {"mfa", "otp", "hwk", "sc"}
"""Authentication methods: multiple factors, one-time password, hardware key, smart card.
Source: RFC 8176, 2."""
ACR_OF_SECOND_FACTORS = {
    "phr",
    "phrh",
    "https://refeds.org/profile/mfa",
    "http://schemas.openid.net/pape/policies/2007/06/multi-factor",
}
"""Authentication levels with a second factor.
Sources: OpenID EAP ACR values 1.0, REFEDS MFA, PAPE 1.0."""


def is_configured() -> bool:
    return settings.OIDC_ISSUER is not None


def map_groups(claims: Mapping[str, Any]) -> list[str]:
    """Return our groups for the values, or the single value, of the provider's claim."""
    claim = claims.get(settings.OIDC_GROUPS_CLAIM)
    values = claim if isinstance(claim, list) else [claim]
    return sorted({ours for theirs, ours in settings.OIDC_GROUPS if theirs in values})


def claims_second_factor(claims: Mapping[str, Any]) -> bool:
    """Whether the claims name a second factor, or the organization always requires one."""
    amr = claims.get("amr")
    methods = (
        {method for method in amr if isinstance(method, str)} if isinstance(amr, list) else set()
    )
    has_level = claims.get("acr") in ACR_OF_SECOND_FACTORS
    return settings.OIDC_ASSURES_SECOND_FACTOR or has_level or bool(methods & AMR_OF_SECOND_FACTORS)


def sync_groups(user: User, names: list[str]) -> None:
    """Add the groups of these names, and remove the other groups of OIDC_GROUPS.

    Groups that OIDC_GROUPS does not name are unchanged.
    """
    managed = {ours for _, ours in settings.OIDC_GROUPS}
    user.groups.remove(*Group.objects.filter(name__in=managed - set(names)))
    user.groups.add(*Group.objects.filter(name__in=names))


def sync_profile(user: User, claims: Mapping[str, str]) -> None:
    """Store the claimed e-mail address and name. A missing or invalid claim changes nothing."""
    names = ("email", "first_name", "last_name")
    for field in (field for field in User._meta.concrete_fields if field.name in names):
        with suppress(ValidationError):
            value = claims.get(field.name) or getattr(user, field.name)
            setattr(user, field.name, field.clean(value, user))
    user.save(update_fields=names)


def organisation_name() -> str:
    return settings.OIDC_NAME if is_configured() else ""


def provider_account(user: User) -> SocialAccount | None:
    return SocialAccount.objects.filter(user=user, provider=settings.OIDC_ISSUER).first()


def has_matching_account(login: SocialLogin) -> bool:
    """Whether a user with a password has the name or e-mail address of a new login.

    It is probably the same person, but that is no proof: the login neither opens that account nor
    creates a second one.
    """
    name, email = login.user.get_username(), login.claimed_email
    same = Q(username__iexact=name) if name else Q()
    same |= Q(email__iexact=email) if email else Q()
    people = User.objects.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)
    return bool(same) and people.filter(same).exists()


def connection_error(login: SocialLogin, user: User) -> str:
    """Return why a user can't be connected to the provider's account, or ""."""
    if login.state.get("user") != user.pk:
        return "Another user started it in this browser."
    if login.is_existing and login.user != user:
        return (
            f"It’s already connected to another account, {login.user.get_username()}. "
            "An administrator can delete that account; then connect again."
        )
    if provider_account(user):
        return "Your account is already connected."
    return ""
