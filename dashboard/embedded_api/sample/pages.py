"""Sixty pages with context, actions, cards, links and scripts."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any, NamedTuple

from dashboard.contract.pages import PageStatus
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Page
from dashboard.embedded_api.sample.randomness import (
    TEXTS,
    fill,
    mark,
    random_sample,
    sample_id,
    seeded_random,
    shift_to_weekday,
    weighted_choice,
)

_TEXTS = TEXTS["page"]
_BRAND_WEIGHTS = {"fleet": 7, "cold chain": 3, "partners": 1}
_AGES_DAYS = {"draft": (3, 40), "published": (20, 300), "archived": (120, 420)}
"""Minimum and maximum age of a page in days, by status."""


class PageBrief(NamedTuple):
    name: str
    title: str
    page_type: str
    status: str
    audiences: int


def pages(now: datetime) -> Iterator[tuple[Page, PageBrief]]:
    for number, row in enumerate(TEXTS["pages"]):
        brief = PageBrief(*row)
        yield _page(number, brief, now), brief


def _page(number: int, brief: PageBrief, now: datetime) -> Page:
    rng = seeded_random("page", number)
    ages_days = {status: rng.uniform(*ages) for status, ages in _AGES_DAYS.items()}
    created = shift_to_weekday(rng, now - timedelta(days=ages_days[brief.status]))
    page = Page(
        id=sample_id("page", number),
        tenant_id=DEFAULT_TENANT_ID,
        brand_id=sample_id("brand", weighted_choice(rng, _BRAND_WEIGHTS)),
        name=brief.name,
        title=brief.title,
        page_type=brief.page_type,
        page_context=_context(rng, brief),
        actions=_actions(number, rng),
        action_card_widgets=_cards(number, rng),
        footer_links=_footer(number) if rng.random() < 0.7 or number == 0 else [],
        scripts=random_sample(rng, _TEXTS["scripts"], 3) if rng.random() < 0.5 else [],
        metadata=_metadata(rng, brief) if rng.random() < 0.85 or number == 0 else None,
        created_at=mark(created, rng),
    )
    if page.actions and rng.random() < 0.7:
        page.header_action_id = page.actions[0]["actionId"]
    page.updated_at = mark(created + (now - created) * rng.random() ** 0.5 * 0.98, rng)
    if brief.status == PageStatus.ARCHIVED:
        archived = shift_to_weekday(rng, now - timedelta(days=rng.uniform(2, 50)))
        page.archived_at = page.updated_at = mark(archived, rng)
    return page


def _context(rng: Random, brief: PageBrief) -> str:
    subject = f"{brief.name.split(':')[-1].strip()}. {brief.title}".strip().removesuffix(".")
    who, rules = rng.choice(_TEXTS["who"]), " ".join(random_sample(rng, _TEXTS["rules"], 5))
    return str(fill(_TEXTS["context"], {"who": who, "subject": subject, "rules": rules}))


def _actions(number: int, rng: Random) -> list[dict[str, Any]]:
    actions = random_sample(rng, _TEXTS["actions"], 4) if rng.random() < 0.92 else []
    return [
        {"actionId": sample_id("act", number, index), "actionIndex": index} | action
        for index, action in enumerate(actions)
    ]


def _cards(number: int, rng: Random) -> list[dict[str, Any]]:
    cards = random_sample(rng, _TEXTS["cards"], 3) if rng.random() < 0.6 else []
    return [
        {"type": kind, "title": title, "logos": [_logo(number, name) for name in logos]}
        for kind, title, logos in cards
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
        for title, links in _TEXTS["links"].items()
    ]


def _metadata(rng: Random, brief: PageBrief) -> dict[str, Any]:
    words = "".join(c if c.isalnum() else " " for c in brief.name.lower()).split()
    values = {
        "title": brief.title,
        "about": brief.title or brief.name,
        "short_name": brief.name[:60],
        "first_word": brief.name.lower().split()[0],
        "slug": "-".join(words[:4]),
    }
    metadata = fill(_TEXTS["metadata"], values)
    dropped = {*rng.sample(sorted(metadata), rng.randint(0, 6))} - {"title"}
    return {name: value for name, value in metadata.items() if name not in dropped}
