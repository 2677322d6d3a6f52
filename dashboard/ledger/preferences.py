"""A user's preferences: loaded with the user, saved one field at a time."""

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction

from dashboard.ledger.models import Preferences
from dashboard.ledger.models.preferences import Pin

MAX_PINS = 12
"""Per user; the oldest is dropped. Source: our choice."""


def get_preferences(user: User | AnonymousUser) -> Preferences:
    """Return the user's preferences, or the defaults if none are saved."""
    found = getattr(user, "preferences", None)
    return found if isinstance(found, Preferences) else Preferences()


def save_preferences(user: User, **choices: str | bool) -> Preferences:
    """Save some preferences; the others stay unchanged."""
    preferences, _ = Preferences.objects.update_or_create(user=user, defaults=choices)
    return preferences


@transaction.atomic
def pin(user: User, what: Pin, *, is_pinned: bool = True) -> Preferences:
    """Pin a page or an audience, at the top, or remove its pin."""
    preferences, _ = Preferences.objects.select_for_update().get_or_create(user=user)
    others = [list(one) for one in preferences.pins if one != what]
    preferences.pinned = [list(what), *others][:MAX_PINS] if is_pinned else others
    preferences.save(update_fields=["pinned"])
    return preferences
