"""Fictional carriers and shippers, and the people there who read the pages.

All domains are under `.example`. People have international names and lack some fields.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import product
from random import Random

from django.utils.functional import cached_property

from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Person
from dashboard.embedded_api.sample.randomness import TEXTS, mark, sample_id, seeded_random

GIVEN, FAMILY = TEXTS["given_names"].split(), TEXTS["family_names"].split()
_FORMS = "ltd plc group gmbh co kg ag s a l as asa ab sia ou uab sp z o sas sarl scop b v n and de"
_LEGAL_FORMS = frozenset(_FORMS.split())
_TRANSLITERATIONS = str.maketrans({
    "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i", "ß": "ss",
    "æ": "ae", "ü": "ue", "ö": "oe", "ä": "ae", "&": " ",
})  # fmt: skip


@dataclass(frozen=True)
class Company:
    name: str
    phone_prefix: str
    towns: list[str]

    @cached_property
    def slug(self) -> str:
        words = "".join(c if c.isalnum() else " " for c in plain(self.name).lower()).split()
        return "-".join([word for word in words if word not in _LEGAL_FORMS][:3])

    @property
    def short_name(self) -> str:
        return " ".join(self.name.split()[:2])

    @property
    def fleet(self) -> int:
        return 14 + sum(self.slug.encode()) % 400

    @property
    def domain(self) -> str:
        return f"{self.slug}.example"


def plain(text: str) -> str:
    """Return a text in ASCII, for URLs and e-mail addresses."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_TRANSLITERATIONS))
    return decomposed.encode("ascii", "ignore").decode()


_TOWNS = {country["code"]: country["towns"] for country in TEXTS["countries"]}
FIRST_COMPANIES = tuple(
    Company(name, code, _TOWNS[code]) for name, code in TEXTS["named_companies"]
)
"""Companies that the pages name."""


@lru_cache(maxsize=1)
def companies() -> tuple[Company, ...]:
    named = {company.slug for company in FIRST_COMPANIES}
    others = []
    for country in TEXTS["countries"]:
        for first, trade in product(country["first"], country["trade"]):
            form = seeded_random("legal form", first, trade).choice(country["form"])
            words = (trade, first) if country.get("trade_first") else (first, trade)
            company = Company(" ".join((*words, form)), country["code"], country["towns"])
            if company.slug not in named:
                others.append(company)
    seeded_random("companies").shuffle(others)
    return (*FIRST_COMPANIES, *others)


def person_id(number: int) -> str:
    return sample_id("prospect", number)


def people(count: int, now: datetime) -> Iterator[Person]:
    for number in range(count):
        yield _person(number, companies()[number % len(companies())], now)


def contact_name(number: int) -> str:
    if number == 0:
        return "Marisol Peña"
    rng = seeded_random("name", number)
    title = rng.choices(("", "Dr. ", "Prof. "), (96, 3, 1))[0]
    middle = f" {rng.choice(GIVEN)[0]}." if rng.random() < 0.06 else ""
    return f"{title}{rng.choice(GIVEN)}{middle} {rng.choice(FAMILY).replace('-der-', ' der ')}"


def _person(number: int, company: Company, now: datetime) -> Person:
    rng = seeded_random("person", number)
    name = contact_name(number)
    local = _local_part(rng, name)
    slug = local.replace(".", "-")
    created_at = now - timedelta(days=rng.uniform(2, 700))
    is_named = number < 12 or rng.random() < 0.999  # they are listed first
    return Person(
        person_id=person_id(number),
        tenant_id=DEFAULT_TENANT_ID,
        name=name if is_named else "",
        email=f"{local}@{company.domain}" if number < 12 or rng.random() < 0.97 else None,
        domain=company.domain,
        slug=f"{slug}-{number}" if rng.random() < 0.7 else None,
        phone_number=f"{company.phone_prefix} {rng.randint(20, 99)} 555 {rng.randint(100, 9999):04}"
        if rng.random() < 0.75
        else None,
        linkedin_profile_url=f"https://linkedin.example/in/{slug}-{rng.randint(10, 999)}"
        if rng.random() <= 0.6
        else None,
        created_at=mark(created_at, rng),
        updated_at=mark(created_at + (now - created_at) * rng.random(), rng),
    )


def _local_part(rng: Random, name: str) -> str:
    words = plain(name).lower().replace("'", "").split()
    first, *others = [word for word in words if not word.endswith(".")]
    last = "-".join(others)
    return rng.choice((f"{first}.{last}", f"{first[0]}.{last}", f"{first}.{last}", first))
