"""The form of a user's own settings."""

from typing import Any

from django import forms

from dashboard.ledger.models import Preferences
from dashboard.web.ui.locale_format import language_choices
from dashboard.web.ui.time_zones import zone_choices

CHOICES = ("theme", "density", "time_zone", "language")
"""The fields that are as in Preferences."""


class PreferencesForm(forms.Form):
    """Edit a user's Preferences. Fields have the same names, but for `keys`."""

    theme = forms.ChoiceField(
        choices=Preferences.Theme.choices, widget=forms.RadioSelect, required=False
    )
    density = forms.ChoiceField(
        choices=Preferences.Density.choices, widget=forms.RadioSelect, required=False
    )
    time_zone = forms.ChoiceField(
        label="Time zone",
        choices=zone_choices,
        required=False,
        widget=forms.Select(attrs={"class": "input"}),
    )
    language = forms.ChoiceField(
        label="Number and date format",
        choices=language_choices,
        required=False,
        widget=forms.Select(attrs={"class": "input"}),
        help_text="Text stays in English.",
    )
    keys = forms.BooleanField(label="Single-key shortcuts", required=False)

    @staticmethod
    def initial_from(preferences: Preferences) -> dict[str, Any]:
        """Return the initial values of the form."""
        chosen = {name: getattr(preferences, name) for name in CHOICES}
        return chosen | {"keys": not preferences.keys_off}

    def to_preferences(self) -> dict[str, Any]:
        """Return the fields of Preferences."""
        chosen = {name: self.cleaned_data[name] for name in CHOICES}
        return chosen | {"keys_off": not self.cleaned_data["keys"]}
