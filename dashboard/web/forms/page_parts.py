"""The parts of a page to be created, as forms. Source: spec, Create page."""

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
from dashboard.web.forms.fields import Address, Line, Several, Text
from dashboard.web.forms.parts import PartForm, Typed
from dashboard.web.templatetags.pressroom import PAGE_TYPES


class ActionForm(PartForm):
    """An action button. All its fields are texts; the spec requires each, if only as empty."""

    noun = "Action"
    plural = "Actions"
    button_title = Line(label="Button title")
    purpose = Line(label="Purpose")
    action_type = Line(label="Type", mono=True)
    action_id = Line(label="Action id", mono=True)
    url = Address(label="URL", full=True)

    def request(self) -> ActionRequest:
        """Return the action to send."""
        return ActionRequest(**self.cleaned_data)


class LogoForm(PartForm):
    """A logo of an action card."""

    noun = "Logo"
    plural = "Logos"
    inside = "image"
    url = Address(label="Picture URL")
    alt_text = Line(label="Alternative text")
    file_id = Line(label="File id", mono=True)
    asset_id = Line(label="Asset id", mono=True)

    def request(self) -> Logo:
        """Return the logo to send."""
        return Logo(image=Image(**self.cleaned_data))


class WidgetForm(PartForm):
    """An action card."""

    noun = "Widget"
    plural = "Action-card widgets"
    lists = {"logos": LogoForm}
    type = Line(label="Type", mono=True)
    title = Line(label="Title")

    def request(self) -> ActionCardWidget:
        """Return the card to send."""
        logos = [row.request() for row in self.rows["logos"] if isinstance(row, LogoForm)]
        return ActionCardWidget(**self.cleaned_data, logos=logos)


class LinkForm(PartForm):
    """A footer link."""

    noun = "Link"
    plural = "Links"
    text = Line(label="Text")
    url = Address(label="URL")
    id = Line(label="Id", mono=True)

    def request(self) -> FooterLink:
        """Return the link to send."""
        return FooterLink(**self.cleaned_data)


class GroupForm(PartForm):
    """A group of footer links."""

    noun = "Group"
    plural = "Footer links"
    lists = {"links": LinkForm}
    title = Line(label="Group title")
    id = Line(label="Group id", mono=True)

    def request(self) -> FooterLinkGroup:
        """Return the group to send."""
        links = [row.request() for row in self.rows["links"] if isinstance(row, LinkForm)]
        return FooterLinkGroup(**self.cleaned_data, links=links)


class ScriptForm(PartForm):
    """A script of the page."""

    noun = "Script"
    plural = "Scripts"
    name = Line(label="Name")
    description = Line(label="Description")
    content = Text(label="Content", rows=3, mono=True, strip=False)
    enabled = forms.BooleanField(label="Enabled", required=False)

    def request(self) -> Script:
        """Return the script to send."""
        return Script(**self.cleaned_data)


class BasicsForm(PartForm):
    """The page itself, with its lists."""

    lists = {
        "actions": ActionForm,
        "action_card_widgets": WidgetForm,
        "footer_links": GroupForm,
        "scripts": ScriptForm,
    }
    name = Line(
        label="Name",
        full=True,
        required=True,
        error_messages={"required": "Write a name."},
        help_text="Operators see this in lists.",
    )
    page_type = forms.ChoiceField(
        label="Page type",
        choices=PAGE_TYPES,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose a type.", "invalid_choice": "Choose one of the five."},
    )
    brand_id = Line(
        label="Brand id",
        mono=True,
        required=True,
        error_messages={"required": "Write the id of a brand."},
        help_text="Brands of pages seen here are suggested.",
    )
    header_action_id = forms.ChoiceField(
        label="Header action",
        required=False,
        widget=forms.Select(attrs={"class": "input"}),
        error_messages={"invalid_choice": "This is the id of none of the actions below."},
        help_text="One of the actions below that have an id.",
    )
    page_context = Text(
        label="Context",
        rows=5,
        required=True,
        error_messages={"required": "Write at least one character."},
        help_text="What the page is for and how to speak. "
        "Everyone who reads the page is written to from this.",
    )

    def __init__(self, typed: Typed, **options: Any) -> None:
        """Offer the actions that were typed as header action."""
        super().__init__(typed, **options)
        self.fields["brand_id"].widget.attrs["list"] = "brands-seen"
        choice = self.fields["header_action_id"]
        assert isinstance(choice, forms.ChoiceField)  # noqa: S101  # for the type checker
        choice.choices = [("", "None"), *_typed_actions(typed)]


class MetadataForm(PartForm):
    """The metadata that can be set when a page is created; the spec leaves out the pictures."""

    title = Line(label="Title")
    description = Line(label="Description")
    keywords = Several(label="Keywords")
    canonical_url = Address(label="Canonical URL")
    author = Line(label="Author")
    robots = Several(label="Robots", mono=True)
    theme_color = Line(label="Theme colour", mono=True)
    og_title = Line(label="ogTitle")
    og_description = Line(label="ogDescription")
    og_site_name = Line(label="ogSiteName")
    og_url = Address(label="ogUrl")
    og_image_alt = Line(label="ogImageAlt")
    twitter_title = Line(label="twitterTitle")
    twitter_description = Line(label="twitterDescription")
    twitter_site = Line(label="twitterSite")
    twitter_creator = Line(label="twitterCreator")
    twitter_image_alt = Line(label="twitterImageAlt")

    @property
    def general(self) -> list[forms.BoundField]:
        """The fields that belong to no card."""
        return [bound for bound in self if not bound.name.startswith(("og_", "twitter_"))]

    @property
    def cards(self) -> list["FieldGroup"]:
        """The fields of the two cards that a shared link may show."""
        return [
            FieldGroup(label, [bound for bound in self if bound.name.startswith(start)])
            for label, start in (
                ("Open Graph, for shared links", "og_"),
                ("Twitter card", "twitter_"),
            )
        ]

    def request(self) -> MetadataRequest | None:
        """Return what was given, or None where nothing was."""
        given = {name: value for name, value in self.cleaned_data.items() if value}
        return MetadataRequest(**given) if given else None


@dataclass(frozen=True)
class FieldGroup:
    """Some fields of a form, folded until one of them holds something."""

    label: str
    fields: list[forms.BoundField]

    @property
    def set_count(self) -> int:
        """How many hold something."""
        return sum(bool(bound.value()) for bound in self.fields)

    @property
    def is_open(self) -> bool:
        """Whether there is something to see: a value or an error."""
        return bool(self.set_count) or any(bound.errors for bound in self.fields)


def _typed_actions(typed: Typed) -> list[tuple[str, str]]:
    """Return the actions that have an id, each once: its id, and its title beside it."""
    found: dict[str, str] = {}
    for action in typed.rows.get("actions", []):
        action_id = action.fields.get("action_id", "").strip()
        title = action.fields.get("button_title", "").strip()
        if action_id:
            found.setdefault(action_id, f"{title} ({action_id})" if title else action_id)
    return list(found.items())
