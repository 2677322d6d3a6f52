"""Codes, passkeys and the password asked for anew: the library's forms in our words and dress."""

import struct
from typing import Any

from allauth.account.adapter import get_adapter as account_adapter
from allauth.account.forms import ReauthenticateForm as PasswordForm
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, validate_totp_code
from allauth.mfa.webauthn.forms import AddWebAuthnForm, AuthenticateWebAuthnForm
from django import forms
from django.core.exceptions import ValidationError

from dashboard.web.sealing import UnreadableSealError, seal, unseal
from dashboard.web.second_factor import spend_code

CODE_LABEL = "Code from your app or a recovery code"
NO_MATCH = "That code doesn’t match. Codes change every 30 seconds: type the one you see now."
NO_PASSKEY = "That passkey doesn’t match. Try again, or use a code."
UNREADABLE = (AttributeError, LookupError, TypeError, ValueError, struct.error)
"""What the library raises over what no browser sends; each is a passkey that doesn't match."""
USED = "That code was used already. Wait for the next one."


def code_field(label: str) -> forms.CharField:
    """Return the field for a code, which a telephone fills in and shows digits for."""
    attrs = {"class": "input", "autocomplete": "one-time-code", "inputmode": "numeric"}
    widget = forms.TextInput(attrs={**attrs, "data-autofocus": ""})
    return forms.CharField(label=label, label_suffix="", max_length=32, widget=widget)


class _RightCode(forms.Form):
    """Finds what a code is of. The library's own looks codes up in the cache of one process."""

    user: Any
    authenticator: Authenticator

    def clean_code(self) -> str:
        """Take a code of the app once, and a recovery code once."""
        code = "".join(self.cleaned_data["code"].split())
        held = Authenticator.objects.filter(user=self.user).exclude(
            type=Authenticator.Type.WEBAUTHN
        )
        for each in held:
            if _is_right(each, code):
                self.authenticator = each
                return code
        raise ValidationError(NO_MATCH, code="incorrect_code")


def _is_right(held: Authenticator, code: str) -> bool:
    try:
        if held.type == Authenticator.Type.RECOVERY_CODES:
            return bool(held.wrap().validate_code(code))
        if not validate_totp_code(unseal(held.data["secret"]), code):
            return False
    except UnreadableSealError:
        # Sealed with a SECRET_KEY that nobody names any more: as good as lost.
        return False
    if not spend_code(held, code):
        raise ValidationError(USED, code="used_code")
    return True


class SecondStepForm(_RightCode, AuthenticateForm):  # type: ignore[misc]  # it has no types
    """The code after the password."""

    code = code_field(CODE_LABEL)


class CodeAgainForm(_RightCode, ReauthenticateForm):  # type: ignore[misc]  # it has no types
    """A code before a sensitive change, for who has no password here."""

    code = code_field(CODE_LABEL)


class PasswordAgainForm(PasswordForm):  # type: ignore[misc]  # it has no types
    """The password before a sensitive change."""

    password = forms.CharField(
        strip=False,
        label_suffix="",
        widget=forms.PasswordInput(
            attrs={"class": "input", "autocomplete": "current-password", "data-autofocus": ""}
        ),
    )

    def clean_password(self) -> str:
        """Check it as at the log-in: wrong ones are counted."""
        password: str = self.cleaned_data["password"]
        if not account_adapter().reauthenticate(self.user, password):
            raise ValidationError("That is not your password. Type it again.")
        return password


class AppForm(ActivateTOTPForm):  # type: ignore[misc]  # it has no types
    """The first code of an app. Its secret waits sealed in the session until that came."""

    code = code_field("Code from the app")
    secret: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the secret from the session, or make one and keep it there."""
        super().__init__(*args, **kwargs)
        kept = context.request.session
        try:
            self.secret = unseal(self.secret) if self.is_bound else self.secret
        except UnreadableSealError:
            self.secret = kept.get(SECRET_SESSION_KEY, "")
        kept[SECRET_SESSION_KEY] = seal(self.secret)

    def clean_code(self) -> str:
        """Say what to do about a wrong one."""
        code = "".join(self.cleaned_data["code"].split())
        if not validate_totp_code(self.secret, code):
            raise ValidationError(NO_MATCH, code="incorrect_code")
        return code


class PasskeyForm(AddWebAuthnForm):  # type: ignore[misc]  # it has no types
    """What the browser says of a new passkey, and the name it gets."""

    name = forms.CharField(
        label="Name of the passkey",
        label_suffix="",
        required=False,
        max_length=60,
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off"}),
        help_text="Such as “MacBook” or “blue key”, to tell it from others.",
    )

    def clean(self) -> dict[str, Any]:
        """Check that it answers what was asked, from this address."""
        try:
            cleaned: dict[str, Any] = super().clean()
        except UNREADABLE:
            raise ValidationError(NO_PASSKEY) from None
        return cleaned


class PasskeyStepForm(AuthenticateWebAuthnForm):  # type: ignore[misc]  # it has no types
    """What the browser says of a passkey after the password."""

    def clean_credential(self) -> Authenticator:
        """Return what it is of."""
        try:
            return super().clean_credential()
        except UNREADABLE:
            raise ValidationError(NO_PASSKEY) from None


class PasskeyAgainForm(PasskeyStepForm):
    """What it says of one before a sensitive change."""

    reauthenticated = True
