"""A user's preferences: loaded with the user, saved one field at a time."""

from datetime import datetime

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Q

from dashboard.ledger.models import Preferences
from dashboard.ledger.models.preferences import Pin

MAX_PINS = 12
"""Per user; the oldest is dropped. Source: our choice."""


def get_preferences(user: User | AnonymousUser) -> Preferences:
    """Return the user's preferences, or the defaults if none are saved."""
    found = getattr(user, "preferences", None)
    return found if isinstance(found, Preferences) else Preferences()


def save_preferences(user: User, **choices: str | bool | datetime | None) -> Preferences:
    """Save some preferences; the others stay unchanged."""
    preferences, _ = Preferences.objects.update_or_create(user=user, defaults=choices)
    return preferences


def email_address_of(user: User) -> str:
    """Return where a user's e-mail goes; "" if nowhere."""
    return get_preferences(user).email or user.email


def have_same_email(one: User, other: User) -> bool:
    """Return whether two users have an e-mail address in common.

    An account's own address counts even while e-mail goes to another one: users change only that.
    """
    addresses, others = (
        {each.casefold() for each in (user.email, get_preferences(user).email) if each}
        for user in (one, other)
    )
    return not addresses.isdisjoint(others)


def is_email_taken(address: str, user: User) -> bool:
    """Return whether another account has an address, as its own or to send e-mail to."""
    others = User.objects.exclude(pk=user.pk)
    return others.filter(Q(email__iexact=address) | Q(preferences__email__iexact=address)).exists()


@transaction.atomic
def pin(user: User, what: Pin, *, is_pinned: bool = True) -> Preferences:
    """Pin a page or an audience, at the top, or remove its pin."""
    preferences, _ = Preferences.objects.select_for_update().get_or_create(user=user)
    others = [list(one) for one in preferences.pins if one != what]
    preferences.pinned = [list(what), *others][:MAX_PINS] if is_pinned else others
    preferences.save(update_fields=["pinned"])
    return preferences
