"""Who is here, with what each request needs to know of them: one query for all of it."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Exists, F, Func, OuterRef, Q, Subquery, TextField, Value
from django.db.models.functions import Concat

from dashboard.ledger.models import SignInAct, SignInRules
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


_FACTORS = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
_RULE = SignInRules.objects.filter(publishers_need_second_factor=True)
_ENDS = SignInAct.objects.filter(person=OuterRef("pk"), kind__in=SIGNING_OUT)
_LAST_SIGN_OUT = Subquery(_ENDS.order_by("-at").values("pk")[:1])
_RIGHTS = _rights_of(OuterRef(OuterRef("pk")))


class WithPreferences(ModelBackend):
    """Django's own accounts, each read with its settings, second factor, sign-outs and rights.

    Rights are read anew with each request: what was taken away is gone at the next.
    """

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, or None once they may not come in any more."""
        found = User.objects.select_related("preferences").filter(pk=user_id)
        found = found.annotate(
            has_second_factor=Exists(_FACTORS),
            is_rule_on=Exists(_RULE),
            last_sign_out=_LAST_SIGN_OUT,
            rights=_RIGHTS,
        )
        person = found.first()
        return person if person and self.user_can_authenticate(person) else None

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Return the permissions read with the person; Django reads those of anybody else."""
        if hasattr(user_obj, "rights") and not user_obj.is_superuser:
            # Where Django keeps them for the rest of a request, whichever backend asks next.
            user_obj._perm_cache = {*filter(None, (user_obj.rights or "").split(_BETWEEN))}
            del user_obj.rights
        return super().get_all_permissions(user_obj, obj)
