"""Adding a subscription by its id, naming it, and editing what it holds."""

from collections.abc import Collection, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from dashboard.client import APIError, StatusError
from dashboard.ledger.models import SubscriptionRecord
from dashboard.web.forms.fields import Line
from dashboard.web.subscription_edit import Held, body_of
from dashboard.web.subscription_events import EventGroup, event_groups, in_order, pickable
from dashboard.web.subscription_urls import url_problem, url_warnings

MAX_ID = 500
"""Characters. Source: our choice; the spec gives no limit, and an address has one."""
MAX_LABEL = SubscriptionRecord._meta.get_field("label").max_length
KEEP, PICK = "keep", "pick"


class AddForm(forms.Form):
    """The id of a subscription, and what to call it here."""

    subscription_id = Line(
        label="Subscription id",
        mono=True,
        required=True,
        max_length=MAX_ID,
        help_text="Ask whoever made the subscription. It is read from the service at once.",
        error_messages={"required": "Write the id of a subscription."},
    )
    label = Line(label="Label", max_length=MAX_LABEL, help_text="Optional: a name used here only.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take no colon behind labels, and no help from the browser's memory."""
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        self.fields["subscription_id"].widget.attrs |= {
            "autocomplete": "off",
            "spellcheck": "false",
        }


class LabelForm(forms.Form):
    """What a subscription is called here."""

    label = Line(label="Label", max_length=MAX_LABEL, help_text="A name used here only.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take no colon behind the label."""
        super().__init__(*args, **kwargs)
        self.label_suffix = ""


class EditForm(forms.Form):
    """The target and the events of a subscription; `base` is what it held when it was drawn.

    What was left as it was is not checked: the service has it, whatever it is.
    """

    url = Line(label="Target URL", mono=True)
    mode = forms.CharField(required=False)
    """KEEP or PICK, where events are null; otherwise there is nothing to keep."""
    events = forms.MultipleChoiceField(
        required=False,
        error_messages={"invalid_choice": "“%(value)s” is no event that is known here."},
    )

    def __init__(self, data: QueryDict | None, *, base: Held, wanted: Held | None = None) -> None:
        """Show `wanted`, or what was typed and is to be checked."""
        self._held = held = wanted or base
        super().__init__(data, initial=_initial(held), label_suffix="")
        self.base = base
        self.refusals: list[str] = []
        """What the service said about no field of this form."""
        url = self.fields["url"]
        url.widget = forms.URLInput(
            attrs={"class": "input mono", "autocomplete": "off", "spellcheck": "false"}
        )
        url.help_text = "The whole address, starting with https://"
        names = pickable([*(base.events or ()), *(held.events or ())])
        self.fields["events"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    @property
    def leaves_null(self) -> bool:
        """Whether events are null and to be left so."""
        return self.base.events is None and self["mode"].value() != PICK

    @property
    def chosen(self) -> Collection[str]:
        """The events that are ticked, right or wrong."""
        return self["events"].value() or ()

    @property
    def groups(self) -> list[EventGroup]:
        """The events to tick."""
        names = [name for name, _ in self.fields["events"].choices]  # type: ignore[attr-defined]
        return event_groups(self.chosen, names)

    @property
    def warnings(self) -> list[str]:
        """What to think of before the address is used."""
        return url_warnings(str(self["url"].value() or "").strip())

    @property
    def wanted(self) -> Held:
        """What is asked for. Only for a form that is valid, or not bound."""
        if not self.is_bound:
            return self._held
        return Held(self.cleaned_data["url"], self.cleaned_data["events"])

    @property
    def body(self) -> dict[str, Any]:
        """The body to send; empty where nothing is changed. As for `wanted`."""
        return body_of(self.base, self.wanted)

    def clean_url(self) -> str:
        """Return the address. Raises ValidationError for a new one that can't be sent."""
        typed: str = self.cleaned_data["url"]
        if typed == as_typed(self.base.url):
            return self.base.url
        if problem := url_problem(typed):
            raise ValidationError(problem)
        return typed

    def clean_events(self) -> tuple[str, ...] | None:
        """Return the events; None for null that is left alone."""
        chosen = self.cleaned_data["events"]
        if not self.leaves_null:
            return tuple(in_order(chosen, self.base.events))
        if chosen:
            raise ValidationError(
                "Events are ticked, but null is to be left as it is. Choose one of the two."
            )
        return None

    def add_refusal(self, error: APIError) -> None:
        """Put the service's words at the fields it names, and all others beside the button."""
        problems = error.problems if isinstance(error, StatusError) else ()
        sent = self.wanted.events or ()
        for problem in problems:
            name, _, rest = problem.path.strip("/$.").replace("/", ".").partition(".")
            if name in ("url", "events"):
                self.add_error(name, f"The service says: {problem.message}{_which(sent, rest)}")
            else:
                self.refusals.append(f"{problem.path}: {problem.message}".removeprefix(": "))
        if not problems:
            self.refusals.append(str(error))


def as_typed(url: str) -> str:
    """Return an address as it comes back from a field in which nobody typed."""
    return url.replace("\r", "").replace("\n", "").strip()


def _initial(held: Held) -> dict[str, Any]:
    mode = KEEP if held.events is None else PICK
    return {"url": held.url, "mode": mode, "events": list(held.events or ())}


def _which(events: Sequence[str], place: str) -> str:
    """Return which event the service means, where it gave its place in the list."""
    is_place = place.isdecimal() and int(place) < len(events)
    return f" ({events[int(place)]})" if is_place else ""
