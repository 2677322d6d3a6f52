"""A whole page to create: what is typed, by keyboard alone, and what the page then has."""

import json
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from tests.browser.conftest import settle

SUBMIT = "button[type=submit].primary"
ACTIONS = [
    {
        "buttonTitle": f"Button {letter}",
        "purpose": f"Purpose {letter}",
        "actionType": "link",
        "actionId": f"act-{letter.lower()}",
        "url": f"https://kestrel.example/{letter.lower()}",
    }
    for letter in "ABCDE"
]
CARDS = [
    {
        "type": "logo_strip",
        "title": f"Card {n}",
        "image.url": f"https://cdn.example/{n}.svg",
        "image.altText": f"Logo {n}",
        "image.fileId": f"file_{n}",
        "image.assetId": f"asset_{n}",
    }
    for n in (1, 2)
]
FOOTER_LINK = {"text": "Imprint", "url": "https://kestrel.example/imprint", "id": "imprint"}
SCRIPTS = [
    {"name": f"Script {n}", "description": f"Counts {n}", "content": f"count({n});"}
    for n in (1, 2, 3)
]
METADATA = {
    "title": "A meta title",
    "description": "A meta description.",
    "keywords": "fleet, reefer",
    "canonicalUrl": "https://kestrel.example/fleet",
    "author": "Ada",
    "robots": "index, follow",
    "themeColor": "#336699",
    "ogTitle": "An Open Graph title",
    "ogDescription": "For shared links.",
    "ogSiteName": "Kestrel",
    "ogUrl": "https://kestrel.example/og",
    "ogImageAlt": "A lorry",
    "twitterTitle": "A card title",
    "twitterDescription": "For the card.",
    "twitterSite": "@kestrel",
    "twitterCreator": "@ada",
    "twitterImageAlt": "A lorry too",
}


@dataclass(frozen=True)
class Rows:
    """Number of rows of each kind to type."""

    actions: int = 2
    cards: int = 1
    scripts: int = 2


ALL_ROWS = Rows(len(ACTIONS), len(CARDS), len(SCRIPTS))
_FOLDS = {"ogTitle": 1, "twitterTitle": 2}


# The least number of Tab presses to the wanted element. They are made before the focus is checked
# again, which saves round trips.
STEPS_TO = """([wanted, back]) => {
  if (document.activeElement.matches(wanted)) return 0;
  const stops = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const all = [...document.querySelectorAll(stops)].filter((each) => each.tabIndex >= 0
    && each.type !== "radio" && !each.disabled
    && each.checkVisibility({ visibilityProperty: true }));
  const at = all.indexOf(document.activeElement);
  const to = all.findIndex((each) => each.matches(wanted));
  return at < 0 || to < 0 ? 1 : Math.max(back ? at - to : to - at, 1);
}"""


def tab_to(page: Page, selector: str, *, back: bool = False) -> None:
    """Press Tab, or Shift+Tab, until an element that matches the selector has the focus."""
    for _ in range(400):
        steps = page.evaluate(STEPS_TO, [selector, back])
        if not steps:
            return
        for _ in range(steps):
            page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"The keyboard does not reach {selector}")


def type_at(page: Page, field_id: str, words: str) -> None:
    """Tab to a field and type into it.

    Only the first letter is a key press, which is enough for scripts that listen to keys. The
    others are inserted at once, as by an input method.
    """
    tab_to(page, f"[id='{field_id}']")
    page.keyboard.type(words[:1])
    page.keyboard.insert_text(words[1:])


def write_actions(page: Page, rows: Rows) -> None:
    """Type the actions; the form starts with one row."""
    for place, action in enumerate(ACTIONS[: rows.actions]):
        if place:
            add_row(page, "actions", place, "buttonTitle")
        for name, words in action.items():
            type_at(page, f"actions.{place}.{name}", words)


def add_row(page: Page, path: str, place: int, first: str) -> None:
    """Add a row with its button and wait until it appears."""
    tab_to(page, f"button[name=rows][value='add {path}']")
    page.keyboard.press("Enter")
    page.locator(f"[id='{path}.{place}.{first}']").wait_for()
    page.wait_for_load_state()


def write_cards(page: Page, rows: Rows) -> None:
    """Type the action cards, each with a logo."""
    for place, card in enumerate(CARDS[: rows.cards]):
        under = f"actionCardWidgets.{place}"
        add_row(page, "actionCardWidgets", place, "type")
        type_at(page, f"{under}.type", card["type"])
        type_at(page, f"{under}.title", card["title"])
        add_row(page, f"{under}.logos", 0, "image.url")
        for name in ("image.url", "image.altText", "image.fileId", "image.assetId"):
            type_at(page, f"{under}.logos.0.{name}", card[name])


def write_footer(page: Page) -> None:
    """Type a group of footer links with one link."""
    add_row(page, "footerLinks", 0, "title")
    type_at(page, "footerLinks.0.title", "Legal")
    type_at(page, "footerLinks.0.id", "legal")
    add_row(page, "footerLinks.0.links", 0, "text")
    for name, words in FOOTER_LINK.items():
        type_at(page, f"footerLinks.0.links.0.{name}", words)


def write_scripts(page: Page, rows: Rows) -> None:
    """Type the scripts and turn on the second."""
    for place, script in enumerate(SCRIPTS[: rows.scripts]):
        add_row(page, "scripts", place, "name")
        for name, words in script.items():
            type_at(page, f"scripts.{place}.{name}", words)
        if place == 1:
            tab_to(page, "[id='scripts.1.enabled']")
            page.keyboard.press("Space")


def write_metadata(page: Page) -> None:
    """Type all metadata fields; two groups of them are folded."""
    for name, words in METADATA.items():
        if fold := _FOLDS.get(name):
            tab_to(page, f"#metadata details:nth-of-type({fold}) > summary")
            page.keyboard.press("Enter")
        type_at(page, f"metadata.{name}", words)


def fill_metadata(page: Page) -> None:
    """Fill in the same fields without typing."""
    for fold in _FOLDS.values():
        page.locator(f"#metadata details:nth-of-type({fold}) > summary").click()
    for name, words in METADATA.items():
        page.locator(f"[id='metadata.{name}']").fill(words)


def all_but_metadata(name: str, rows: Rows) -> dict[str, str]:
    """Return the form fields as sent, with everything above the metadata."""
    context = "For carriers of 20 to 200 vehicles."
    fields = {"name": name, "pageType": "outbound", "pageContext": context}
    for place, action in enumerate(ACTIONS[: rows.actions]):
        fields |= {f"actions.{place}.{key}": words for key, words in action.items()}
    fields["headerActionId"] = "act-b"
    for place, card in enumerate(CARDS[: rows.cards]):
        under = f"actionCardWidgets.{place}"
        fields |= {f"{under}.{key}": card[key] for key in ("type", "title")}
        logo = {key: words for key, words in card.items() if key.startswith("image.")}
        fields |= {f"{under}.logos.0.{key}": words for key, words in logo.items()}
    fields |= {"footerLinks.0.title": "Legal", "footerLinks.0.id": "legal"}
    fields |= {f"footerLinks.0.links.0.{key}": words for key, words in FOOTER_LINK.items()}
    for place, script in enumerate(SCRIPTS[: rows.scripts]):
        fields |= {f"scripts.{place}.{key}": words for key, words in script.items()}
    return fields | {"scripts.1.enabled": "on"}


def write_basics(page: Page, name: str) -> None:
    """Type the name and the context, and choose the type; the brand is suggested."""
    type_at(page, "name", name)
    tab_to(page, "input[name=pageType]")
    page.keyboard.press("ArrowRight")
    type_at(page, "pageContext", "For carriers of 20 to 200 vehicles.")


def choose_header_action(page: Page) -> None:
    """Go back up to the list of header actions, and choose the second by its first letters.

    The list has it after the page has fetched the list again.
    """
    tab_to(page, "[id='headerActionId']", back=True)
    page.locator("option[value='act-b']").wait_for(state="attached")
    settle(page)
    page.keyboard.type("Button B")


def as_created(page: Page) -> dict[str, Any]:
    """Return the page's JSON from the service, as its detail page shows it."""
    locator: dict[str, Any] = json.loads(page.locator("#raw").text_content() or "")
    return locator


def assert_holds_all(page: Page, name: str, rows: Rows) -> None:
    """Check that the page has every field as typed."""
    held = as_created(page)
    assert (held["name"], held["pageType"]) == (name, "outbound")
    assert held["pageContext"] == "For carriers of 20 to 200 vehicles."
    actions = [{key: action[key] for key in ACTIONS[0]} for action in held["actions"]]
    assert actions == ACTIONS[: rows.actions]
    assert held["headerActionId"] == "act-b"
    cards = [
        {key: card[key] for key in ("type", "title")}
        | {f"image.{key}": value for key, value in card["logos"][0]["image"].items()}
        for card in held["actionCardWidgets"]
    ]
    assert cards == CARDS[: rows.cards]
    assert held["footerLinks"] == [{"id": "legal", "title": "Legal", "links": [FOOTER_LINK]}]
    assert held["scripts"] == [
        script | {"enabled": place == 1} for place, script in enumerate(SCRIPTS[: rows.scripts])
    ]
    lists = {name: METADATA[name].split(", ") for name in ("keywords", "robots")}
    assert {key: held["metadata"][key] for key in METADATA} == METADATA | lists
