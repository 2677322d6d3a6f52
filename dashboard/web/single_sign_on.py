"""What an organisation's OpenID Connect provider says of a person, and what follows from it here.

Decisions alone: who is let in, with which groups, and whether a second factor was shown over there.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User

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
