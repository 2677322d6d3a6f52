"""The audiences of a page. Each is usually a company, sometimes one of its people.

Also the versions that a dashboard in use for six weeks would have recorded. There are gaps, as a
version that was replaced between two visits was never seen.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, zip_longest
from random import Random
from typing import Any

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.pages import PageStatus
from dashboard.contract.wire import read_date
from dashboard.embedded_api.ids import last_uuid7_of
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Audience, Page, Version
from dashboard.embedded_api.sample.pages import PageBrief
from dashboard.embedded_api.sample.people import (
    FIRST_COMPANIES,
    Company,
    companies,
    contact_name,
    person_id,
)
from dashboard.embedded_api.sample.randomness import (
    TEXTS,
    fill,
    mark,
    random_moment,
    sample_id,
    seeded_random,
    shift_to_weekday,
)
from dashboard.embedded_api.sample.versions import (
    FACTS,
    FIRST_OUTCOMES,
    context,
    first_facts,
    make_versions,
    random_outcomes,
)
from dashboard.embedded_api.serializers import version_json

IN_USE = timedelta(days=43)
SeenVersion = tuple[str, AudienceVersion, datetime, datetime]
"""Page id, version as last seen, and the times when it was first and last seen."""
_TEXTS = TEXTS["audience"]
_CUSTOM_NAMES: dict[str, str] = _TEXTS["custom_names"]


@dataclass(frozen=True)
class AudienceHistory:
    company: Company
    contact: str
    audience: Audience
    versions: list[Version]


def audience_histories(
    page_number: int, page: Page, brief: PageBrief, now: datetime
) -> Iterator[AudienceHistory]:
    horizon = read_date(page.archived_at) or now
    begun = read_date(page.created_at) or now
    order = _companies_of(page_number, brief)
    for place in range(brief.audiences):
        number = order[place % len(order)]
        rng = seeded_random("audience", page_number, place)
        start = random_moment(rng, begun + timedelta(hours=3), begun + (horizon - begun) * 0.7)
        audience = _audience(rng, number, page, (page_number, place), start)
        end = horizon - timedelta(days=30 * rng.random() ** 3, minutes=rng.uniform(20, 600))
        end = max(end, start + (horizon - start) * 0.3)
        if page_number == 0 and place < len(FIRST_OUTCOMES):
            outcomes = FIRST_OUTCOMES[place]
            start = max(start, horizon - timedelta(days=40))
            end = horizon - timedelta(hours=1)
        else:
            was_published = brief.status != PageStatus.DRAFT
            outcomes = random_outcomes(rng, ever_published=was_published)
        company, contact = companies()[number], contact_name(number)
        facts = first_facts(rng, company, contact)
        versions = make_versions(rng, audience, outcomes, facts, start=start, end=end, now=now)
        audience.supplementary_context = versions[-1].supplementary_context or context(facts)
        if all(version.archived_at for version in versions) and rng.random() < 0.6:
            audience.archived_at = versions[-1].archived_at
        yield AudienceHistory(company, contact, audience, versions)


def _companies_of(page_number: int, brief: PageBrief) -> list[int]:
    """Return the numbers of a page's companies. A company that the page names comes first."""
    named = [
        n
        for n, company in enumerate(FIRST_COMPANIES)
        if company.slug.split("-")[0].title() in brief.name
    ]
    others = list(range(len(FIRST_COMPANIES), len(companies())))
    seeded_random("companies of", page_number).shuffle(others)
    first = list(range(len(FIRST_COMPANIES))) if page_number == 0 else named[:1]
    return first + others


def _audience(
    rng: Random, number: int, page: Page, key: tuple[int, int], created: datetime
) -> Audience:
    """Build the audience of a company. `key` is the page's number and the position on it."""
    company = companies()[number]
    is_nameless = key == (0, len(FIRST_COMPANIES))
    audience = Audience(
        id=sample_id("aud", *key),
        tenant_id=DEFAULT_TENANT_ID,
        page=page,
        computed_name=None if is_nameless else company.name,
        custom_name=None if is_nameless else _custom_name(rng, company, contact_name(number)),
        is_new_page_agent=rng.random() < 0.7,
        prospect_id=person_id(number) if rng.random() < 0.8 or key[1] < 12 else None,
        prospect_route_key=company.slug if rng.random() < 0.8 else None,
        metadata_override=_metadata(rng, company) if rng.random() < 0.4 or number == 0 else None,
        created_at=mark(created, rng),
    )
    if rng.random() < 0.18 or number == 0:
        audience.action_url_override = f"https://kestrel.example/book/{company.slug}"
    if rng.random() < 0.1 or number == 0:
        instructions = fill(_TEXTS["form_instructions"], {"town": company.towns[0]})
        audience.action_form_instructions_override = instructions
    if rng.random() < 0.05:
        audience.action_form_id_override = sample_id("form", number)
    return audience


def _custom_name(rng: Random, company: Company, contact: str) -> str | None:
    """Return a name as a user might type it, with or without a person's name, or None."""
    if company in FIRST_COMPANIES:
        return _CUSTOM_NAMES.get(company.name)
    if rng.random() >= 0.25:
        return None
    short = company.short_name
    return rng.choice((short, f"{short}, {contact}", f"{short} ({company.towns[0]})"))


def _metadata(rng: Random, company: Company) -> dict[str, Any]:
    short, lead = company.short_name, rng.choice(FACTS["leads"])
    metadata: dict[str, Any] = {"title": f"Kestrel for {short}: {lead.removeprefix('the ')}"}
    if rng.random() < 0.8:
        metadata["description"] = f"What {lead} does for {short}, with a payback table."
    if rng.random() < 0.6:
        metadata["keywords"] = _TEXTS["keywords"][: rng.randint(1, 3)]
    if rng.random() < 0.3:
        metadata["ogTitle"] = rng.choice(("", f"{short} and Kestrel"))
    return metadata


def seen_versions(histories: Iterable[AudienceHistory], now: datetime) -> Iterator[SeenVersion]:
    for page_id, page_histories in groupby(histories, key=lambda history: history.audience.page_id):
        visits = [(visit, last_uuid7_of(visit)) for visit in _visits_to(page_id, now)]
        for history in page_histories:
            for version, newer in zip_longest(history.versions, history.versions[1:]):
                newer_from = newer.created_at if newer else "~"
                seen = [v for v, until in visits if _was_listed(version, newer_from, until)]
                if seen:
                    content = version_json(version, seen[-1])
                    yield page_id, AudienceVersion.model_validate(content), seen[0], seen[-1]


def _visits_to(page_id: str, now: datetime) -> list[datetime]:
    """Return the sorted times of 3 to 40 visits to a page."""
    rng = seeded_random("looks", page_id)
    count = int(rng.triangular(3, 40, 12))
    began = now - IN_USE
    visits = (shift_to_weekday(rng, began + IN_USE * rng.random()) for _ in range(count))
    return sorted(max(began, visit) for visit in visits)


def _was_listed(version: Version, newer_from: str, until: str) -> bool:
    """Return whether the version was the latest or the live one at the mark `until`.

    `newer_from` is the mark when a newer version was created.
    """
    if version.created_at > until:
        return False
    is_live = (version.published_at or "~") <= until < (version.archived_at or "~")
    return is_live or until < newer_from
