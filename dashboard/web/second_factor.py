"""The second factor: which session has one, who is asked for one, and what is counted of it.

The library (django-allauth) keeps the factors and runs the log-in. What is ours: a session is
marked once it showed one, so that one from before, or one that came by another way, is told apart.
"""

import time
from datetime import timedelta
from typing import Any

from allauth.mfa.models import Authenticator
from axes.handlers.proxy import AxesProxyHandler
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.signals import user_login_failed
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from dashboard.ledger.models import SignInAct
from dashboard.ledger.sign_in import record_act, sign_in_rules, wrong_before

FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
"""Recovery codes stand in for one of these, and are none by themselves."""
CHANGES = (
    "ledger.publish_version",
    "ledger.create_page",
    "ledger.update_subscription",
    "auth.change_user",
)
"""Whoever has one of these rights is a publisher in the sense of the rule."""
MOST_WRONG, COUNTED_FOR = 30, timedelta(days=1)
"""Wrong codes for one account, from wherever: only who knows its password gets to try one. A code
has a million values, three of them good at a time; at this rate one in thirty is met in a year."""

_MARK = "second_factor"
_HERE, _ORGANISATION = "here", "organisation"
_CODE_LIVES_S = 120


def has_second_factor(person: User) -> bool:
    """Whether this person set one up here."""
    known = getattr(person, "has_second_factor", None)
    if known is None:
        known = Authenticator.objects.filter(user=person, type__in=FACTORS).exists()
    return bool(known)


def note_second_factor(
    request: HttpRequest, person: User, *, by_organisation: bool = False
) -> None:
    """Mark the session as one in which this person showed a second factor."""
    request.session[_MARK] = [person.pk, _ORGANISATION if by_organisation else _HERE]


def showed_second_factor(request: HttpRequest) -> bool:
    """Whether this session showed one that still counts: one that was removed does not."""
    whose, where = request.session.get(_MARK, (None, ""))
    if whose is None or whose != request.user.pk:
        return False
    return where == _ORGANISATION or has_second_factor(_person(request))


def is_stale(request: HttpRequest) -> bool:
    """Whether the session began before its person set up a second factor elsewhere."""
    if not request.user.is_authenticated or not has_second_factor(request.user):
        return False
    return not showed_second_factor(request)


def lacks_second_factor(request: HttpRequest) -> bool:
    """Whether the rule asks this session for a second factor that it has not shown."""
    return _is_rule_on(request.user) and not showed_second_factor(request)


def is_to_set_up(request: HttpRequest) -> bool:
    """Whether this person can't do what their rights are for until they have a second factor."""
    if not request.user.is_authenticated or not lacks_second_factor(request):
        return False
    return request.user.is_staff or any(request.user.has_perm(right) for right in CHANGES)


def where_to_set_up() -> str:
    """Return the address at which one sets up a second factor."""
    return f"{reverse('settings')}#sign-in"


def paused_for(person: User) -> timedelta:
    """Return how long no code of this person's is looked at, from wherever it comes; 0 for now."""
    first = wrong_before(person, number=MOST_WRONG)
    rest = first + COUNTED_FOR - timezone.now() if first else timedelta()
    return max(rest, timedelta())


def is_locked_out(request: HttpRequest, person: User) -> bool:
    """Whether too many passwords and codes for this person were wrong, where this comes from."""
    return not AxesProxyHandler.is_allowed(request, _credentials(person))


def count_wrong_try(request: HttpRequest, person: User) -> None:
    """Count a wrong code as a wrong password is, with the same pause after too many of them."""
    record_act(SignInAct.Kind.WRONG, by=person.get_username(), person=person)
    user_login_failed.send(__name__, credentials=_credentials(person), request=request)


@transaction.atomic
def spend_code(held: Authenticator, code: str) -> bool:
    """Note that an app's code was used; False where it was used before. Source: RFC 6238, 5.2."""
    locked = Authenticator.objects.select_for_update().get(pk=held.pk)
    now = int(time.time())
    used: dict[str, int] = locked.data.get("used", {})
    used = {each: at for each, at in used.items() if now - at < _CODE_LIVES_S}
    if code in used:
        return False
    locked.data["used"] = used | {code: now}
    locked.save(update_fields=["data"])
    return True


@transaction.atomic
def reset_second_factor(person: User, *, by: str) -> bool:
    """Take all factors of a person away, recovery codes too; return whether there were any."""
    taken, _ = Authenticator.objects.filter(user=person).delete()
    if taken:
        record_act(SignInAct.Kind.RESET, by=by, person=person)
    return bool(taken)


def _is_rule_on(person: User | AnonymousUser) -> bool:
    known = getattr(person, "is_rule_on", None)
    return sign_in_rules().publishers_need_second_factor if known is None else bool(known)


def _person(request: HttpRequest) -> User:
    return request.user  # type: ignore[return-value]  # only asked of who is logged in


def _credentials(person: User) -> dict[str, Any]:
    return {"username": person.get_username()}
