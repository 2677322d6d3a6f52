"""Findings about a page, and where texts are cut. Tests of the widths are in tests/browser."""

from typing import Any

import pytest

from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.previews.content import PageContent
from dashboard.previews.findings import page_findings
from dashboard.previews.widths import SEARCH_DESCRIPTION, SEARCH_TITLE, fit
from tests.support import wire

GOOD = {"title": "Trucks", "description": "Every truck on one map."}


def content(audience: dict[str, Any] | None = None, **page: Any) -> PageContent:
    item = PageItem.model_validate(wire.page(**{"metadata": GOOD} | page))
    return PageContent(item, Audience.model_validate(audience) if audience else None)


def findings(**page: Any) -> list[tuple[str, str, bool]]:
    return [
        (finding.path, finding.headline, finding.is_serious)
        for finding in page_findings(content(**page))
    ]


def logo(**image: str) -> list[dict[str, Any]]:
    return [{"type": "logos", "title": "Carriers", "logos": [{"image": image}]}]


def footer(**link: str) -> list[dict[str, Any]]:
    return [{"title": "Legal", "links": [link]}]


DEAD, IMAGE = "Link that visitors can’t open", "actionCardWidgets.0.logos.0.image"


@pytest.mark.parametrize(
    ("differs", "expected"),
    [
        ({}, []),
        ({"actions": [{"url": "ftp://a.example"}]}, [("actions.0.url", DEAD, True)]),
        ({"actions": [{"url": "javascript:alert(1)"}]}, [("actions.0.url", DEAD, True)]),
        ({"actions": [{"url": "/book"}]}, [("actions.0.url", DEAD, True)]),
        ({"actions": [{"url": "tel:+442055501200"}, {"url": "mailto:a@b.example"}]}, []),
        ({"actions": [{"buttonTitle": "Book", "url": ""}]}, []),
        (
            {"actions": [{"buttonTitle": "Book"}, {"buttonTitle": "Book"}]},
            [("actions.1.buttonTitle", "Two buttons with one title", False)],
        ),
        (
            {"footerLinks": footer(text="Imprint", url="")},
            [("footerLinks.0.links.0.url", "Link without a URL", True)],
        ),
        (
            {"footerLinks": footer(text="Files", url="https://a.example/a b")},
            [("footerLinks.0.links.0.url", DEAD, True)],
        ),
        (
            {"actionCardWidgets": [{"type": "quote", "title": "Cases", "logos": []}]},
            [("actionCardWidgets.0.title", "Empty card", False)],
        ),
        (
            {"actionCardWidgets": logo(url="https://a.example/l.svg")},
            [(f"{IMAGE}.altText", "Picture without alternative text", False)],
        ),
        (
            {"actionCardWidgets": logo(url="http://a.example/l.svg", altText="L")},
            [(f"{IMAGE}.url", "Picture over http", False)],
        ),
        (
            {"actionCardWidgets": logo(url="data:image/svg+xml,x", altText="L")},
            [(f"{IMAGE}.url", "Picture that can’t load", False)],
        ),
        ({"metadata": None}, [("metadata.description", "No description", False)]),
        (
            {"metadata": GOOD | {"title": "Fleet telematics for regional carriers " * 2}},
            [("metadata.title", "Search title is cut", False)],
        ),
        (
            {"metadata": GOOD | {"description": "Every truck on one map. " * 12}},
            [("metadata.description", "Search description is cut", False)],
        ),
        (
            {"metadata": GOOD | {"ogTitle": "Every truck on one map " * 6}},
            [("metadata.ogTitle", "Social title is cut", False)],
        ),
    ],
)
def test_a_stumble_is_found_at_its_field(
    differs: dict[str, Any], expected: list[tuple[str, str, bool]]
) -> None:
    assert findings(**differs) == expected


def test_the_serious_findings_come_first() -> None:
    serious = [finding[2] for finding in findings(metadata=None, actions=[{"url": "x:y"}])]
    assert serious == [True, False]


def test_an_override_is_checked_beside_the_actions() -> None:
    [finding] = page_findings(content(wire.audience(actionUrlOverride="ftp://a.example")))
    assert (finding.piece, finding.is_serious) == ("actions", True)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("", ""),
        ("Every truck", "Every truck"),
        ("  Every\n truck ", "Every truck"),
        ("漢" * 31, "漢" * 29 + "…"),
        ("i" * 135, "i" * 135),
        ("Fleet telematics for regional carriers with cold-chain alarms",) * 2,
        (
            "Fleet telematics for regional carriers with cold-chain alarms and payback times",
            "Fleet telematics for regional carriers with cold-chain alarms and…",
        ),
    ],
)
def test_a_title_is_cut_between_words(text: str, drawn: str) -> None:
    assert fit(text, SEARCH_TITLE) == drawn


def test_a_million_characters_are_cut_at_once() -> None:
    assert len(fit("word " * 200_000, SEARCH_DESCRIPTION)) < 300


def test_each_field_names_its_source() -> None:
    audience = wire.audience(
        metadataOverride={"title": "Ours"},
        effectiveMetadata={"title": "Ours", "description": GOOD["description"], "ogTitle": "New"},
    )
    drawn = content(audience)
    sources = {name: source for name, (_, source) in drawn.metadata.items()}
    assert sources == {"title": "Override", "description": "Page", "ogTitle": "Effective"}
    assert drawn.search_result.title.text == "Ours"


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://pages.example/a/b/", "pages.example › a › b"),
        ("https://pages.example?a=b#c", "pages.example"),
        ("just words", "just words"),
        (None, ""),
    ],
)
def test_a_url_is_formatted_as_a_search_engine_does(url: str | None, site: str) -> None:
    assert content(metadata={"canonicalUrl": url}).search_result.site_name == site


def test_a_social_card_uses_the_most_specific_title() -> None:
    titles = [{"title": "m"}, {"title": "m", "twitterTitle": "t"}, {"title": "m", "ogTitle": "o"}]
    cards = [content(title="p", metadata=metadata).social_card for metadata in (None, *titles)]
    assert [card.title.text for card in cards] == ["p", "m", "t", "o"]
