"""Find the people mentioned in a comment, such as `@Ana Silva` or `@ana`.

Everything but `people` is pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from dashboard.ledger.models.operations import actor_name

_UNNAMED = re.compile(r"@([\w.+-]*\w)")
_AT = re.compile(r"(?<![\w.+/-])@(?=\w)")
"""An @ that isn't part of an e-mail address or a path."""


@dataclass(frozen=True)
class Names:
    """The mentions of a text."""

    users: dict[int, tuple[User, str]]
    """The users and their names as written, by primary key."""
    unknown: list[str]
    """Other names after an @. Nobody is notified of them."""


def people() -> list[User]:
    """Return the users who can be mentioned: all active ones.

    Viewers may read everything that has comments.
    """
    return list(User.objects.filter(is_active=True).order_by("first_name", "username"))


def find_names(text: str, users: Sequence[User]) -> Names:
    """Return the mentions of a text. The longest full name or username after each @ counts."""
    by_name = {
        name.casefold(): user for user in users for name in (user.get_username(), actor_name(user))
    }
    longest_first = sorted(by_name, key=len, reverse=True)
    named: dict[int, tuple[User, str]] = {}
    unknown: list[str] = []
    for match in _AT.finditer(text):
        rest = text[match.end() :]
        name = next((name for name in longest_first if _begins_with(rest, name)), None)
        if name is not None:
            user = by_name[name]
            named.setdefault(user.pk, (user, rest[: len(name)]))
        elif other := _UNNAMED.match(text, match.start()):
            unknown.append(other[1])
    return Names(named, list(dict.fromkeys(unknown)))


def _begins_with(text: str, name: str) -> bool:
    start, after = text[: len(name)], text[len(name) : len(name) + 1]
    return start.casefold() == name and not (after.isalnum() or after == "_")
