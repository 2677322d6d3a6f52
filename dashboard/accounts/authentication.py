"""Load the user of a request with preferences and second factor in one query.

Permissions are Django's own.
"""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from dashboard.accounts.second_factor.policy import FACTORS
from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import Preferences, SignInEvent, SignInPolicy
from dashboard.ledger.sign_in import SIGN_OUT_KINDS

_USER = [field.attname for field in User._meta.concrete_fields]
_FLAGS = ("has_second_factor", "is_rule_on", "last_sign_out")
_PREFERENCES = {
    f"preferences_{field.attname}": field
    for field in Preferences._meta.concrete_fields
    if not field.is_relation
}
"""The fields of the preferences by their names in the query."""


def _user_query(user_id: int) -> "QuerySet[User, Any]":
    factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
    rule = SignInPolicy.objects.filter(publishers_need_second_factor=True)
    ends = SignInEvent.objects.filter(user=OuterRef("pk"), kind__in=SIGN_OUT_KINDS)
    preferences = {name: F(f"preferences__{field.name}") for name, field in _PREFERENCES.items()}
    users = User.objects.filter(pk=user_id).annotate(
        has_second_factor=Exists(factors),
        is_rule_on=Exists(rule),
        last_sign_out=Subquery(ends.order_by("-at").values("pk")[:1]),
        **preferences,
    )
    return users.values_list(*_USER, *_FLAGS, *preferences, named=True)


_USER_QUERY = CompiledQuery(_user_query)


class PreloadingModelBackend(ModelBackend):
    """Django's own backend, which loads a user with preferences and second factor."""

    def get_user(self, user_id: Any) -> User | None:
        """Return the user of a session, or None if they may no longer sign in."""
        row = _USER_QUERY.first(user_id)
        if not row:
            return None
        user = User.from_db(connection.alias, _USER, [getattr(row, name) for name in _USER])
        for name in _FLAGS:
            setattr(user, name, getattr(row, name))
        values = {field.attname: getattr(row, name) for name, field in _PREFERENCES.items()}
        has_preferences = values[Preferences._meta.pk.attname] is not None
        user.preferences = Preferences(**values) if has_preferences else Preferences()
        return user if self.user_can_authenticate(user) else None
