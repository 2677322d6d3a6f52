"""Second factors: the limit of failed tries, used codes, and resets."""

from datetime import timedelta

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse

from dashboard import clock
from dashboard.accounts.models import SignInEventKind
from dashboard.accounts.sign_in import nth_last_failure_at, record_sign_in_event

MAX_WRONG_TRIES, COUNT_PERIOD = 30, timedelta(days=1)
"""Limit of wrong codes for an account, and of wrong passwords in its sessions, from any IP address.
Trying one requires the password or a session. A code has a million values, and three are valid at a
time: at this rate the chance of a hit is one in thirty per year."""

_CODE_LIFETIME_S = 120


def set_up_url() -> str:
    return f"{reverse('settings')}#sign-in"


def lock_account(user: User) -> None:
    """Let one transaction at a time try a code or password of a user, or change their factors.

    So each try is counted before the next, and a factor isn't removed while its code is tried.
    """
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def remaining_pause(user: User) -> timedelta:
    """Return how long the user's passwords and codes are refused after too many wrong ones."""
    first = nth_last_failure_at(user, number=MAX_WRONG_TRIES)
    rest = first + COUNT_PERIOD - clock.now() if first else timedelta()
    return max(rest, timedelta())


def count_wrong_try(request: HttpRequest, user: User) -> None:
    """Count a wrong password or code, both for this limit and for the login's."""
    name = user.get_username()
    record_sign_in_event(SignInEventKind.WRONG, by=name, user=user)
    user_login_failed.send(__name__, credentials={"username": name}, request=request)


def spend_code(factor: Authenticator, code: str) -> bool:
    """Record an app's code as used; return False if it already was. Source: RFC 6238, 5.2.

    Call with the account locked since before `factor` was read.
    """
    now = int(clock.now().timestamp())
    used: dict[str, int] = factor.data.get("used", {})
    used = {code: at for code, at in used.items() if now - at < _CODE_LIFETIME_S}
    if code in used:
        return False
    factor.data["used"] = used | {code: now}
    factor.save(update_fields=["data"])
    return True


@transaction.atomic
def reset_second_factor(user: User, *, by: str) -> bool:
    """Delete all factors and recovery codes of a user; return whether there were any."""
    lock_account(user)
    deleted, _ = Authenticator.objects.filter(user=user).delete()
    if deleted:
        record_sign_in_event(SignInEventKind.RESET, by=by, user=user)
    return bool(deleted)
