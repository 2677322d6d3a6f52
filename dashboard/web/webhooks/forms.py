"""Forms to add a subscription by id, to edit it, and to set the receiver's secret."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse
from django.utils.html import format_html
from pydantic import BaseModel
from pydantic import ValidationError as InvalidFieldsError

from dashboard.client import APIError, StatusError
from dashboard.contract.webhooks import EventName, SubscriptionPatch
from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.outgoing_webhooks import NO_SECRET, SECRET_PREFIX, is_secret
from dashboard.service.subscriptions import parse_subscription
from dashboard.web.ui.forms import SingleLineField
from dashboard.web.webhooks.target_url import url_problem, url_warnings

MAX_ID = 500
"""In characters. Source: our choice; the spec gives no limit, but URLs have one."""
MAX_LABEL = SubscriptionRecord._meta.get_field("label").max_length
KEEP, PICK = "keep", "pick"
_MONO = {"class": "input mono", "autocomplete": "off", "spellcheck": "false"}


@dataclass(frozen=True)
class EventGroup:
    """Checkboxes of the events whose names in the API start with `key`."""

    key: str
    """Common prefix; empty for names that are not in the spec."""
    boxes: dict[str, bool]
    """Whether each event is chosen, by name."""

    @property
    def is_all(self) -> bool:
        return all(self.boxes.values())


def event_groups(chosen: Collection[str], others: Iterable[str]) -> list[EventGroup]:
    groups: dict[str, dict[str, bool]] = {}
    for name in pickable(others):
        key = name.rpartition(".")[0] if name in set(EventName) else ""
        groups.setdefault(key, {})[name] = name in chosen
    return [EventGroup(key, boxes) for key, boxes in groups.items()]


def pickable(others: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*(event.value for event in EventName), *others]))


def in_order(chosen: Collection[str], before: Sequence[str] | None) -> list[str]:
    """Return the chosen events: earlier ones in their order, then new ones."""
    old = [name for name in dict.fromkeys(before or ()) if name in chosen]
    return old + [name for name in pickable(chosen) if name in chosen and name not in old]


class SigningSecretForm(forms.Form):
    signing_secret = SingleLineField(
        label="Signing secret",
        max_length=200,
        widget=forms.TextInput(attrs=_MONO),
        help_text=f"Starts with {SECRET_PREFIX}. The service shows it with the subscription.",
        missing="Enter the signing secret.",
    )

    def clean_signing_secret(self) -> str:
        secret: str = self.cleaned_data["signing_secret"].strip()
        if not is_secret(secret):
            raise ValidationError(NO_SECRET)
        return secret


class LabelForm(forms.Form):
    label = SingleLineField(
        label="Label",
        max_length=MAX_LABEL,
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off"}),
        help_text="Only visible in Pressroom.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""


class AddForm(LabelForm):
    field_order = ("subscription_id", "label")
    subscription_id = SingleLineField(
        label="Subscription ID",
        widget=forms.TextInput(attrs=_MONO),
        max_length=MAX_ID,
        help_text="Ask the person who created the subscription.",
        missing="Enter a subscription ID.",
    )
    label = SingleLineField(
        label="Label", max_length=MAX_LABEL, help_text="Optional. Only visible in Pressroom."
    )

    def clean_subscription_id(self) -> str:
        subscription_id: str = self.cleaned_data["subscription_id"]
        if subscription_last_known(subscription_id):
            url = reverse("subscription-detail", args=[subscription_id])
            raise ValidationError(format_html('Already added. <a href="{}">Open it</a>', url))
        return subscription_id


class EditableFields(BaseModel, frozen=True):
    """The fields of a subscription that the form edits. A hidden field holds them as JSON."""

    url: str
    events: tuple[str, ...] | None

    @classmethod
    def of(cls, record: SubscriptionRecord) -> "EditableFields":
        """Return the fields as last seen, without events if the record can't be parsed."""
        subscription = parse_subscription(record)
        if subscription is None:
            return cls(url=record.url, events=None)
        return cls.model_validate(subscription, from_attributes=True)

    @classmethod
    def read(cls, text: str) -> "EditableFields | None":
        try:
            return cls.model_validate_json(text)
        except InvalidFieldsError:
            return None


@dataclass(frozen=True)
class FieldConflict:
    name: str
    before: Any
    now: Any
    entered: Any
    is_edited: bool
    """Whether the user edited the field, too. Then the form shows the user's value."""


def _are_same(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> bool:
    """Return whether two lists have the same events. Their order has no meaning in the spec."""
    if before is None or after is None:
        return before is after
    return set(before) == set(after)


class EditForm(LabelForm):
    """Edits a subscription's label, URL and events. `base` has the fields when it was rendered.

    Only changed fields are sent. If they changed in the service meanwhile, nothing is sent and the
    user sees both values. Unchanged values aren't validated, as the service has them already. The
    label exists in Pressroom only.
    """

    seen_label = forms.CharField(required=False, widget=forms.HiddenInput)
    """Label when the form was rendered, so that an unchanged label overwrites no newer one."""
    url = SingleLineField(
        label="Target URL",
        widget=forms.URLInput(attrs=_MONO),
        help_text="Full URL, starting with https://",
    )
    mode = forms.CharField(required=False)
    """KEEP or PICK if events are null; otherwise unused."""
    events = forms.MultipleChoiceField(
        required=False, error_messages={"invalid_choice": "Unknown event: “%(value)s”."}
    )

    def __init__(
        self,
        data: QueryDict | None,
        *,
        base: EditableFields,
        wanted: EditableFields | None = None,
        labels: Mapping[str, Any],
    ) -> None:
        """Show `wanted` or `base`. With `data`, validate what was typed.

        `labels` holds the `label` to show and the `seen_label` that it replaces.
        """
        self._unbound_fields = fields = wanted or base
        mode = KEEP if fields.events is None else PICK
        initial = {"url": fields.url, "mode": mode, "events": list(fields.events or ()), **labels}
        super().__init__(data, initial=initial)
        self.base = base
        self.refusals: list[str] = []
        """Messages of the service that name no field in the form."""
        names = pickable([*(base.events or ()), *(fields.events or ())])
        self.fields["events"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    @classmethod
    def of(cls, record: SubscriptionRecord, data: QueryDict | None = None) -> "EditForm":
        """Return the form of a subscription, as last seen or as submitted.

        The steps "all" and "none" choose all events, or none.
        """
        labels = {"label": record.label, "seen_label": record.label}
        if data is None:
            return cls(None, base=EditableFields.of(record), labels=labels)
        data = data.copy()
        if data.get("step") in ("all", "none"):
            data["mode"] = PICK
            data.setlist("events", [*EventName] if data["step"] == "all" else [])
        base = EditableFields.read(data.get("seen", "")) or EditableFields.of(record)
        return cls(data, base=base, labels=labels)

    def merged_with(self, record: SubscriptionRecord) -> "tuple[EditForm, list[FieldConflict]]":
        """Return the form merged with changes in the service, and the fields in conflict."""
        base, wanted, body, now = self.base, self.wanted, self.body, EditableFields.of(record)
        conflicts = []
        if now.url != base.url:
            conflicts.append(FieldConflict("url", base.url, now.url, wanted.url, "url" in body))
        if not _are_same(base.events, now.events):
            conflicts.append(
                FieldConflict("events", base.events, now.events, wanted.events, "events" in body)
            )
        merged = EditableFields(
            url=wanted.url if "url" in body else now.url,
            events=wanted.events if "events" in body else now.events,
        )
        return EditForm(None, base=now, wanted=merged, labels=self.labels), conflicts

    @property
    def mark(self) -> str:
        """A checksum of the fields when the form was rendered."""
        events = self.base.events and sorted(self.base.events)
        fields = (self.base.url, events, self["seen_label"].value())
        return f"{crc32(repr(fields).encode()):x}"

    @property
    def leaves_null(self) -> bool:
        return self.base.events is None and self["mode"].value() != PICK

    @property
    def groups(self) -> list[EventGroup]:
        """The events in groups, for the checkboxes. Submitted events stay chosen."""
        names = [name for name, _ in self.fields["events"].choices]  # type: ignore[attr-defined]
        return event_groups(self["events"].value() or (), names)

    @property
    def warnings(self) -> list[str]:
        return url_warnings(str(self["url"].value() or "").strip())

    @property
    def wanted(self) -> EditableFields:
        """The fields in the form. The form must be valid or unbound."""
        if not self.is_bound:
            return self._unbound_fields
        return EditableFields(url=self.cleaned_data["url"], events=self.cleaned_data["events"])

    @property
    def labels(self) -> Mapping[str, Any]:
        """The label in the form, and the label when it was rendered.

        The form must be valid or unbound.
        """
        values = self.cleaned_data if self.is_bound else self.initial
        return {name: values[name] for name in ("label", "seen_label")}

    @property
    def is_label_changed(self) -> bool:
        return bool(self.labels["label"] != self.labels["seen_label"])

    @property
    def body(self) -> dict[str, Any]:
        """The body to send, with the changed fields only. The form must be valid or unbound."""
        changes: dict[str, Any] = {}
        wanted = self.wanted
        if wanted.url != self.base.url:
            changes["url"] = wanted.url
        if wanted.events is not None and not _are_same(self.base.events, wanted.events):
            changes["events"] = list(wanted.events)
        return SubscriptionPatch(**changes).to_wire()

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        # A browser removes line breaks and outer blanks from an unchanged URL.
        if url == self.base.url.replace("\r", "").replace("\n", "").strip():
            return self.base.url
        if problem := url_problem(url):
            raise ValidationError(problem)
        return url

    def clean_events(self) -> tuple[str, ...] | None:
        """Return the events; None if they stay null."""
        chosen = self.cleaned_data["events"]
        if not self.leaves_null:
            return tuple(in_order(chosen, self.base.events))
        if chosen:
            raise ValidationError("Events are selected, but Keep null is chosen. Choose one.")
        return None

    def add_api_error(self, error: APIError) -> None:
        """Add the service's messages to the fields that they name, and the others to `refusals`."""
        problems = error.problems if isinstance(error, StatusError) else ()
        sent = self.wanted.events or ()
        for problem in problems:
            name, _, rest = problem.path.strip("/$.").replace("/", ".").partition(".")
            if name in ("url", "events"):
                is_event = re.fullmatch(r"\d{1,4}", rest) and int(rest) < len(sent)
                event = f" ({sent[int(rest)]})" if is_event else ""
                self.add_error(name, f"The service returned: {problem.message}{event}")
            else:
                self.refusals.append(f"{problem.path}: {problem.message}".removeprefix(": "))
        if not problems:
            self.refusals.append(str(error))
