"""The second-factor policy: sessions that have shown one, users who need one, failed tries.

django-allauth stores the factors and runs the login. We mark each session that has shown a second
factor, to distinguish it from older sessions and other ways of signing in.
"""

import time
from datetime import timedelta

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from dashboard.ledger.models.sign_in import SignInEventKind
from dashboard.ledger.sign_in import get_sign_in_policy, nth_last_failure_at, record_sign_in_event

FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
"""Recovery codes only replace one of these, and do not count themselves."""
MAX_WRONG_TRIES, COUNT_PERIOD = 30, timedelta(days=1)
"""Wrong codes for an account, and wrong passwords in its sessions, from any IP address. Trying
requires the password or a session. A code has a million values, of which three are valid at a time;
at this rate the chance of a hit is one in thirty per year."""

_MARK = "second_factor"
_HERE, _ORGANISATION = "here", "organisation"
_CODE_LIFETIME_S = 120


def has_second_factor(user: User) -> bool:
    """Whether the user has set up a second factor here."""
    known = getattr(user, "has_second_factor", None)
    if known is None:
        known = Authenticator.objects.filter(user=user, type__in=FACTORS).exists()
    return bool(known)


def record_second_factor(
    request: HttpRequest, user: User, *, by_organisation: bool = False
) -> None:
    """Record in the session that the user has shown a second factor."""
    request.session[_MARK] = [user.pk, _ORGANISATION if by_organisation else _HERE]


def has_shown_second_factor(request: HttpRequest) -> bool:
    """Whether the session has shown a second factor that still exists."""
    user_id, origin = request.session.get(_MARK, (None, ""))
    if user_id is None or user_id != request.user.pk:
        return False
    user: User = request.user  # type: ignore[assignment]  # only a login leaves the mark
    return origin == _ORGANISATION or has_second_factor(user)


def is_stale(request: HttpRequest) -> bool:
    """Whether the session began before the user set up a second factor in another session."""
    if not request.user.is_authenticated or not has_second_factor(request.user):
        return False
    return not has_shown_second_factor(request)


def lacks_second_factor(request: HttpRequest) -> bool:
    """Whether the rule requires a second factor that the session has not shown."""
    is_on = getattr(request.user, "is_rule_on", None)
    if is_on is None:
        is_on = get_sign_in_policy().publishers_need_second_factor
    return bool(is_on) and not has_shown_second_factor(request)


def set_up_url() -> str:
    """Return the URL for setting up a second factor."""
    return f"{reverse('settings')}#sign-in"


def remaining_pause(user: User) -> timedelta:
    """Return how long the user's passwords and codes are refused after too many wrong ones."""
    first = nth_last_failure_at(user, number=MAX_WRONG_TRIES)
    rest = first + COUNT_PERIOD - timezone.now() if first else timedelta()
    return max(rest, timedelta())


def count_wrong_try(request: HttpRequest, user: User) -> None:
    """Count a wrong password or code, with the same limit as at the login."""
    name = user.get_username()
    record_sign_in_event(SignInEventKind.WRONG, by=name, user=user)
    user_login_failed.send(__name__, credentials={"username": name}, request=request)


@transaction.atomic
def spend_code(held: Authenticator, code: str) -> bool:
    """Record an app's code as used; return False if it already was. Source: RFC 6238, 5.2."""
    locked = Authenticator.objects.select_for_update().get(pk=held.pk)
    now = int(time.time())
    used: dict[str, int] = locked.data.get("used", {})
    used = {each: at for each, at in used.items() if now - at < _CODE_LIFETIME_S}
    if code in used:
        return False
    locked.data["used"] = used | {code: now}
    locked.save(update_fields=["data"])
    return True


@transaction.atomic
def reset_second_factor(user: User, *, by: str) -> bool:
    """Delete all factors and recovery codes of a user; return whether there were any."""
    deleted, _ = Authenticator.objects.filter(user=user).delete()
    if deleted:
        record_sign_in_event(SignInEventKind.RESET, by=by, user=user)
    return bool(deleted)
