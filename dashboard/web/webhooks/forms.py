"""Forms to add a subscription by its id, to label it and to edit it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse
from django.utils.html import format_html

from dashboard.client import APIError, StatusError
from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.web.ui.form_fields import SingleLineField
from dashboard.web.webhooks.edit_conflicts import EditableFields, changed_fields
from dashboard.web.webhooks.events import EventGroup, event_groups, in_order, pickable
from dashboard.web.webhooks.target_url import url_problem, url_warnings

MAX_ID = 500
"""Characters. Source: our choice; the spec gives no limit, but URLs have one."""
MAX_LABEL = SubscriptionRecord._meta.get_field("label").max_length
KEEP, PICK = "keep", "pick"
_MONO = {"class": "input mono", "autocomplete": "off", "spellcheck": "false"}


class LabelForm(forms.Form):
    """The label of a subscription in Pressroom."""

    label = SingleLineField(
        label="Label",
        max_length=MAX_LABEL,
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off"}),
        help_text="Only visible in Pressroom.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Remove the colon behind the label."""
        super().__init__(*args, **kwargs)
        self.label_suffix = ""


class AddForm(LabelForm):
    """The ID of a subscription, and its label in Pressroom."""

    field_order = ("subscription_id", "label")
    subscription_id = SingleLineField(
        label="Subscription ID",
        widget=forms.TextInput(attrs=_MONO),
        required=True,
        max_length=MAX_ID,
        help_text="Ask the person who created the subscription.",
        error_messages={"required": "Enter a subscription ID."},
    )
    label = SingleLineField(
        label="Label", max_length=MAX_LABEL, help_text="Optional. Only visible in Pressroom."
    )

    def clean_subscription_id(self) -> str:
        """Return the id. Raises ValidationError, with a link, if it is on the list."""
        subscription_id: str = self.cleaned_data["subscription_id"]
        if subscription_last_known(subscription_id):
            url = reverse("subscription-detail", args=[subscription_id])
            raise ValidationError(format_html('Already added. <a href="{}">Open it</a>', url))
        return subscription_id


class EditForm(LabelForm):
    """The label, target and events of a subscription; `base` are its fields when it was rendered.

    Unchanged values are not validated: the service has them already. The label is Pressroom's own.
    """

    seen_label = forms.CharField(required=False, widget=forms.HiddenInput)
    """The label when the form was rendered: an unchanged one doesn't overwrite a newer one."""
    url = SingleLineField(
        label="Target URL",
        widget=forms.URLInput(attrs=_MONO),
        help_text="Full URL, starting with https://",
    )
    mode = forms.CharField(required=False)
    """KEEP or PICK if events are null; unused otherwise."""
    events = forms.MultipleChoiceField(
        required=False,
        error_messages={"invalid_choice": "Unknown event: “%(value)s”."},
    )

    def __init__(
        self,
        data: QueryDict | None,
        *,
        base: EditableFields,
        wanted: EditableFields | None = None,
        labels: Mapping[str, Any],
    ) -> None:
        """Show `wanted` or `base`; with `data`, validate what was typed.

        `labels` are the `label` to show, and the `seen_label` that it replaces.
        """
        self._fields_shown = shown = wanted or base
        mode = KEEP if shown.events is None else PICK
        initial = {"url": shown.url, "mode": mode, "events": list(shown.events or ()), **labels}
        super().__init__(data, initial=initial)
        self.base = base
        self.refusals: list[str] = []
        """Messages of the service that name no field of the form."""
        names = pickable([*(base.events or ()), *(shown.events or ())])
        self.fields["events"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    @property
    def leaves_null(self) -> bool:
        """Whether events are null and stay so."""
        return self.base.events is None and self["mode"].value() != PICK

    @property
    def groups(self) -> list[EventGroup]:
        """The events in groups, for the checkboxes; those selected are chosen, valid or not."""
        names = [name for name, _ in self.fields["events"].choices]  # type: ignore[attr-defined]
        return event_groups(self["events"].value() or (), names)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the URL."""
        return url_warnings(str(self["url"].value() or "").strip())

    @property
    def wanted(self) -> EditableFields:
        """The fields in the form, which has to be valid or unbound."""
        if not self.is_bound:
            return self._fields_shown
        return EditableFields(url=self.cleaned_data["url"], events=self.cleaned_data["events"])

    @property
    def labels(self) -> Mapping[str, Any]:
        """The label in the form, and the one when it was rendered. As for `wanted`."""
        values = self.cleaned_data if self.is_bound else self.initial
        return {name: values[name] for name in ("label", "seen_label")}

    @property
    def is_label_changed(self) -> bool:
        """Whether the label is to be saved. As for `wanted`."""
        return bool(self.labels["label"] != self.labels["seen_label"])

    @property
    def body(self) -> dict[str, Any]:
        """The body to send; empty if nothing has changed. As for `wanted`."""
        return changed_fields(self.base, self.wanted)

    def clean_url(self) -> str:
        """Return the URL. Raises ValidationError for a new one that can't be sent."""
        typed: str = self.cleaned_data["url"]
        # A browser submits an unchanged URL without these.
        if typed == self.base.url.replace("\r", "").replace("\n", "").strip():
            return self.base.url
        if problem := url_problem(typed):
            raise ValidationError(problem)
        return typed

    def clean_events(self) -> tuple[str, ...] | None:
        """Return the events; None if null stays as it is."""
        chosen = self.cleaned_data["events"]
        if not self.leaves_null:
            return tuple(in_order(chosen, self.base.events))
        if chosen:
            raise ValidationError("Events are selected, but Keep null is chosen. Choose one.")
        return None

    def add_api_error(self, error: APIError) -> None:
        """Add the service's messages to the fields it names, and all others beside the button."""
        problems = error.problems if isinstance(error, StatusError) else ()
        sent = self.wanted.events or ()
        for problem in problems:
            name, _, rest = problem.path.strip("/$.").replace("/", ".").partition(".")
            if name in ("url", "events"):
                self.add_error(
                    name, f"The service returned: {problem.message}{_event_at(sent, rest)}"
                )
            else:
                self.refusals.append(f"{problem.path}: {problem.message}".removeprefix(": "))
        if not problems:
            self.refusals.append(str(error))


def _event_at(events: Sequence[str], place: str) -> str:
    """Return the event at a place that the service named, in brackets, or ""."""
    is_place = re.fullmatch(r"\d{1,4}", place) and int(place) < len(events)
    return f" ({events[int(place)]})" if is_place else ""
