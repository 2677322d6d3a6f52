"""Login, logout and password change. See also second_factor and single_sign_on."""

import json
import math
from datetime import timedelta
from typing import Any

from allauth.account.utils import perform_login
from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_cool_off, get_failure_limit
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils import timezone

from dashboard.accounts.forms import LoginForm, PasswordForm
from dashboard.accounts.second_factor.policy import (
    count_wrong_try,
    lock_account,
    remaining_pause,
)
from dashboard.accounts.sign_in import is_address_locked
from dashboard.accounts.single_sign_on.policy import organisation_name


class Login(LoginView):
    """Log in. Wrong tries lock a name at an IP address, or the address, for some time."""

    template_name = "accounts/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "organisation": organisation_name()}

    def form_valid(self, form: Any) -> HttpResponse:
        """Continue with the second factor, or log in.

        The session lasts twelve hours if requested, else until the browser is closed.
        """
        self.request.session.cycle_key()
        self.request.session.set_expiry(None if form.cleaned_data["remember"] else 0)
        response: HttpResponse = perform_login(
            self.request, form.get_user(), redirect_url=self.get_success_url()
        )
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        left = tries_left(self.request, form.data.get("username"))
        if form.non_field_errors():  # The password field has the focus then.
            del form.fields["username"].widget.attrs["autofocus"]
        return self.render_to_response(self.get_context_data(form=form, **left))


class ThrottledMixin:
    """Mixin: count failed passwords, codes and passkeys, and lock the form after too many."""

    request: HttpRequest

    def throttled_user(self) -> User:
        return self.request.user  # type: ignore[return-value]  # these views require a sign-in

    def is_wrong_try(self, form: Any) -> bool:
        return True

    @transaction.atomic
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        user = self.throttled_user()
        lock_account(user)
        if rest := remaining_pause(user):
            return paused(request, rest)
        credentials = {"username": user.get_username()}
        if not AxesProxyHandler.is_allowed(request, credentials):
            return locked(request, None, credentials)
        response: HttpResponse = super().post(request, *args, **kwargs)  # type: ignore[misc]
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        if self.is_wrong_try(form):
            count_wrong_try(self.request, self.throttled_user())
        response: HttpResponse = super().form_invalid(form)  # type: ignore[misc]
        response.status_code = 422
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the number of tries left and the passkey request for the browser.

        A signed-in user only sees the number after a wrong try.
        """
        context: dict[str, Any] = super().get_context_data(**kwargs)  # type: ignore[misc]
        if self.request.method == "POST" or not self.request.user.is_authenticated:
            context |= tries_left(self.request, self.throttled_user().get_username())
        data = context.get("js_data")
        context["passkey"] = data and json.dumps(data["request_options"], cls=DjangoJSONEncoder)
        return context


class Password(ThrottledMixin, SuccessMessageMixin, PasswordChangeView):  # type: ignore[type-arg]
    template_name = "accounts/password.html"
    form_class = PasswordForm
    success_url = reverse_lazy("overview")
    success_message = "Password changed. Your other browsers are signed out."

    def is_wrong_try(self, form: Any) -> bool:
        """Whether the current password is wrong. Mismatched new passwords don't count."""
        return bool(form.has_error("old_password", "password_incorrect"))


logout = LogoutView.as_view()


def tries_left(request: HttpRequest, name: str | None) -> dict[str, Any]:
    """Return the number of tries left for a name from this IP address, and the pause after them."""
    credentials = {"username": name}
    failures = AxesProxyHandler.get_failures(request, credentials)
    left = get_failure_limit(request, credentials) - failures
    return {"tries_left": max(0, left), "pause": get_cool_off()}


def locked(
    request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Respond with 429 and the remaining pause. Called by axes (AXES_LOCKOUT_CALLABLE)."""
    tries = AccessAttempt.objects.filter(ip_address=request.axes_ip_address)  # type: ignore[attr-defined]
    is_address = is_address_locked(request)
    if credentials and not is_address:
        tries = tries.filter(username=credentials.get("username"))
    last = tries.aggregate(at=Max("attempt_time"))["at"] or timezone.now()
    rest: timedelta = last + (get_cool_off(request) or timedelta()) - timezone.now()
    return paused(request, rest, is_address=is_address)


def paused(request: HttpRequest, rest: timedelta, *, is_address: bool = False) -> HttpResponse:
    minutes = max(1, math.ceil(rest / timedelta(minutes=1)))
    context = {"minutes": minutes, "is_address": is_address}
    response = render(request, "accounts/locked.html", context, status=429)
    response["Retry-After"] = str(minutes * 60)
    return response
