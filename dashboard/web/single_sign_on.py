"""What an organisation's OpenID Connect provider says of a person, and what follows from it here.

Who is let in, with which groups, and whether a second factor was shown over there; and which
account here is connected to whom over there: that is for who is signed in to it alone to say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import Group, User
from django.db.models import Q

AMR_OF_SECOND_FACTORS = {"mfa", "otp", "hwk", "sc"}
"""How a person was authenticated: several ways, a one-time password, a key in hardware, a smart
card. Source: RFC 8176, 2."""
ACR_OF_SECOND_FACTORS = {
    "phr",
    "phrh",
    "https://refeds.org/profile/mfa",
    "http://schemas.openid.net/pape/policies/2007/06/multi-factor",
}
"""Levels that take a second factor. Sources: OpenID EAP ACR values 1.0, REFEDS MFA, PAPE 1.0."""


@dataclass(frozen=True)
class Connection:
    """How a person's account stands to the provider."""

    name: str
    """Of the provider."""
    since: datetime | None
    """None where the two are not connected."""
    can_end: bool
    """Whether the person could still sign in without it."""


def is_configured() -> bool:
    """Whether people may sign in by a provider at all."""
    return settings.OIDC_ISSUER is not None


def given_groups(claims: Mapping[str, Any]) -> list[str]:
    """Return the groups of ours that the provider's claim gives; a single value counts, too."""
    said = claims.get(settings.OIDC_GROUPS_CLAIM)
    values = said if isinstance(said, list) else [said]
    return sorted({ours for theirs, ours in settings.OIDC_GROUPS if theirs in values})


def showed_second_factor_there(claims: Mapping[str, Any]) -> bool:
    """Whether the provider says so, or the organisation sees to it that it is always so."""
    said = claims.get("amr")
    ways = {each for each in said if isinstance(each, str)} if isinstance(said, list) else set()
    has_level = claims.get("acr") in ACR_OF_SECOND_FACTORS
    return settings.OIDC_ASSURES_SECOND_FACTOR or has_level or bool(ways & AMR_OF_SECOND_FACTORS)


def take_groups(person: User, given: list[str]) -> None:
    """Give the groups that the provider gives, and take those it could have given and did not.

    A group that OIDC_GROUPS does not name stays as an administrator set it by hand.
    """
    theirs_to_give = {ours for _, ours in settings.OIDC_GROUPS}
    person.groups.remove(*Group.objects.filter(name__in=theirs_to_give - set(given)))
    person.groups.add(*Group.objects.filter(name__in=given))


def connection_of(person: User) -> Connection | None:
    """Return how a person's account stands to the provider; None where there is no provider."""
    if not is_configured():
        return None
    account = account_there(person)
    since = account.date_joined if account else None
    return Connection(settings.OIDC_NAME, since, bool(account) and person.has_usable_password())


def account_there(person: User) -> SocialAccount | None:
    """Return whom a person is connected to at the provider of today, or None."""
    return SocialAccount.objects.filter(user=person, provider=settings.OIDC_ISSUER).first()


def has_account_here(login: SocialLogin) -> bool:
    """Whether somebody signs in here with a password under the name or address of a newcomer.

    It is likely the same person, and certainly no proof of it: the newcomer is neither let into
    that account nor given a second one.
    """
    name, email = login.user.get_username(), login.email_said
    same = Q(username__iexact=name) if name else Q()
    same |= Q(email__iexact=email) if email else Q()
    people = User.objects.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)
    return bool(same) and people.filter(same).exists()


def why_not_connected(login: SocialLogin, person: User) -> str:
    """Return why a person can't be connected to whom the provider names; "" where they can."""
    if login.state.get("person") != person.pk:
        return "Somebody else had begun it in this browser."
    if login.is_existing and login.user != person:
        return (
            f"It signs in another account here, {login.user.get_username()}. "
            "An administrator can delete that one; then connect again."
        )
    if account_there(person):
        return "A log-in of it is connected already."
    return ""
