"""Who is on record as having done something."""

from django.contrib.auth.models import User

NAME_KEPT_CHARACTERS = 200
"""As many as the columns take: first and last name may have more together."""


def actor_name(person: User) -> str:
    """Return the name under which a person's acts stand on record: in full, or else to log in."""
    name: str = person.get_full_name() or person.get_username()
    return name[:NAME_KEPT_CHARACTERS]
