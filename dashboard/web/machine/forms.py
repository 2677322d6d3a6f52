"""The form for a new token. Nothing is preselected."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User

from dashboard import clock
from dashboard.ledger.models import PageRecord
from dashboard.machine.models import MAX_TOKEN_NAME, Scope
from dashboard.machine.tokens import may_own
from dashboard.web.ui.forms import MultiLineField, SingleLineField

LIFETIMES = {7: "7 days", 30: "30 days", 90: "90 days", 180: "180 days", 365: "1 year"}
HINTS = {
    Scope.READ: "Find, read and compare audiences; follow releases and activity.",
    Scope.REQUEST: "Check versions, comment, request a publish, cancel its own. A person decides.",
    Scope.PUBLISH: "Publish what it has checked, while no approval rule is on.",
}


class TokenForm(forms.Form):
    name = SingleLineField(
        label="Name",
        missing="Enter a name.",
        max_length=MAX_TOKEN_NAME,
        help_text="Shown in Activity and to approvers, such as “nightly build”.",
    )
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose what the token may do."},
    )
    is_agent = forms.BooleanField(label="An AI agent uses it", required=False)
    pages = forms.ChoiceField(
        label="It may see",
        choices=[("all", "All pages"), ("named", "Only these pages")],
        widget=forms.RadioSelect,
        error_messages={"required": "Choose which pages it may see."},
    )
    page_ids = MultiLineField(label="Page IDs", rows=3, mono=True, help_text="One per line.")
    days = forms.TypedChoiceField(
        label="Expires after",
        choices=[("", "Choose…"), *LIFETIMES.items()],
        coerce=int,
        widget=forms.Select(attrs={"class": "input auto"}),
        error_messages={"required": "Choose when it expires."},
    )

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        self.user = user

    def clean(self) -> dict[str, Any]:
        """Check the choices together, and turn them into columns of a token."""
        cleaned = super().clean() or {}
        scopes = set(cleaned.get("scopes", ()))
        if Scope.PUBLISH in scopes and cleaned.get("is_agent"):
            self.add_error("scopes", "An agent can’t publish: it requests, and a person decides.")
        if not may_own(self.user, scopes):
            self.add_error("scopes", "You can’t publish, so your tokens can only read.")
        page_ids = sorted({*cleaned.get("page_ids", "").split()})
        is_limited = cleaned.pop("pages", "") == "named"
        pages = PageRecord.objects.filter(page_id__in=page_ids)
        missing = {*page_ids} - {*pages.values_list("page_id", flat=True)}
        if is_limited and not page_ids:
            self.add_error("page_ids", "Enter at least one page ID.")
        elif is_limited and missing:
            self.add_error("page_ids", f"No such page: {', '.join(sorted(missing))[:200]}.")
        expires_at = clock.now() + timedelta(days=cleaned.pop("days", 0))
        return cleaned | {"page_ids": page_ids if is_limited else None, "expires_at": expires_at}
