"""Load the user of a request with preferences and second factor in one query.

Permissions are left to Django.
"""

from itertools import islice
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from dashboard.accounts.models import Preferences, SignInEvent, SignInPolicy
from dashboard.accounts.sessions import FACTORS
from dashboard.accounts.sign_in import SIGN_OUT_KINDS
from dashboard.compiled_query import compiled

_USER = [field.attname for field in User._meta.concrete_fields]
_FLAGS = ("has_second_factor", "is_rule_on", "last_sign_out")
_PREFERENCES = [
    field.attname for field in Preferences._meta.concrete_fields if not field.is_relation
]


@compiled(tuple)
def _user_query(user_id: int) -> "QuerySet[User, Any]":
    factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
    rule = SignInPolicy.objects.filter(publishers_need_second_factor=True)
    ends = SignInEvent.objects.filter(user=OuterRef("pk"), kind__in=SIGN_OUT_KINDS)
    preferences = {f"preferences_{name}": F(f"preferences__{name}") for name in _PREFERENCES}
    users = User.objects.filter(pk=user_id).annotate(
        has_second_factor=Exists(factors),
        is_rule_on=Exists(rule),
        last_sign_out=Subquery(ends.order_by("-pk").values("pk")[:1]),
        **preferences,
    )
    return users.values_list(*_USER, *_FLAGS, *preferences)


class PreloadingModelBackend(ModelBackend):
    """Django's own backend, which loads a user with preferences and second factor."""

    def get_user(self, user_id: Any) -> User | None:
        row = _user_query.first(user_id)
        if not row:
            return None
        # The columns are in the order of the query.
        values = iter(row)
        user = User.from_db(connection.alias, _USER, [*islice(values, len(_USER))])
        vars(user).update(zip(_FLAGS, values, strict=False))
        saved = Preferences.from_db(connection.alias, _PREFERENCES, [*values])
        user.preferences = Preferences() if saved.pk is None else saved
        return user if self.user_can_authenticate(user) else None


def get_preferences(user: User | AnonymousUser) -> Preferences:
    preferences = getattr(user, "preferences", None)
    return preferences if isinstance(preferences, Preferences) else Preferences()
