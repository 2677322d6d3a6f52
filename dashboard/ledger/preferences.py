"""A person's own settings: read with the person, written one field at a time."""

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction

from dashboard.ledger.models import Preferences
from dashboard.ledger.models.preferences import Pin

KEPT_PINS = 12
"""Pins of one person; the oldest makes room. Source: our choice."""


def preferences_of(person: User | AnonymousUser) -> Preferences:
    """Return a person's settings, or those as delivered where none were kept."""
    found = getattr(person, "preferences", None)
    return found if isinstance(found, Preferences) else Preferences()


def keep_preferences(person: User, **choices: str | bool) -> Preferences:
    """Keep some of a person's settings; the others stay as they are."""
    kept, _ = Preferences.objects.update_or_create(person=person, defaults=choices)
    return kept


@transaction.atomic
def pin(person: User, what: Pin) -> Preferences:
    """Pin a page or an audience, before all others."""
    kept, _ = Preferences.objects.select_for_update().get_or_create(person=person)
    return _keep_pins(kept, [what, *(one for one in kept.pins if one != what)])


@transaction.atomic
def unpin(person: User, what: Pin) -> Preferences:
    """Take a pin away; one that is not there stays away."""
    kept, _ = Preferences.objects.select_for_update().get_or_create(person=person)
    return _keep_pins(kept, [one for one in kept.pins if one != what])


def _keep_pins(kept: Preferences, pins: list[Pin]) -> Preferences:
    kept.pinned = [list(one) for one in pins[:KEPT_PINS]]
    kept.save(update_fields=["pinned"])
    return kept
