"""How everybody signs in, for administrators: the one rule, lost telephones, and the record."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.ledger.actors import actor_name
from dashboard.ledger.sign_in import acts, ask_publishers, sign_in_rules
from dashboard.web.http import Request
from dashboard.web.people_sign_in import everybodys_sign_in
from dashboard.web.permissions import MANAGE_PEOPLE, View, requires
from dashboard.web.second_factor import (
    reset_second_factor,
    showed_second_factor,
    where_to_set_up,
)
from dashboard.web.sessions import stay_signed_in
from dashboard.web.single_sign_on import is_configured

SHOWN = 50
SWITCHED = {
    True: "Publishers must use a second factor from now on.",
    False: "A second factor is everybody’s own choice again.",
}


def asks_who_it_is(view: View) -> View:
    """Ask for the password anew, unless it was given in the last five minutes."""
    asking: View = reauthentication_required(app="allauth.mfa")(view)
    return asking


@require_http_methods(["GET", "HEAD", "POST"])
@requires(MANAGE_PEOPLE)
def sign_in_rules_page(request: Request) -> HttpResponse:
    """Show the rule, who has a second factor, and what was done; switch the rule."""
    if request.method == "POST":
        return _switch(request)
    context: dict[str, Any] = {
        "rules": sign_in_rules(),
        "people": everybodys_sign_in(),
        "acts": acts()[:SHOWN],
        "organisation": settings.OIDC_NAME if is_configured() else "",
    }
    return render(request, "accounts/rules.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(MANAGE_PEOPLE)
@asks_who_it_is
def second_factor_reset(request: Request, person_id: int) -> HttpResponse:
    """Ask before somebody's second factor is taken away; then do it."""
    person = get_object_or_404(User, pk=person_id)
    if person.is_superuser and not request.user.is_superuser:
        raise PermissionDenied("Only a superuser resets the second factor of a superuser.")
    if request.method != "POST":
        return render(request, "accounts/reset.html", {"person": person})
    done = reset_second_factor(person, by=_name(request))
    if is_own := person == request.user:
        stay_signed_in(request, person)
    signed_out = "in every other browser" if is_own else "everywhere"
    has_none = f"has no second factor any more, and is signed out {signed_out}."
    said = has_none if done else "had no second factor."
    messages.success(request, f"{person.get_username()} {said}")
    return redirect("sign-in-rules")


@asks_who_it_is
def _switch(request: Request) -> HttpResponse:
    on = request.POST.get("do") == "on"
    if ask_publishers(on=on, by=request.user):
        messages.success(request, SWITCHED[on])
    # Who switches it on is held to it as well.
    is_led_on = on and not showed_second_factor(request)
    return redirect(where_to_set_up() if is_led_on else "sign-in-rules")


def _name(request: HttpRequest) -> str:
    return actor_name(request.user)  # type: ignore[arg-type]  # only done by who is logged in
