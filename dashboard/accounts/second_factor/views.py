"""The second factor: required at the login, set up and removed in the user's settings.

The flows are django-allauth's; pages, texts, limits for wrong codes and recorded events are ours.
"""

import json
from typing import Any
from urllib.parse import quote

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.base.views import ReauthenticateView as ReauthenticateByCodeView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from dashboard.accounts.models import SignInEventKind
from dashboard.accounts.overview import factors_of
from dashboard.accounts.permissions import AuthenticatedRequest
from dashboard.accounts.second_factor.forms import (
    AppForm,
    CodeAgainForm,
    PasskeyAgainForm,
    PasskeyForm,
    PasskeyStepForm,
    PasswordAgainForm,
    SecondStepForm,
)
from dashboard.accounts.second_factor.policy import count_wrong_try, lock_account, spend_code
from dashboard.accounts.sessions import record_second_factor
from dashboard.accounts.sign_in import record_sign_in_event
from dashboard.accounts.views import ThrottledMixin
from dashboard.ledger.models.operations import actor_name


class SecondStep(ThrottledMixin, AuthenticateView):  # type: ignore[misc]  # it has no types
    form_class = SecondStepForm
    webauthn_form_class = PasskeyStepForm
    template_name = "accounts/second_step.html"

    def throttled_user(self) -> User:
        user: User = self.stage.login.user
        return user

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        factors = Authenticator.objects.filter(user=self.throttled_user())
        context["kinds"] = set(factors.values_list("type", flat=True))
        return context

    def form_valid(self, form: Any) -> HttpResponse:
        user = self.throttled_user()
        record_second_factor(self.request, user)
        response: HttpResponse = super().form_valid(form)
        used = getattr(form, "authenticator", None)
        if used and used.type == Authenticator.Type.RECOVERY_CODES:
            record_sign_in_event(SignInEventKind.CODE_USED, by=user.get_username(), user=user)
            used.refresh_from_db()
            left = len(used.wrap().get_unused_codes())
            messages.warning(self.request, f"Recovery code used. {left} left.")
        return response


class PasswordAgain(ThrottledMixin, ReauthenticateView):  # type: ignore[misc]  # it has no types
    form_class = PasswordAgainForm
    template_name = "accounts/confirm_password.html"


class CodeAgain(ThrottledMixin, ReauthenticateByCodeView):  # type: ignore[misc]  # it has no types
    template_name = "accounts/confirm_password.html"
    form_class = CodeAgainForm


class PasskeyAgain(ThrottledMixin, ReauthenticateWebAuthnView):  # type: ignore[misc]  # no types
    template_name = "accounts/confirm_password.html"
    form_class = PasskeyAgainForm

    def form_invalid(self, form: Any) -> HttpResponse:
        count_wrong_try(self.request, self.throttled_user())
        response: HttpResponse = self.render_to_response(self.get_context_data(), status=422)
        return response


class RecordedMixin:
    request: AuthenticatedRequest
    event_kind: SignInEventKind
    success_message: str
    shows_factor = False
    """Whether the change proves that the user has the factor."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        user = self.request.user
        lock_account(user)
        response: HttpResponse = super().form_valid(form)  # type: ignore[misc]
        if self.shows_factor:
            record_second_factor(self.request, user)
        record_sign_in_event(self.event_kind, by=actor_name(user), user=user)
        messages.success(self.request, self.success_message)
        return response


@method_decorator(never_cache, name="dispatch")
class SetUpApp(RecordedMixin, ActivateTOTPView):  # type: ignore[misc]  # it has no types
    form_class = AppForm
    template_name = "accounts/authenticator_app.html"
    event_kind = SignInEventKind.APP_ADDED
    success_message = "Authenticator app set up."
    shows_factor = True

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        app = Authenticator.objects.get(user=self.request.user, type=Authenticator.Type.TOTP)
        spend_code(app, form.cleaned_data["code"])
        return response


class RemoveApp(RecordedMixin, DeactivateTOTPView):  # type: ignore[misc]  # it has no types
    template_name = "accounts/remove_second_factor.html"
    success_url = reverse_lazy("settings")
    extra_context = {"factor_name": "the authenticator app"}
    event_kind = SignInEventKind.APP_REMOVED
    success_message = "Authenticator app removed."


class AddPasskey(RecordedMixin, AddWebAuthnView):  # type: ignore[misc]  # it has no types
    form_class = PasskeyForm
    template_name = "accounts/passkey.html"
    event_kind = SignInEventKind.PASSKEY_ADDED
    success_message = "Passkey added."
    shows_factor = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        # The library creates a new form; use the submitted one.
        context["form"] = kwargs.get("form") or context["form"]
        options = context["js_data"]["creation_options"]
        context["passkey"] = json.dumps(options, cls=DjangoJSONEncoder)
        return context


class RemovePasskey(RecordedMixin, RemoveWebAuthnView):  # type: ignore[misc]  # it has no types
    template_name = "accounts/remove_second_factor.html"
    success_url = reverse_lazy("settings")
    event_kind = SignInEventKind.PASSKEY_REMOVED
    success_message = "Passkey removed."

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "factor_name": f"the passkey “{self.object.wrap().name}”"}


@method_decorator(never_cache, name="dispatch")
class RecoveryCodes(ViewRecoveryCodesView):  # type: ignore[misc]  # it has no types
    """Show the recovery codes, once."""

    template_name = "accounts/recovery_codes.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the codes, or redirect to new ones if they can't be decrypted."""
        if factors_of(self.request.user).codes_left is None:
            return redirect("mfa_generate_recovery_codes")
        response: HttpResponse = super().get(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        text = "\n".join(context["unused_codes"]) + "\n"
        return {**context, "text": text, "file": f"data:text/plain;charset=utf-8,{quote(text)}"}


class NewRecoveryCodes(RecordedMixin, GenerateRecoveryCodesView):  # type: ignore[misc]  # it has no types
    template_name = "accounts/new_codes.html"
    event_kind = SignInEventKind.CODES_RENEWED
    success_message = "Your old recovery codes no longer work."

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Count the unused codes. The library's count fails if they can't be decrypted."""
        context: dict[str, Any] = super(GenerateRecoveryCodesView, self).get_context_data(**kwargs)
        return {**context, "unused_code_count": factors_of(self.request.user).codes_left}
