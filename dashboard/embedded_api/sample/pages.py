"""The sixty pages with context, actions, cards, links and scripts."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

from dashboard.contract.pages import PageStatus
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Page
from dashboard.embedded_api.sample.page_briefs import PAGE_BRIEFS, PageBrief
from dashboard.embedded_api.sample.randomness import (
    mark,
    random_sample,
    sample_id,
    seeded_random,
    shift_to_weekday,
)

SITE = "https://kestrel.example"
BRANDS = ("fleet", "cold chain", "partners")
_WHO = (
    "regional carriers with 20 to 200 vehicles who plan on spreadsheets and phone calls today",
    "fleets over 500 vehicles with a works council and a procurement department",
    "food distributors who run their own refrigerated trucks",
    "family hauliers in the second or third generation",
    "shippers who are asked for numbers by their own customers",
)
_RULES = (
    "Never promise an installation date.",
    "Never compare with a named competitor.",
    "If the prospect has refrigerated units, lead with alarms; if not, lead with planned"
    " against actual arrival.",
    "Customer quotes may be used only from the approved list: Nordlys Seafood, Moorland"
    " Dairies, Baltic Timber Lines.",
    "Prices are in the currency of the prospect and exclude VAT.",
    "Speak to the person who answers the phone at six in the morning.",
    "Name the problem before the product: late returns, missed slots, temperature claims.",
)
_ACTIONS = (
    (
        "Meeting with the regional seller", "Book a walk-through", "calendar",
        f"{SITE}/book/regional",
    ),
    ("Form, asks for fleet size", "Get the price list", "form", ""),
    (
        "Case study, new tab", "See the Nordlys pilot", "link",
        f"{SITE}/stories/nordlys-seafood-cold-chain-pilot",
    ),
    ("Call back within the hour", "Call me back", "phone", "tel:+442055501200"),
    ("Document", "Download the data sheet", "download", f"{SITE}/files/data-sheet.pdf"),
)  # fmt: skip
_CARDS = (
    (
        "logo_strip", "Carriers who moved from spreadsheets",
        ("Nordlys Seafood Export", "Moorland Dairies", ""),
    ),
    ("quote", "", ()),
    ("logo_strip", "Works with what you have", ("Tachograph readers", "Fuel cards")),
)  # fmt: skip
_SCRIPTS = (
    {
        "name": "Visit counter", "description": "Counts visits without cookies", "enabled": True,
        "content": "// no cookies, no fingerprint: path and hour only\n"
        "const hit = { path: location.pathname, hour: new Date().getUTCHours() };\n"
        'navigator.sendBeacon("https://count.kestrel.example/v1/hit", JSON.stringify(hit));',
    },
    {
        "name": "Chat bubble (old vendor)", "description": "", "enabled": False,
        "content": 'window.bubble && window.bubble.start("kst-88213");',
    },
    {
        "name": "Structured data", "description": "For search engines", "enabled": True,
        "content": '<script type="application/ld+json">{"@type": "SoftwareApplication", "name":'
        ' "Kestrel Fleet"}</script>',
    },
)  # fmt: skip
_LINKS = {
    "Product": {
        "Kestrel Dispatch": f"{SITE}/dispatch",
        "Cold-chain alarms": f"{SITE}/alarms",
        "Status": f"{SITE}/status",
    },
    "Legal": {"Privacy": f"{SITE}/privacy", "Imprint": ""},
}
"""The footer's links, by group."""


def pages(now: datetime) -> Iterator[tuple[Page, PageBrief]]:
    """Yield the pages with their briefs."""
    for number, brief in enumerate(PAGE_BRIEFS):
        yield _page(number, brief, now), brief


def _page(number: int, brief: PageBrief, now: datetime) -> Page:
    rng = seeded_random("page", number)
    ages_days = {
        PageStatus.DRAFT: rng.uniform(3, 40),
        PageStatus.PUBLISHED: rng.uniform(20, 300),
        PageStatus.ARCHIVED: rng.uniform(120, 420),
    }
    created = shift_to_weekday(rng, now - timedelta(days=ages_days[brief.status]))
    page = Page(
        id=sample_id("page", number),
        tenant_id=DEFAULT_TENANT_ID,
        brand_id=sample_id("brand", rng.choices(BRANDS, (7, 3, 1))[0]),
        name=brief.name,
        title=brief.title,
        page_type=brief.page_type.value,
        page_context=_context(rng, brief),
        actions=_actions(number, rng),
        action_card_widgets=_cards(number, rng),
        footer_links=_footer(number) if rng.random() < 0.7 or number == 0 else [],
        scripts=list(random_sample(rng, _SCRIPTS, 3)) if rng.random() < 0.5 else [],
        metadata=_metadata(rng, brief) if rng.random() < 0.85 or number == 0 else None,
        created_at=mark(created, rng),
    )
    if page.actions and rng.random() < 0.7:
        page.header_action_id = page.actions[0]["actionId"]
    page.updated_at = mark(created + (now - created) * rng.random() ** 0.5 * 0.98, rng)
    if brief.status is PageStatus.ARCHIVED:
        archived = shift_to_weekday(rng, now - timedelta(days=rng.uniform(2, 50)))
        page.archived_at = page.updated_at = mark(archived, rng)
    return page


def _context(rng: Random, brief: PageBrief) -> str:
    subject = f"{brief.name.split(':')[-1].strip()}. {brief.title}".strip().removesuffix(".")
    return "\n\n".join(
        (
            "Kestrel Fleet shows every truck, trailer and refrigerated unit on one map, and tells"
            " the dispatcher which of them needs a decision in the next hour. This page is for"
            f" {rng.choice(_WHO)}.",
            f"Its subject: {subject}.",
            " ".join(random_sample(rng, _RULES, 5)),
        )
    )


def _actions(number: int, rng: Random) -> list[dict[str, Any]]:
    chosen = random_sample(rng, _ACTIONS, 4) if rng.random() < 0.92 else ()
    return [
        {
            "actionId": sample_id("act", number, index),
            "actionIndex": index,
            "purpose": purpose,
            "buttonTitle": button,
            "actionType": kind,
            "url": url,
        }
        for index, (purpose, button, kind, url) in enumerate(chosen)
    ]


def _cards(number: int, rng: Random) -> list[dict[str, Any]]:
    chosen = random_sample(rng, _CARDS, 3) if rng.random() < 0.6 else ()
    return [
        {"type": kind, "title": title, "logos": [_logo(number, name) for name in logos]}
        for kind, title, logos in chosen
    ]


def _logo(number: int, name: str) -> dict[str, Any]:
    image = {
        "altText": name,
        "url": f"https://cdn.kestrel.example/logos/{sample_id('logo', name)}.svg",
        "fileId": sample_id("file", number, name),
        "assetId": sample_id("asset", name),
    }
    return {"image": image}


def _footer(number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": sample_id("group", number, title),
            "title": title,
            "links": [
                {"text": text, "url": url, "id": sample_id("link", number, text)}
                for text, url in links.items()
            ],
        }
        for title, links in _LINKS.items()
    ]


def _metadata(rng: Random, brief: PageBrief) -> dict[str, Any]:
    slug = "-".join("".join(c if c.isalnum() else " " for c in brief.name.lower()).split()[:4])
    metadata = {
        "title": f"{brief.name[:60]} | Kestrel",
        "description": f"{brief.title or brief.name}. Built for the people who plan and drive.",
        "keywords": ["fleet telematics", "dispatch", *brief.name.lower().split()[:1]],
        "robots": ["index", "nofollow"],
        "canonicalUrl": f"https://pages.kestrel.example/{slug}",
        "ogTitle": brief.title,
        "ogDescription": f"{brief.title or brief.name}.",
        "ogImageUrl": f"https://cdn.kestrel.example/og/{slug}.png",
        "ogSiteName": "Kestrel Freight Software",
        "ogUrl": f"https://pages.kestrel.example/{slug}",
        "twitterTitle": brief.title,
        "twitterSite": "@kestrel",
        "themeColor": "#1d3b53",
    }
    dropped = {*rng.sample(sorted(metadata), rng.randint(0, 6))} - {"title"}
    return {name: value for name, value in metadata.items() if name not in dropped}
