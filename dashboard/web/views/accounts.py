"""Signing in and out, and the password. What comes after it: second_factor, single_sign_on."""

import math
from datetime import timedelta
from typing import Any

from allauth.account.utils import perform_login
from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_cool_off, get_failure_limit
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils import timezone

from dashboard.web.forms.accounts import LoginForm, PasswordForm
from dashboard.web.single_sign_on import is_configured


class Login(LoginView):
    """Sign in. After ten wrong tries the same name from the same place has to wait."""

    template_name = "accounts/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Offer the organisation's provider, where there is one."""
        organisation = settings.OIDC_NAME if is_configured() else ""
        return {**super().get_context_data(**kwargs), "organisation": organisation}

    def form_valid(self, form: Any) -> HttpResponse:
        """Go on to the second factor, or in.

        The session is kept for twelve hours where asked to, else until the browser is closed.
        """
        self.request.session.cycle_key()
        self.request.session.set_expiry(None if form.cleaned_data["remember"] else 0)
        way_in: HttpResponse = perform_login(
            self.request, form.get_user(), redirect_url=self.get_success_url()
        )
        return way_in

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again, with the number of tries left: the same for any name."""
        left = tries_left(self.request, form.data.get("username"))
        return self.render_to_response(self.get_context_data(form=form, **left))


class Password(SuccessMessageMixin, PasswordChangeView):  # type: ignore[type-arg]  # in stubs alone
    """Change one's own password."""

    template_name = "accounts/password.html"
    form_class = PasswordForm
    success_url = reverse_lazy("overview")
    success_message = "Password changed. Other browsers you were signed in on are signed out."


logout = LogoutView.as_view()


def tries_left(request: HttpRequest, name: str | None) -> dict[str, Any]:
    """Return how often one may still try for a name from here, and how long the pause then is."""
    whose = {"username": name}
    left = get_failure_limit(request, whose) - AxesProxyHandler.get_failures(request, whose)
    return {"tries_left": max(0, left), "pause": get_cool_off()}


def locked(
    request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Answer 429 with the rest of the pause. Named in settings, called by axes."""
    tries = AccessAttempt.objects.filter(ip_address=request.axes_ip_address)  # type: ignore[attr-defined]
    if credentials:
        tries = tries.filter(username=credentials.get("username"))
    last = tries.aggregate(at=Max("attempt_time"))["at"] or timezone.now()
    rest: timedelta = last + (get_cool_off(request) or timedelta()) - timezone.now()
    return paused(request, rest)


def paused(request: HttpRequest, rest: timedelta) -> HttpResponse:
    """Answer 429, and say when to try again."""
    minutes = max(1, math.ceil(rest / timedelta(minutes=1)))
    answer = render(request, "accounts/locked.html", {"minutes": minutes}, status=429)
    answer["Retry-After"] = str(minutes * 60)
    return answer
