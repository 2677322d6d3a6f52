"""Who is here, with what each request needs to know of them: one query for all of it."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

from dashboard.ledger.models import SignInRules
from dashboard.web.second_factor import FACTORS

_FACTORS = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
_RULE = SignInRules.objects.filter(publishers_need_second_factor=True)


class WithPreferences(ModelBackend):
    """Django's own accounts, each read together with its settings and its second factor."""

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, or None once they may not come in any more."""
        found = User.objects.select_related("preferences").filter(pk=user_id)
        found = found.annotate(has_second_factor=Exists(_FACTORS), is_rule_on=Exists(_RULE))
        person = found.first()
        return person if person and self.user_can_authenticate(person) else None
