"""The versions that a preview draws, and the fields of the response that it doesn't draw."""

from collections.abc import Mapping
from typing import NamedTuple

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.metadata import FIELDS
from dashboard.contract.pages import (
    Action,
    ActionCardWidget,
    FooterLink,
    FooterLinkGroup,
    Image,
    PageItem,
    Script,
)
from dashboard.contract.wire import WireModel
from dashboard.ledger.queries.audiences import find_version
from dashboard.previews.content import PageContent
from dashboard.text_diff import TextDifference, compare_texts
from dashboard.web.audiences.state import AudienceHead

_DRAWN: dict[type[WireModel], tuple[str, ...]] = {
    Action: ("button_title", "url"),
    ActionCardWidget: ("title", "logos"),
    Image: ("alt_text", "url"),
    FooterLinkGroup: ("title", "links"),
    FooterLink: ("text", "url"),
    Script: ("name",),
    AudienceVersion: ("version_number", "status", "supplementary_context"),
    Audience: (
        *("action_url_override", "action_form_id_override", "action_form_instructions_override"),
        *("effective_name", "effective_metadata", "latest_version", "published_version"),
    ),
}
"""Fields that the template draws, by model."""
_OF_PAGE = ("title", "page_context", "actions", "action_card_widgets", "footer_links", "scripts")


class VersionTexts(NamedTuple):
    versions: list[AudienceVersion]
    """One version, or the live one and another to compare."""
    difference: TextDifference | None
    is_unknown: bool
    """Whether the version in the URL isn't recorded. The latest is then shown."""


def chosen_texts(head: AudienceHead, params: Mapping[str, str]) -> VersionTexts:
    """Return the versions that `version=` and `compare=live` name; by default, live and latest."""
    version_id = params.get("version", "")
    ids = (head.page_id, head.audience_id, version_id)
    wanted = find_version(head.audience, *ids) if version_id else None
    version = wanted or head.latest or head.live
    is_compared = params.get("compare") == "live" or not wanted
    sides = [head.live, version] if is_compared and not head.is_live(version) else [version]
    versions = [side for side in sides if side]
    texts = [version.supplementary_context for version in versions]
    difference = compare_texts(*texts) if len(texts) == 2 else None
    return VersionTexts(versions, difference, is_unknown=bool(version_id) and wanted is None)


def not_drawn(content: PageContent, *, of_audience: bool) -> dict[str, list[str]]:
    """Return the fields of the API that aren't drawn, or only in part, by object."""
    drawn = _DRAWN | {PageItem: _OF_PAGE if of_audience else (*_OF_PAGE, "metadata")}
    models = [model for model in drawn if of_audience or model not in (Audience, AudienceVersion)]
    fields = {
        model.__name__.removesuffix("Item"): [
            field.alias or name
            for name, field in model.model_fields.items()
            if name not in drawn[model]
        ]
        for model in models
    }
    in_use = content.drawn_metadata
    return fields | {"Metadata": [name for name in FIELDS if name not in in_use]}
