"""Forms of the notification settings and of notification webhooks."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from django import forms

from dashboard.notifications.kinds import KINDS, Kind
from dashboard.notifications.models import (
    Channel,
    NotificationSettings,
    WebhookFormat,
    WebhookTarget,
)
from dashboard.notifications.targets import MAX_NAME
from dashboard.web.ui.formats import zone_choices

CELLS = [f"{kind}:{channel.value}" for kind in KINDS for channel in Channel]
FOR_TEAMS = [
    kind for kind in KINDS.values() if not kind.is_personal and kind.name != "followed_changed"
]
"""Kinds for a team's webhook. A team follows nothing and is not mentioned in comments."""
_TIME = {"class": "input", "type": "time", "autocomplete": "off"}
_MONO = {"class": "input mono", "autocomplete": "off", "spellcheck": "false"}
HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]


def group_kinds(kinds: Iterable[Kind]) -> list[tuple[str, list[Kind]]]:
    return [(group, list(of_group)) for group, of_group in groupby(kinds, key=lambda k: k.group)]


class SettingsForm(forms.Form):
    cells = forms.MultipleChoiceField(
        required=False,
        choices=[(cell, cell) for cell in CELLS],
        error_messages={
            "invalid_choice": "This form is out of date. Reload the page, then save again."
        },
    )
    """Kinds and channels that are on, each as `kind:channel`."""
    quiet_from = forms.TimeField(
        label="From",
        required=False,
        widget=forms.TimeInput(attrs=_TIME, format="%H:%M"),
        error_messages={"invalid": "Enter a time, such as 19:00."},
    )
    quiet_to = forms.TimeField(
        label="To",
        required=False,
        widget=forms.TimeInput(attrs=_TIME, format="%H:%M"),
        error_messages={"invalid": "Enter a time, such as 07:30."},
    )
    time_zone = forms.ChoiceField(
        label="Time zone",
        choices=lambda: zone_choices()[1:],
        widget=forms.Select(attrs={"class": "input"}),
        error_messages={"required": "Choose a time zone.", "invalid_choice": "Choose a time zone."},
        help_text="For quiet hours and the daily summary.",
    )
    has_digest = forms.BooleanField(label="Send a daily summary by e-mail", required=False)
    digest_hour = forms.TypedChoiceField(
        label="At", choices=HOURS, coerce=int, widget=forms.Select(attrs={"class": "input"})
    )

    def clean_cells(self) -> set[tuple[str, ...]]:
        return {tuple(cell.split(":")) for cell in self.cleaned_data["cells"]}

    @property
    def checked(self) -> set[str]:
        return set(self["cells"].value() or ())

    @staticmethod
    def initial_from(saved: NotificationSettings, time_zone: str) -> dict[str, Any]:
        names = ("quiet_from", "quiet_to", "has_digest", "digest_hour")
        return {name: getattr(saved, name) for name in names} | {
            "time_zone": saved.time_zone or time_zone
        }


class EmailForm(forms.Form):
    email = forms.EmailField(
        label="New address",
        max_length=254,
        widget=forms.EmailInput(attrs={"class": "input", "autocomplete": "email"}),
        error_messages={
            "required": "Enter an address.",
            "invalid": "Enter an address, such as ada@example.com.",
        },
        help_text="We send a link there. The address counts once you have opened it.",
    )


class TargetForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=MAX_NAME,
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off"}),
        error_messages={"required": "Enter a name."},
    )
    url = forms.CharField(
        label="URL",
        widget=forms.TextInput(attrs=_MONO),
        error_messages={"required": "Enter a URL."},
        help_text="Starts with https:// and is reachable from the internet.",
    )
    format = forms.ChoiceField(
        label="Format",
        choices=WebhookFormat.choices,
        initial=WebhookFormat.SLACK,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose a format."},
    )
    secret = forms.CharField(
        label="Signing secret",
        required=False,
        widget=forms.TextInput(attrs=_MONO),
        help_text="Only for signed JSON. Leave it empty for a new one.",
    )
    kinds = forms.MultipleChoiceField(
        label="Events", choices=[(kind.name, kind.label) for kind in FOR_TEAMS], required=False
    )

    def __init__(self, *, is_team: bool, **options: Any) -> None:
        """Remove `kinds` from the form of a user's webhook, as the settings have its kinds."""
        super().__init__(label_suffix="", **options)
        if not is_team:
            del self.fields["kinds"]

    @property
    def checked(self) -> set[str]:
        return set(self["kinds"].value() or ())


class TargetChangeForm(TargetForm):
    is_active = forms.BooleanField(label="On", required=False)

    def __init__(self, target: WebhookTarget, **options: Any) -> None:
        names = ("name", "url", "kinds", "is_active")
        initial = {name: getattr(target, name) for name in names}
        super().__init__(is_team=target.user_id is None, initial=initial, **options)
        del self.fields["format"], self.fields["secret"]
