"""Limits of failed sign-ins: of a name at an IP address, and of the address."""

from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.handlers.proxy import AxesProxyHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest


class SignInAttempts(AxesDatabaseHandler):  # type: ignore[misc]  # it has no types
    """The library's attempts in the database, with a second, higher limit for an address.

    The library has one limit for all its AXES_LOCKOUT_PARAMETERS, and a successful sign-in would
    reset all of them: a guesser with an account of their own could go on for ever.
    """

    def get_failures(self, request: Any, credentials: dict[str, Any] | None = None) -> int:
        """Return the failures of a name here, or more if the address has fewer tries left."""
        surplus = settings.SIGN_IN_FAILURES_PER_ADDRESS - settings.AXES_FAILURE_LIMIT
        of_name: int = super().get_failures(request, credentials)
        return max(of_name, _failures_of_address(request) - surplus)


def is_address_locked(request: HttpRequest) -> bool:
    """Whether no name can sign in from the request's IP address for now."""
    AxesProxyHandler.update_request(request)
    return _failures_of_address(request) >= settings.SIGN_IN_FAILURES_PER_ADDRESS


def _failures_of_address(request: Any) -> int:
    recent = AccessAttempt.objects.filter(
        ip_address=request.axes_ip_address, attempt_time__gte=get_cool_off_threshold(request)
    )
    return recent.aggregate(sum=Sum("failures_since_start"))["sum"] or 0
