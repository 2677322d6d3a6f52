"""The sign-in policy, and the log of changes to users' sign-in."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.ledger.models import SignInEvent, SignInPolicy
from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.models.sign_in import SignInEventKind

SIGN_OUT_KINDS = (SignInEventKind.RESET, SignInEventKind.DISCONNECTED)
"""Events that end all sessions of the user, because another person may be signed in."""


def get_sign_in_policy() -> SignInPolicy:
    """Return the policy; nothing is required until it is switched on."""
    return SignInPolicy.objects.filter(pk=1).first() or SignInPolicy(pk=1)


@transaction.atomic
def require_second_factor_for_publishers(*, on: bool, by: User) -> bool:
    """Switch whether publishers need a second factor; return whether that changed it."""
    rules = get_sign_in_policy()
    if rules.publishers_need_second_factor == on:
        return False
    name = actor_name(by)
    rules.publishers_need_second_factor = on
    rules.changed_at, rules.changed_by = timezone.now(), name
    rules.save()
    record_sign_in_event(SignInEventKind.RULE_ON if on else SignInEventKind.RULE_OFF, by=name)
    return True


def record_sign_in_event(
    kind: SignInEventKind, *, by: str, user: User | None = None
) -> SignInEvent:
    """Record an event: its kind, who caused it, and whose sign-in it concerns."""
    return SignInEvent.objects.create(
        kind=kind,
        at=timezone.now(),
        actor_name=by,
        user=user,
        username=user.get_username() if user else "",
    )


def list_sign_in_events() -> QuerySet[SignInEvent]:
    """Return all events, newest first."""
    return SignInEvent.objects.all()


def last_sign_out_id(user: User) -> int:
    """Return the id of the last event that signed the user out everywhere; 0 for none."""
    ends = SignInEvent.objects.filter(user=user, kind__in=SIGN_OUT_KINDS).order_by("-pk")
    return ends.values_list("pk", flat=True).first() or 0


def nth_last_failure_at(user: User, *, number: int) -> datetime | None:
    """Return the time of the user's `number`-th last failure; None if there are fewer."""
    wrong = SignInEvent.objects.filter(user=user, kind=SignInEventKind.WRONG).order_by("-at")
    return wrong.values_list("at", flat=True)[number - 1 : number].first()
