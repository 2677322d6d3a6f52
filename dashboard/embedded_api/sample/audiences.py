"""The audiences of a page: mostly one company each, sometimes one of its people."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from dashboard.contract.dates import read_date
from dashboard.contract.pages import PageStatus
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Audience, Page, Version
from dashboard.embedded_api.sample import versions as fate
from dashboard.embedded_api.sample.chance import between, chance, mark, sample_id
from dashboard.embedded_api.sample.companies import FIRST_COMPANIES, Company, companies
from dashboard.embedded_api.sample.page_briefs import PageBrief
from dashboard.embedded_api.sample.people import contact_name, person_id
from dashboard.embedded_api.sample.texts import LEADS, context, first_facts
from dashboard.embedded_api.sample.versions import Plot, plot, versions_of

_CUSTOM_NAMES = {
    "Brightwater Foods Group plc": "Brightwater Foods",
    "Osei & Daughters Haulage": "Osei & Daughters",
}
_NAMED_FATES = (
    (fate.DROPPED, fate.DROPPED, fate.PAST, fate.PAST, fate.LIVE, fate.CANCELLED, fate.DRAFT),
    (fate.PAST, fate.LIVE, fate.PROCESSING),
    (fate.PAST, fate.PAST, fate.LIVE, fate.STUCK_QUEUED),
    (fate.PAST, fate.LIVE),
    (*(fate.PAST,) * 7, fate.LIVE, fate.DRAFT),
    (fate.DRAFT,),
    (fate.DROPPED, fate.PAST, fate.PAST, fate.LIVE, fate.CANCELLED),
    (*(fate.PAST,) * 5, fate.LIVE),
    (fate.DROPPED, fate.DROPPED),
    (fate.PAST, fate.LIVE, fate.STUCK_PROCESSING),
    (fate.LIVE, fate.QUEUED),
    (fate.PENDING,),
)
"""The first audiences of the first page show every status at once."""


@dataclass(frozen=True)
class AudienceStory:
    """An audience with all of its versions, the oldest first."""

    company: Company
    contact: str
    audience: Audience
    versions: list[Version]


@dataclass(frozen=True)
class _Seat:
    """A place among a page's audiences, and when it was taken."""

    page: Page
    brief: PageBrief
    page_number: int
    place: int
    created: datetime
    horizon: datetime
    """When the page's story ends: now, or when it was archived."""


def audience_stories(
    page_number: int, page: Page, brief: PageBrief, now: datetime
) -> Iterator[AudienceStory]:
    """Make the audiences of a page, in the order in which they were added."""
    horizon = read_date(page.archived_at) or now
    begun = read_date(page.created_at) or now
    order = _companies_of(page_number, brief)
    for place in range(brief.audiences):
        dice = chance("audience", page_number, place)
        created = between(dice, begun + timedelta(hours=3), begun + (horizon - begun) * 0.7)
        seat = _Seat(page, brief, page_number, place, created, horizon)
        story = _story(dice, seat, order[place % len(order)])
        yield _told(dice, story, _plot(dice, seat), now)


def _companies_of(page_number: int, brief: PageBrief) -> list[int]:
    """Return which companies a page speaks to; a call follow-up to the one it names."""
    named = [
        n
        for n, company in enumerate(FIRST_COMPANIES)
        if company.slug.split("-")[0].title() in brief.name
    ]
    others = list(range(len(FIRST_COMPANIES), len(companies())))
    chance("companies of", page_number).shuffle(others)
    first = list(range(len(FIRST_COMPANIES))) if page_number == 0 else named[:1]
    return first + others


def _story(dice: Random, seat: _Seat, number: int) -> AudienceStory:
    company = companies()[number]
    is_nameless = seat.page_number == 0 and seat.place == len(FIRST_COMPANIES)
    audience = Audience(
        id=sample_id("aud", seat.page_number, seat.place),
        tenant_id=DEFAULT_TENANT_ID,
        page=seat.page,
        computed_name=None if is_nameless else company.name,
        custom_name=None if is_nameless else _custom_name(dice, company, contact_name(number)),
        is_new_page_agent=dice.random() < 0.7,
        prospect_id=person_id(number) if dice.random() < 0.8 or seat.place < 12 else None,
        prospect_route_key=company.slug if dice.random() < 0.8 else None,
        metadata_override=_metadata(dice, company) if dice.random() < 0.4 or number == 0 else None,
        created_at=mark(seat.created, dice),
    )
    if dice.random() < 0.18 or number == 0:
        audience.action_url_override = f"https://kestrel.example/book/{company.slug}"
    if dice.random() < 0.1 or number == 0:
        audience.action_form_instructions_override = (
            "Ask for the number of refrigerated units, not for total fleet size. Offer a visit"
            f" to the {company.land.towns[0]} depot as an alternative to a video call."
        )
    if dice.random() < 0.05:
        audience.action_form_id_override = sample_id("form", number)
    return AudienceStory(company, contact_name(number), audience, [])


def _plot(dice: Random, seat: _Seat) -> Plot:
    end = seat.horizon - timedelta(days=30 * dice.random() ** 3, minutes=dice.uniform(20, 600))
    end = max(end, seat.created + (seat.horizon - seat.created) * 0.3)
    if seat.page_number == 0 and seat.place < len(_NAMED_FATES):
        lately = max(seat.created, seat.horizon - timedelta(days=40))
        return Plot(_NAMED_FATES[seat.place], lately, seat.horizon - timedelta(hours=1))
    was_published = seat.brief.status is not PageStatus.DRAFT
    return plot(dice, seat.created, end, ever_published=was_published)


def _told(dice: Random, story: AudienceStory, plot: Plot, now: datetime) -> AudienceStory:
    audience = story.audience
    facts = first_facts(dice, story.company, story.contact)
    story.versions.extend(versions_of(dice, audience, plot, facts, now))
    audience.supplementary_context = story.versions[-1].supplementary_context or context(facts)
    if all(version.archived_at for version in story.versions) and dice.random() < 0.6:
        audience.archived_at = story.versions[-1].archived_at
    return story


def _custom_name(dice: Random, company: Company, contact: str) -> str | None:
    if company in FIRST_COMPANIES:
        return _CUSTOM_NAMES.get(company.name)
    return _typed_name(dice, company, contact) if dice.random() < 0.25 else None


def _typed_name(dice: Random, company: Company, contact: str) -> str:
    """Return a name that somebody typed: the company's short one, or one of its people's."""
    short = " ".join(company.name.split()[:2])
    return dice.choice((short, f"{short}, {contact}", f"{short} ({company.land.towns[0]})"))


def _metadata(dice: Random, company: Company) -> dict[str, Any]:
    short = " ".join(company.name.split()[:2])
    lead = dice.choice(LEADS)
    metadata: dict[str, Any] = {"title": f"Kestrel for {short}: {lead.removeprefix('the ')}"}
    if dice.random() < 0.8:
        metadata["description"] = f"What {lead} does for {short}, with a payback table."
    if dice.random() < 0.6:
        metadata["keywords"] = ["cold chain", "reefer", "fleet telematics"][: dice.randint(1, 3)]
    if dice.random() < 0.3:
        metadata["ogTitle"] = dice.choice(("", f"{short} and Kestrel"))
    return metadata
