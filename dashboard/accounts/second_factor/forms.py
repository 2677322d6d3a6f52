"""Forms for codes, passkeys and reauthentication: the library's, with our texts and styles."""

import logging
import struct
from typing import Any

from allauth.account.forms import ReauthenticateForm as PasswordForm
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, validate_totp_code
from allauth.mfa.webauthn.forms import AddWebAuthnForm, AuthenticateWebAuthnForm
from django import forms
from django.core.exceptions import ValidationError

from dashboard.accounts.second_factor.policy import spend_code
from dashboard.encryption import DecryptionError, decrypt, encrypt

CODE_LABEL = "Code from your app or a recovery code"
NO_MATCH = "Incorrect code. Codes change every 30 seconds; enter the current one."
NO_PASSKEY = "Passkey not recognized. Try again, or use a code."
INVALID_PASSKEY_ERRORS = (AttributeError, LookupError, TypeError, ValueError, struct.error)
"""Raised by the library for invalid data; treated as a passkey that doesn't match."""

_logger = logging.getLogger(__name__)


def code_field(label: str) -> forms.CharField:
    """Return a field for a code, with autofill and a numeric keyboard on phones."""
    attrs = {"class": "input", "autocomplete": "one-time-code", "inputmode": "numeric"}
    widget = forms.TextInput(attrs={**attrs, "data-autofocus": ""})
    return forms.CharField(label=label, label_suffix="", max_length=32, widget=widget)


class CodeFormMixin(forms.Form):
    """Mixin: match a code to a factor. The library's form keeps used codes in the local cache."""

    user: Any
    authenticator: Authenticator

    def clean_code(self) -> str:
        """Accept each code of the app and each recovery code once."""
        code = "".join(self.cleaned_data["code"].split())
        factors = Authenticator.objects.filter(user=self.user).exclude(
            type=Authenticator.Type.WEBAUTHN
        )
        is_unreadable = False
        for factor in factors:
            try:
                if _is_right(factor, code):
                    self.authenticator = factor
                    return code
            except DecryptionError:
                is_unreadable = True
        if is_unreadable:
            _logger.error(
                "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS can decrypt the second factor of %s.",
                self.user.get_username(),
            )
            message = "This server can’t read your second factor. Contact your administrator."
            raise ValidationError(message, code="unreadable")
        raise ValidationError(NO_MATCH, code="incorrect_code")


def _is_right(factor: Authenticator, code: str) -> bool:
    if factor.type == Authenticator.Type.RECOVERY_CODES:
        return bool(factor.wrap().validate_code(code))
    if not validate_totp_code(decrypt(factor.data["secret"]), code):
        return False
    if not spend_code(factor, code):
        raise ValidationError("Code already used. Wait for the next one.", code="used_code")
    return True


class SecondStepForm(CodeFormMixin, AuthenticateForm):  # type: ignore[misc]  # it has no types
    code = code_field(CODE_LABEL)


class CodeAgainForm(CodeFormMixin, ReauthenticateForm):  # type: ignore[misc]  # it has no types
    """A code before a sensitive change, for users without a password."""

    code = code_field(CODE_LABEL)


class PasswordAgainForm(PasswordForm):  # type: ignore[misc]  # it has no types
    password = forms.CharField(
        strip=False,
        label_suffix="",
        widget=forms.PasswordInput(
            attrs={"class": "input", "autocomplete": "current-password", "data-autofocus": ""}
        ),
    )

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise ValidationError("Incorrect password.")
        return password


class AppForm(ActivateTOTPForm):  # type: ignore[misc]  # it has no types
    """The first code of an app. Until then the session holds the encrypted secret."""

    code = code_field("Code from the app")
    secret: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        session = context.request.session
        try:
            self.secret = decrypt(self.secret) if self.is_bound else self.secret
        except DecryptionError:
            self.secret = session.get(SECRET_SESSION_KEY, "")
        session[SECRET_SESSION_KEY] = encrypt(self.secret)

    def clean_code(self) -> str:
        code = "".join(self.cleaned_data["code"].split())
        if not validate_totp_code(self.secret, code):
            raise ValidationError(NO_MATCH, code="incorrect_code")
        return code


class PasskeyForm(AddWebAuthnForm):  # type: ignore[misc]  # it has no types
    name = forms.CharField(
        label="Passkey name",
        label_suffix="",
        required=False,
        max_length=60,
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off"}),
        help_text="For example, “MacBook” or “blue key”.",
    )

    def clean(self) -> dict[str, Any]:
        try:
            cleaned: dict[str, Any] = super().clean()
        except INVALID_PASSKEY_ERRORS:
            raise ValidationError(NO_PASSKEY) from None
        return cleaned


class PasskeyStepForm(AuthenticateWebAuthnForm):  # type: ignore[misc]  # it has no types
    def clean_credential(self) -> Authenticator:
        try:
            return super().clean_credential()
        except INVALID_PASSKEY_ERRORS:
            raise ValidationError(NO_PASSKEY) from None


class PasskeyAgainForm(PasskeyStepForm):
    """The browser's passkey response before a sensitive change."""

    reauthenticated = True
