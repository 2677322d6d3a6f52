"""Who is here, with what each request needs to know of them: one query for all of it."""

from functools import cache
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.db.models import Exists, F, Field, Func, OuterRef, Q, Subquery, TextField, Value
from django.db.models.functions import Concat

from dashboard.ledger.models import Preferences, SignInAct, SignInRules
from dashboard.ledger.sign_in import SIGNING_OUT
from dashboard.web.second_factor import FACTORS

_BETWEEN = "\n"
"""Stands between two permissions; no name of one holds it."""


class _Joined(Func):
    """The texts of all rows as one; both databases have it, under two names."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        return self.as_sql(compiler, connection, function="STRING_AGG", **more)


def _rights_of(person: OuterRef) -> Subquery:
    """Return a person's own permissions and those of their groups, as one text."""
    own = User.user_permissions.through.objects.filter(user=person)
    of_groups = Group.permissions.through.objects.filter(group__user=person)
    held = Permission.objects.filter(
        Q(pk__in=own.values("permission")) | Q(pk__in=of_groups.values("permission"))
    )
    name = Concat(F("content_type__app_label"), Value("."), F("codename"))
    return Subquery(held.order_by().values(names=_Joined(name, Value(_BETWEEN))))


_SETTINGS = [field for field in Preferences._meta.concrete_fields if not field.is_relation]
_ANYBODY = -1
"""Stands for the id of whoever is asked for."""


@cache
def _statement() -> tuple[str, tuple[Any, ...]]:
    """Return the SQL that reads a person, and its parameters.

    It is written once a process: writing it takes Django fifteen times as long as asking.
    """
    factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
    rule = SignInRules.objects.filter(publishers_need_second_factor=True)
    ends = SignInAct.objects.filter(person=OuterRef("pk"), kind__in=SIGNING_OUT)
    found = User.objects.filter(pk=_ANYBODY).annotate(
        has_second_factor=Exists(factors),
        is_rule_on=Exists(rule),
        last_sign_out=Subquery(ends.order_by("-at").values("pk")[:1]),
        rights=_rights_of(OuterRef(OuterRef("pk"))),
        **{_kept(field): F(f"preferences__{field.name}") for field in _SETTINGS},
    )
    return found.query.sql_with_params()


def _kept(field: "Field[Any, Any]") -> str:
    return f"kept_{field.attname}"


def _preferences(person: User) -> Preferences:
    """Return a person's settings from what was read with the person."""
    kept = {field: getattr(person, _kept(field)) for field in _SETTINGS}
    if kept[Preferences._meta.pk] is None:
        return Preferences()
    return Preferences(**{field.attname: _as_kept(field, kept[field]) for field in kept})


def _as_kept(field: "Field[Any, Any]", value: Any) -> Any:
    for convert in field.get_db_converters(connection):
        value = convert(value, None, connection)
    return field.to_python(value)


class WithPreferences(ModelBackend):
    """Django's own accounts, each read with its settings, second factor, sign-outs and rights.

    Rights are read anew with each request: what was taken away is gone at the next.
    """

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, or None once they may not come in any more."""
        sql, parameters = _statement()
        asked = [user_id if value == _ANYBODY else value for value in parameters]
        person = next(iter(User.objects.raw(sql, asked)), None)
        if person is None or not self.user_can_authenticate(person):
            return None
        person.preferences = _preferences(person)
        return person

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Return the permissions read with the person; Django reads those of anybody else."""
        if hasattr(user_obj, "rights") and not user_obj.is_superuser:
            # Where Django keeps them for the rest of a request, whichever backend asks next.
            user_obj._perm_cache = {*filter(None, (user_obj.rights or "").split(_BETWEEN))}
            del user_obj.rights
        return super().get_all_permissions(user_obj, obj)
