"""The second factor: asked for at the log-in, set up and taken away in one's own settings.

The flows are django-allauth's; the pages, the words, the pause after wrong codes and the record of
what was done are ours.
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
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from dashboard.ledger.actors import actor_name
from dashboard.ledger.models import SignInAct
from dashboard.ledger.sign_in import record_act
from dashboard.web.forms.second_factor import (
    AppForm,
    CodeAgainForm,
    PasskeyAgainForm,
    PasskeyForm,
    PasskeyStepForm,
    PasswordAgainForm,
    SecondStepForm,
)
from dashboard.web.second_factor import (
    count_wrong_try,
    is_locked_out,
    note_second_factor,
    paused_for,
)
from dashboard.web.views.accounts import locked, paused, tries_left

Kind = SignInAct.Kind


class Throttled:
    """Counts what was shown wrong, and asks nothing of who showed too much of it."""

    request: HttpRequest

    def whose(self) -> User:
        """Return the person whose second factor is asked for."""
        raise NotImplementedError

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Look at a code or a passkey, unless there is a pause."""
        person = self.whose()
        if rest := paused_for(person):
            return paused(request, rest)
        if is_locked_out(request, person):
            return locked(request, None, {"username": person.get_username()})
        answer: HttpResponse = super().post(request, *args, **kwargs)  # type: ignore[misc]
        return answer

    def form_invalid(self, form: Any) -> HttpResponse:
        """Count it, and say how often one may still try."""
        count_wrong_try(self.request, self.whose())
        answer: HttpResponse = super().form_invalid(form)  # type: ignore[misc]
        answer.status_code = 422
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the number of tries that are left, and what the browser is asked of a passkey."""
        context: dict[str, Any] = super().get_context_data(**kwargs)  # type: ignore[misc]
        context |= tries_left(self.request, self.whose().get_username())
        if asked := context.get("js_data"):
            context["passkey"] = json.dumps(asked["request_options"], cls=DjangoJSONEncoder)
        return context


class SecondStep(Throttled, AuthenticateView):  # type: ignore[misc]  # it has no types
    """After the password: a code, a recovery code or a passkey."""

    form_class = SecondStepForm
    webauthn_form_class = PasskeyStepForm
    template_name = "accounts/second_step.html"

    def whose(self) -> User:
        """Return the person who is about to log in."""
        person: User = self.stage.login.user
        return person

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Offer what this person has."""
        context = super().get_context_data(**kwargs)
        held = Authenticator.objects.filter(user=self.whose())
        context["kinds"] = set(held.values_list("type", flat=True))
        return context

    def form_valid(self, form: Any) -> HttpResponse:
        """Log in, in a session that is marked; a recovery code that goes is on record."""
        person = self.whose()
        note_second_factor(self.request, person)
        answer: HttpResponse = super().form_valid(form)
        used = getattr(form, "authenticator", None)
        if used and used.type == Authenticator.Type.RECOVERY_CODES:
            record_act(Kind.CODE_USED, by=person.get_username(), person=person)
            used.refresh_from_db()
            left = len(used.wrap().get_unused_codes())
            messages.warning(self.request, f"That recovery code is used up; {left} are left.")
        return answer


class PasswordAgain(ReauthenticateView):  # type: ignore[misc]  # it has no types
    """The password, before a sensitive change; wrong ones are counted as at the log-in."""

    form_class = PasswordAgainForm
    template_name = "accounts/again.html"


class _FactorAgain(Throttled):
    template_name = "accounts/again.html"

    def whose(self) -> User:
        return self.request.user  # type: ignore[return-value]  # only asked of who is logged in


class CodeAgain(_FactorAgain, ReauthenticateByCodeView):  # type: ignore[misc]  # it has no types
    """A code before a sensitive change, for who has no password here."""

    form_class = CodeAgainForm


class PasskeyAgain(_FactorAgain, ReauthenticateWebAuthnView):  # type: ignore[misc]  # no types
    """A passkey before a sensitive change."""

    form_class = PasskeyAgainForm

    def form_invalid(self, form: Any) -> HttpResponse:
        """Count it, and ask again."""
        count_wrong_try(self.request, self.whose())
        again: HttpResponse = self.render_to_response(self.get_context_data(), status=422)
        return again


@method_decorator(never_cache, name="dispatch")
class SetUpApp(ActivateTOTPView):  # type: ignore[misc]  # it has no types
    """Show an app the secret, and take its first code as a sign that it has it."""

    form_class = AppForm
    template_name = "accounts/app.html"

    def form_valid(self, form: Any) -> HttpResponse:
        """Keep the app; this very session has shown it."""
        answer: HttpResponse = super().form_valid(form)
        return _done(self.request, Kind.APP_ADDED, "The app is set up.", answer, shown=True)


class RemoveApp(DeactivateTOTPView):  # type: ignore[misc]  # it has no types
    """Ask before the app is removed; then do it."""

    template_name = "accounts/remove.html"
    success_url = reverse_lazy("settings")
    extra_context = {"what": "the app for codes"}

    def form_valid(self, form: Any) -> HttpResponse:
        """Remove it."""
        answer: HttpResponse = super().form_valid(form)
        return _done(self.request, Kind.APP_REMOVED, "The app is removed.", answer)


class AddPasskey(AddWebAuthnView):  # type: ignore[misc]  # it has no types
    """Have the browser make a passkey, and keep its public half under a name."""

    form_class = PasskeyForm
    template_name = "accounts/passkey.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what the browser is asked."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        # The library draws the form anew where it should draw what was typed.
        context["form"] = kwargs.get("form") or context["form"]
        asked = context["js_data"]["creation_options"]
        context["passkey"] = json.dumps(asked, cls=DjangoJSONEncoder)
        return context

    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it; this very session has shown it."""
        answer: HttpResponse = super().form_valid(form)
        return _done(self.request, Kind.PASSKEY_ADDED, "The passkey is added.", answer, shown=True)


class RemovePasskey(RemoveWebAuthnView):  # type: ignore[misc]  # it has no types
    """Ask before a passkey is removed; then do it."""

    template_name = "accounts/remove.html"
    success_url = reverse_lazy("settings")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Name it."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "what": f"the passkey “{self.object.wrap().name}”"}

    def form_valid(self, form: Any) -> HttpResponse:
        """Remove it."""
        answer: HttpResponse = super().form_valid(form)
        return _done(self.request, Kind.PASSKEY_REMOVED, "The passkey is removed.", answer)


@method_decorator(never_cache, name="dispatch")
class RecoveryCodes(ViewRecoveryCodesView):  # type: ignore[misc]  # it has no types
    """Show the recovery codes, once."""

    template_name = "accounts/recovery_codes.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the codes as a file of their own: it takes no second look at them to keep them."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        text = "\n".join(context["unused_codes"]) + "\n"
        return {**context, "text": text, "file": f"data:text/plain;charset=utf-8,{quote(text)}"}


class NewRecoveryCodes(GenerateRecoveryCodesView):  # type: ignore[misc]  # it has no types
    """Ask before new recovery codes take the place of the old ones; then make them."""

    template_name = "accounts/new_codes.html"

    def form_valid(self, form: Any) -> HttpResponse:
        """Make them."""
        answer: HttpResponse = super().form_valid(form)
        said = "The old recovery codes are worth nothing any more."
        return _done(self.request, Kind.CODES_RENEWED, said, answer)


def _done(
    request: HttpRequest, kind: Kind, said: str, answer: HttpResponse, *, shown: bool = False
) -> HttpResponse:
    """Put it on record, and say it."""
    person: User = request.user  # type: ignore[assignment]  # only done by who is logged in
    if shown:
        note_second_factor(request, person)
    record_act(kind, by=actor_name(person), person=person)
    messages.success(request, said)
    return answer
