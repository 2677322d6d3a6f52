"""Sign-in rules for administrators: the second-factor rule, resets, and recent events."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.accounts.models import SignInEvent
from dashboard.accounts.overview import list_sign_in_summaries, unreadable_second_factors
from dashboard.accounts.permissions import MANAGE_PEOPLE, AuthenticatedRequest, View, requires
from dashboard.accounts.second_factor.policy import reset_second_factor, set_up_url
from dashboard.accounts.sessions import has_shown_second_factor, stay_signed_in
from dashboard.accounts.sign_in import get_sign_in_policy, require_second_factor_for_publishers
from dashboard.accounts.single_sign_on.policy import organisation_name
from dashboard.ledger.models.operations import actor_name

MAX_EVENTS = 50


def requires_reauthentication(view: View) -> View:
    """Require the password again, unless it was entered in the last five minutes."""
    decorated: View = reauthentication_required(app="allauth.mfa")(view)
    return decorated


@require_http_methods(["GET", "HEAD", "POST"])
@requires(MANAGE_PEOPLE)
def sign_in_policy_page(request: AuthenticatedRequest) -> HttpResponse:
    if request.method == "POST":
        return _switch(request)
    context: dict[str, Any] = {
        "policy": get_sign_in_policy(),
        "users": list_sign_in_summaries(),
        "unreadable": unreadable_second_factors(),
        "events": SignInEvent.objects.all()[:MAX_EVENTS],
        "organisation": organisation_name(),
    }
    return render(request, "accounts/policy.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(MANAGE_PEOPLE)
@requires_reauthentication
def second_factor_reset(request: AuthenticatedRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    if user.is_superuser and not request.user.is_superuser:
        raise PermissionDenied("Only a superuser can reset a superuser’s second factor.")
    if request.method != "POST":
        return render(request, "accounts/reset.html", {"account": user})
    done = reset_second_factor(user, by=actor_name(request.user))
    if is_own := user == request.user:
        stay_signed_in(request, user)
    name, browsers = user.get_username(), "all other browsers" if is_own else "all browsers"
    reset = f"Second factor of {name} reset. {name} is signed out of {browsers}."
    messages.success(request, reset if done else f"{name} had no second factor.")
    return redirect("sign-in-policy")


@requires_reauthentication
def _switch(request: AuthenticatedRequest) -> HttpResponse:
    on = request.POST.get("do") == "on"
    if require_second_factor_for_publishers(on=on, by=request.user):
        rule = "required for publishers" if on else "optional"
        messages.success(request, f"Second factor now {rule}.")
    # The rule also applies to the user who switches it on.
    is_led_on = on and not has_shown_second_factor(request)
    return redirect(set_up_url() if is_led_on else "sign-in-policy")
