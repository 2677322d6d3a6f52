"""The sign-in policy, the log of changes to users' sign-in, and limits of failed sign-ins.

Failures are limited for each name at an IP address, and for each address across all names.
"""

from datetime import datetime
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.handlers.proxy import AxesProxyHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.http import HttpRequest

from dashboard import clock
from dashboard.accounts.models import SignInEvent, SignInEventKind, SignInPolicy
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.ledger.models.operations import actor_name

SIGN_OUT_KINDS = (SignInEventKind.RESET, SignInEventKind.DISCONNECTED)
"""Events that end all sessions of the user, because another person may be signed in."""


def get_sign_in_policy() -> SignInPolicy:
    """Return the policy; nothing is required until it is switched on."""
    return SignInPolicy.objects.filter(pk=1).first() or SignInPolicy(pk=1)


@transaction.atomic
def require_second_factor_for_publishers(*, on: bool, by: User) -> bool:
    """Switch whether publishers need a second factor; return whether that changed it."""
    rules, _ = SignInPolicy.objects.select_for_update().get_or_create(pk=1)
    if rules.publishers_need_second_factor == on:
        return False
    name = actor_name(by)
    rules.publishers_need_second_factor = on
    rules.changed_at, rules.changed_by = clock.now(), name
    rules.save(update_fields=["publishers_need_second_factor", "changed_at", "changed_by"])
    record_sign_in_event(SignInEventKind.RULE_ON if on else SignInEventKind.RULE_OFF, by=name)
    return True


def record_sign_in_event(
    kind: SignInEventKind, *, by: str, user: User | None = None
) -> SignInEvent:
    """Record a change of a user's sign-in, or of the policy if `user` is None."""
    if kind != SignInEventKind.WRONG:  # The others decide whether a session has a second factor.
        feed.add(FeedEntry(kind=FeedKind.RIGHTS, user_id=user.pk if user else None))
    return SignInEvent.objects.create(
        kind=kind,
        at=clock.now(),
        actor_name=by,
        user=user,
        username=user.get_username() if user else "",
    )


def last_sign_out_id(user: User) -> int:
    """Return the id of the last event that signed the user out everywhere; 0 for none."""
    ends = SignInEvent.objects.filter(user=user, kind__in=SIGN_OUT_KINDS).order_by("-pk")
    return ends.values_list("pk", flat=True).first() or 0


def nth_last_failure_at(user: User, *, number: int) -> datetime | None:
    """Return the time of the user's `number`-th last failure; None if there are fewer."""
    wrong = SignInEvent.objects.filter(user=user, kind=SignInEventKind.WRONG).order_by("-at")
    return wrong.values_list("at", flat=True)[number - 1 : number].first()


class SignInAttempts(AxesDatabaseHandler):  # type: ignore[misc]  # it has no types
    """The library's attempts in the database, with a second, higher limit for an address.

    The library has one limit for all its AXES_LOCKOUT_PARAMETERS, and a successful sign-in would
    reset all of them. A guesser with an account of their own could go on forever.
    """

    def get_failures(self, request: Any, credentials: dict[str, Any] | None = None) -> int:
        """Return the failures of a name at this address; more if the address has fewer tries."""
        surplus = settings.SIGN_IN_FAILURES_PER_ADDRESS - settings.AXES_FAILURE_LIMIT
        of_name: int = super().get_failures(request, credentials)
        return max(of_name, _failures_of_address(request) - surplus)


def is_address_locked(request: HttpRequest) -> bool:
    AxesProxyHandler.update_request(request)
    return _failures_of_address(request) >= settings.SIGN_IN_FAILURES_PER_ADDRESS


def _failures_of_address(request: Any) -> int:
    recent = AccessAttempt.objects.filter(
        ip_address=request.axes_ip_address, attempt_time__gte=get_cool_off_threshold(request)
    )
    return recent.aggregate(sum=Sum("failures_since_start"))["sum"] or 0
