"""One's own settings."""

from typing import Any

from django import forms

from dashboard.ledger.models import Preferences
from dashboard.web.languages import language_choices
from dashboard.web.time_zones import zone_choices


class PreferencesForm(forms.Form):
    """How a person likes it; each choice has the name of its field in Preferences, but for keys."""

    theme = forms.ChoiceField(
        choices=Preferences.Theme.choices, widget=forms.RadioSelect, required=False
    )
    density = forms.ChoiceField(
        choices=Preferences.Density.choices, widget=forms.RadioSelect, required=False
    )
    time_zone = forms.ChoiceField(
        label="Show times in the zone",
        choices=zone_choices,
        required=False,
        widget=forms.Select(attrs={"class": "input"}),
    )
    language = forms.ChoiceField(
        label="Write numbers and dates as in",
        choices=language_choices,
        required=False,
        widget=forms.Select(attrs={"class": "input"}),
        help_text="The words stay English.",
    )
    keys = forms.BooleanField(label="Single-letter keys", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take no colon after a label."""
        super().__init__(*args, **kwargs)
        self.label_suffix = ""

    @staticmethod
    def as_kept(kept: Preferences) -> dict[str, Any]:
        """Return what to show first."""
        return {
            "theme": kept.theme,
            "density": kept.density,
            "time_zone": kept.time_zone,
            "language": kept.language,
            "keys": not kept.keys_off,
        }

    def to_keep(self) -> dict[str, Any]:
        """Return the fields of Preferences."""
        chosen = ("theme", "density", "time_zone", "language")
        return {name: self.cleaned_data[name] for name in chosen} | {
            "keys_off": not self.cleaned_data["keys"]
        }
