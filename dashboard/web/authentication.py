"""Who is here, with their own settings: each request needs both."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User


class WithPreferences(ModelBackend):
    """Django's own accounts, each read together with its settings: one query for both."""

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, or None once they may not come in any more."""
        person = User.objects.select_related("preferences").filter(pk=user_id).first()
        return person if person and self.user_can_authenticate(person) else None
