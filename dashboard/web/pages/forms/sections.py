"""The nested forms of a new page. Source: spec, Create page."""

from dataclasses import dataclass
from typing import Any

from django import forms

from dashboard.contract.metadata import MetadataRequest
from dashboard.contract.pages import (
    ActionCardWidget,
    ActionRequest,
    FooterLink,
    FooterLinkGroup,
    Image,
    Logo,
    Script,
)
from dashboard.web.pages.forms.nested import NestedForm, SubmittedData
from dashboard.web.ui.forms import CommaSeparatedField, LinkField, MultiLineField, SingleLineField
from dashboard.web.ui.markup import PAGE_TYPES


class ActionForm(NestedForm):
    """An action button. The spec requires all its fields, but they may be empty texts."""

    wire_model = ActionRequest
    noun = "Action"
    plural = "Actions"
    button_title = SingleLineField(label="Button title")
    purpose = SingleLineField(label="Purpose")
    action_type = SingleLineField(label="Type", mono=True)
    action_id = SingleLineField(label="Action ID", mono=True)
    url = LinkField(label="URL", full=True)


class LogoForm(NestedForm):
    noun = "Logo"
    plural = "Logos"
    inside = "image"
    url = LinkField(label="Picture URL")
    alt_text = SingleLineField(label="Alternative text")
    file_id = SingleLineField(label="File ID", mono=True)
    asset_id = SingleLineField(label="Asset ID", mono=True)

    def request(self) -> Logo:
        return Logo(image=Image(**self.cleaned_data))


class WidgetForm(NestedForm):
    wire_model = ActionCardWidget
    noun = "Widget"
    plural = "Action-card widgets"
    lists = {"logos": LogoForm}
    type = SingleLineField(label="Type", mono=True)
    title = SingleLineField(label="Title")


class LinkForm(NestedForm):
    wire_model = FooterLink
    noun = "Link"
    plural = "Links"
    text = SingleLineField(label="Text")
    url = LinkField(label="URL")
    id = SingleLineField(label="ID", mono=True)


class GroupForm(NestedForm):
    wire_model = FooterLinkGroup
    noun = "Group"
    plural = "Footer links"
    lists = {"links": LinkForm}
    title = SingleLineField(label="Group title")
    id = SingleLineField(label="Group ID", mono=True)


class ScriptForm(NestedForm):
    wire_model = Script
    noun = "Script"
    plural = "Scripts"
    name = SingleLineField(label="Name")
    description = SingleLineField(label="Description")
    content = MultiLineField(label="Content", rows=3, mono=True, strip=False)
    enabled = forms.BooleanField(label="Enabled", required=False)


class BasicsForm(NestedForm):
    lists = {
        "actions": ActionForm,
        "action_card_widgets": WidgetForm,
        "footer_links": GroupForm,
        "scripts": ScriptForm,
    }
    name = SingleLineField(
        label="Name", full=True, missing="Enter a name.", help_text="Shown in lists."
    )
    page_type = forms.ChoiceField(
        label="Page type",
        choices=PAGE_TYPES,
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose a type.",
            "invalid_choice": "Choose one of the five types.",
        },
    )
    brand_id = SingleLineField(
        label="Brand ID",
        mono=True,
        missing="Enter a brand ID.",
        help_text="Suggested from existing pages.",
    )
    header_action_id = forms.ChoiceField(
        label="Header action",
        required=False,
        widget=forms.Select(attrs={"class": "input"}),
        error_messages={"invalid_choice": "No action below has this ID."},
        help_text="Choose an action with an ID.",
    )
    page_context = MultiLineField(
        label="Context",
        rows=5,
        missing="Enter a context.",
        help_text="Purpose and tone. Used for every audience.",
    )

    def __init__(self, form_input: SubmittedData, **options: Any) -> None:
        super().__init__(form_input, **options)
        self.fields["brand_id"].widget.attrs["list"] = "brand-suggestions"
        choice = self.fields["header_action_id"]
        assert isinstance(choice, forms.ChoiceField)  # noqa: S101  # for the type checker
        choice.choices = [("", "None"), *_actions_with_id(form_input)]


class MetadataForm(NestedForm):
    """The metadata of a new page. The spec has no images here."""

    title = SingleLineField(label="Title")
    description = SingleLineField(label="Description")
    keywords = CommaSeparatedField(label="Keywords")
    canonical_url = LinkField(label="Canonical URL")
    author = SingleLineField(label="Author")
    robots = CommaSeparatedField(label="Robots", mono=True)
    theme_color = SingleLineField(label="Theme color", mono=True)
    og_title = SingleLineField(label="ogTitle")
    og_description = SingleLineField(label="ogDescription")
    og_site_name = SingleLineField(label="ogSiteName")
    og_url = LinkField(label="ogUrl")
    og_image_alt = SingleLineField(label="ogImageAlt")
    twitter_title = SingleLineField(label="twitterTitle")
    twitter_description = SingleLineField(label="twitterDescription")
    twitter_site = SingleLineField(label="twitterSite")
    twitter_creator = SingleLineField(label="twitterCreator")
    twitter_image_alt = SingleLineField(label="twitterImageAlt")

    @property
    def general(self) -> list[forms.BoundField]:
        return [bound for bound in self if not bound.name.startswith(("og_", "twitter_"))]

    @property
    def cards(self) -> list["FieldGroup"]:
        return [
            FieldGroup(label, [bound for bound in self if bound.name.startswith(start)])
            for label, start in (("Open Graph (shared links)", "og_"), ("Twitter card", "twitter_"))
        ]

    def request(self) -> MetadataRequest | None:
        """Return the metadata to send; None if nothing was typed."""
        body = {name: value for name, value in self.cleaned_data.items() if value}
        return MetadataRequest(**body) if body else None


@dataclass(frozen=True)
class FieldGroup:
    """Fields in a fold, which is open if one of them has a value or an error."""

    label: str
    fields: list[forms.BoundField]

    @property
    def set_count(self) -> int:
        return sum(bool(bound.value()) for bound in self.fields)

    @property
    def is_open(self) -> bool:
        return bool(self.set_count) or any(bound.errors for bound in self.fields)


def _actions_with_id(form_input: SubmittedData) -> list[tuple[str, str]]:
    """Return the id and label of each action with an id, without duplicates."""
    actions: dict[str, str] = {}
    for action in form_input.rows.get("actions", []):
        action_id = action.fields.get("action_id", "").strip()
        title = action.fields.get("button_title", "").strip()
        if action_id:
            actions.setdefault(action_id, f"{title} ({action_id})" if title else action_id)
    return list(actions.items())
