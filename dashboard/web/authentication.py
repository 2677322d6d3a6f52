"""Who is here, with what each request needs to know of them: one query for all of it."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.db.models import (
    Exists,
    F,
    Field,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
)
from django.db.models.functions import Concat

from dashboard.ledger.models import Preferences, SignInAct, SignInRules
from dashboard.ledger.sign_in import SIGNING_OUT
from dashboard.statements import Statement
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


_PERSON = [field.attname for field in User._meta.concrete_fields]
_BESIDE = ("has_second_factor", "is_rule_on", "last_sign_out", "rights")
_SETTINGS = [field for field in Preferences._meta.concrete_fields if not field.is_relation]


def _asked_about(user_id: int) -> "QuerySet[User, Any]":
    """Return a person with what each request needs to know of them."""
    factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
    rule = SignInRules.objects.filter(publishers_need_second_factor=True)
    ends = SignInAct.objects.filter(person=OuterRef("pk"), kind__in=SIGNING_OUT)
    kept = {_kept(field): F(f"preferences__{field.name}") for field in _SETTINGS}
    found = User.objects.filter(pk=user_id).annotate(
        has_second_factor=Exists(factors),
        is_rule_on=Exists(rule),
        last_sign_out=Subquery(ends.order_by("-at").values("pk")[:1]),
        rights=_rights_of(OuterRef(OuterRef("pk"))),
        **kept,
    )
    return found.values_list(*_PERSON, *_BESIDE, *kept, named=True)


def _kept(field: "Field[Any, Any]") -> str:
    return f"kept_{field.attname}"


_ASKED_ABOUT = Statement(_asked_about)


def _person(row: Any) -> User:
    """Return a person with the settings, and what else was read beside."""
    person = User.from_db(connection.alias, _PERSON, [getattr(row, name) for name in _PERSON])
    for name in _BESIDE:
        setattr(person, name, getattr(row, name))
    kept = {field.attname: getattr(row, _kept(field)) for field in _SETTINGS}
    is_known = kept[Preferences._meta.pk.attname] is not None
    person.preferences = Preferences(**kept) if is_known else Preferences()
    return person


class WithPreferences(ModelBackend):
    """Django's own accounts, each read with its settings, second factor, sign-outs and rights.

    Rights are read anew with each request: what was taken away is gone at the next.
    """

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, or None once they may not come in any more."""
        row = _ASKED_ABOUT.first(user_id)
        person = _person(row) if row else None
        return person if person and self.user_can_authenticate(person) else None

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Return the permissions read with the person; Django reads those of anybody else."""
        if hasattr(user_obj, "rights") and not user_obj.is_superuser:
            # Where Django keeps them for the rest of a request, whichever backend asks next.
            user_obj._perm_cache = {*filter(None, (user_obj.rights or "").split(_BETWEEN))}
            del user_obj.rights
        return super().get_all_permissions(user_obj, obj)
