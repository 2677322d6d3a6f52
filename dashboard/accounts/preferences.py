"""Save a user's preferences, one at a time, and find where their e-mail goes."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from dashboard.accounts.authentication import get_preferences
from dashboard.accounts.models import Pin, Preferences

MAX_PINS = 12
"""Maximum number of pins per user; the oldest is dropped. Source: our choice."""


def save_preferences(user: User, **choices: str | bool | datetime | None) -> Preferences:
    preferences, _ = Preferences.objects.update_or_create(user=user, defaults=choices)
    return preferences


def email_address_of(user: User) -> str:
    """Return the address that a user's e-mail goes to, or ""."""
    return get_preferences(user).email or user.email


def have_same_email(user: User, other: User) -> bool:
    """Return whether two users have an e-mail address in common.

    An account's own address counts even if e-mail goes to another one: users can change only the
    latter.
    """
    addresses, others = (
        {address.casefold() for address in (owner.email, get_preferences(owner).email) if address}
        for owner in (user, other)
    )
    return not addresses.isdisjoint(others)


def is_email_taken(address: str, user: User) -> bool:
    others = User.objects.exclude(pk=user.pk)
    return others.filter(Q(email__iexact=address) | Q(preferences__email__iexact=address)).exists()


@transaction.atomic
def pin(user: User, what: Pin, *, is_pinned: bool = True) -> Preferences:
    preferences, _ = Preferences.objects.select_for_update().get_or_create(user=user)
    others = [list(other) for other in preferences.pins if other != what]
    preferences.pinned = [list(what), *others][:MAX_PINS] if is_pinned else others
    preferences.save(update_fields=["pinned"])
    return preferences
