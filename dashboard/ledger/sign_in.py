"""The rule on signing in, and the record of what was done to how people sign in."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.ledger.actors import actor_name
from dashboard.ledger.models import SignInAct, SignInRules

Kind = SignInAct.Kind

SIGNING_OUT = (Kind.RESET, Kind.DISCONNECTED)
"""What was done because somebody else may be signed in as that person: it ends all sessions."""


def sign_in_rules() -> SignInRules:
    """Return the rules as they stand; nothing is asked until somebody switches it on."""
    return SignInRules.objects.filter(pk=1).first() or SignInRules(pk=1)


@transaction.atomic
def ask_publishers(*, on: bool, by: User) -> bool:
    """Switch the rule that publishers must use a second factor; return whether it was otherwise."""
    rules = sign_in_rules()
    if rules.publishers_need_second_factor == on:
        return False
    name = actor_name(by)
    rules.publishers_need_second_factor = on
    rules.changed_at, rules.changed_by = timezone.now(), name
    rules.save()
    record_act(Kind.RULE_ON if on else Kind.RULE_OFF, by=name)
    return True


def record_act(kind: Kind, *, by: str, person: User | None = None) -> SignInAct:
    """Write down what was done, by whom, and to whose sign-in."""
    return SignInAct.objects.create(
        kind=kind,
        at=timezone.now(),
        actor_name=by,
        person=person,
        person_name=person.get_username() if person else "",
    )


def acts() -> QuerySet[SignInAct]:
    """Return what was done, the newest first."""
    return SignInAct.objects.all()


def last_sign_out(person: User) -> int:
    """Return the number of the last act that signed this person out everywhere; 0 for none."""
    ends = SignInAct.objects.filter(person=person, kind__in=SIGNING_OUT).order_by("-at")
    return ends.values_list("pk", flat=True).first() or 0


def wrong_before(person: User, *, number: int) -> datetime | None:
    """Return when the last but `number` - 1 wrong code of this person's came; None for no such."""
    wrong = SignInAct.objects.filter(person=person, kind=Kind.WRONG).order_by("-at")
    return wrong.values_list("at", flat=True)[number - 1 : number].first()
