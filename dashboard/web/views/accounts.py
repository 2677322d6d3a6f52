"""Signing in and out, and the password."""

import math
from datetime import timedelta
from typing import Any

from axes.handlers.proxy import AxesProxyHandler
from axes.helpers import get_cool_off, get_failure_limit
from axes.models import AccessAttempt
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils import timezone

from dashboard.web.forms.accounts import LoginForm, PasswordForm


class Login(LoginView):
    """Sign in. After ten wrong tries the same name from the same place has to wait."""

    template_name = "accounts/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def form_valid(self, form: Any) -> HttpResponse:
        """Keep the session for twelve hours where asked to, else until the browser is closed."""
        response = super().form_valid(form)
        if not form.cleaned_data["remember"]:
            self.request.session.set_expiry(0)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again, with the number of tries left: the same for any name."""
        name = {"username": form.data.get("username")}
        tried = AxesProxyHandler.get_failures(self.request, name)
        left = max(0, get_failure_limit(self.request, name) - tried)
        context = self.get_context_data(form=form, tries_left=left, pause=get_cool_off())
        return self.render_to_response(context)


class Password(SuccessMessageMixin, PasswordChangeView):  # type: ignore[type-arg]  # in stubs alone
    """Change one's own password."""

    template_name = "accounts/password.html"
    form_class = PasswordForm
    success_url = reverse_lazy("overview")
    success_message = "Password changed. Other browsers you were signed in on are signed out."


logout = LogoutView.as_view()


def locked(
    request: HttpRequest, response: HttpResponse, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Answer 429 with the rest of the pause. Named in settings, called by axes."""
    tries = AccessAttempt.objects.filter(ip_address=request.axes_ip_address)  # type: ignore[attr-defined]
    if credentials:
        tries = tries.filter(username=credentials.get("username"))
    last = tries.aggregate(at=Max("attempt_time"))["at"] or timezone.now()
    rest: timedelta = last + (get_cool_off(request) or timedelta()) - timezone.now()
    minutes = max(1, math.ceil(rest / timedelta(minutes=1)))
    answer = render(request, "accounts/locked.html", {"minutes": minutes}, status=429)
    answer["Retry-After"] = str(minutes * 60)
    return answer
