"""Forms for login and password change: Django's own, with our texts and styles."""

from typing import Any

from django import forms
from django.contrib.auth.forms import (
    AdminPasswordChangeForm,
    AuthenticationForm,
    PasswordChangeForm,
)
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts


class LoginForm(AuthenticationForm):
    """Username and password. Errors don't reveal whether a username exists."""

    error_messages = {
        "invalid_login": "Incorrect username or password.",
        "inactive": "Incorrect username or password.",
    }
    remember = forms.BooleanField(label="Keep me signed in for 12 hours", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        self.fields["username"].label = "Username"
        for name in ("username", "password"):
            self.fields[name].widget.attrs["class"] = "input"


class PasswordOnlyMixin:
    """Save only the new password: others may change the account at the same time."""

    def set_password_and_save(self, user: User, *args: Any, **kwargs: Any) -> User:
        is_saved = kwargs.pop("commit", True)
        super().set_password_and_save(user, *args, commit=False, **kwargs)  # type: ignore[misc]
        if is_saved:
            user.save(update_fields=["password"])
        return user


class AdminPasswordForm(PasswordOnlyMixin, AdminPasswordChangeForm):  # type: ignore[type-arg]
    """Form in the admin for another user's new password."""


class PasswordForm(PasswordOnlyMixin, PasswordChangeForm):
    error_messages = PasswordChangeForm.error_messages | {
        "password_incorrect": "Incorrect current password.",
        "password_mismatch": "The new passwords don’t match.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        self.fields["old_password"].label = "Current password"
        self.fields["new_password2"].label = "Confirm new password"
        # The rules as text instead of Django's list.
        self.fields["new_password1"].help_text = " ".join(password_validators_help_texts())
        self.fields["new_password2"].help_text = ""
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"
