"""The carriers and shippers whom the pages speak to. All are made up, all under `.example`."""

import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

from dashboard.embedded_api.sample.chance import chance
from dashboard.embedded_api.sample.lands import (
    BALTICS,
    BRITAIN,
    FRANCE,
    GERMANY,
    GHANA,
    LANDS,
    NETHERLANDS,
    NORDICS,
    SPAIN,
    Land,
)


@dataclass(frozen=True)
class Company:
    """A company: how it is called, its domain and the country it is from."""

    name: str
    land: Land

    @cached_property
    def slug(self) -> str:
        """The name as an address has it, without its legal form."""
        words = "".join(c if c.isalnum() else " " for c in plain(self.name).lower()).split()
        return "-".join([word for word in words if word not in _LEGAL_FORMS][:3])

    @property
    def fleet(self) -> int:
        """How many vehicles it has, or had at first."""
        return 14 + sum(self.slug.encode()) % 400

    @property
    def domain(self) -> str:
        """Where its people have their mail."""
        return f"{self.slug}.example"


def plain(text: str) -> str:
    """Return a text in plain letters, as addresses and mail names are spelled."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_SPELLED))
    return decomposed.encode("ascii", "ignore").decode()


_FORMS = "ltd plc group gmbh co kg ag s a l as asa ab sia ou uab sp z o sas sarl scop b v n and de"
_LEGAL_FORMS = frozenset(_FORMS.split())
_SPELLED = str.maketrans(
    {
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "ß": "ss",
        "æ": "ae",
        "ü": "ue",
        "ö": "oe",
        "ä": "ae",
        "ı": "i",
        "&": " ",
    }
)

FIRST_COMPANIES = (
    Company("Brightwater Foods Group plc", BRITAIN),
    Company("Hanseatic Kühllogistik GmbH & Co. KG", GERMANY),
    Company("Transportes Río Verde", SPAIN),
    Company("Osei & Daughters Haulage", GHANA),
    Company("Nordlys Seafood Export", NORDICS),
    Company(
        "Société coopérative des transporteurs frigorifiques de la région"
        " Auvergne-Rhône-Alpes (SCTF-ARA)",
        FRANCE,
    ),
    Company("Baltic Timber Lines", BALTICS),
    Company("Moorland Dairies", BRITAIN),
    Company("Van der Meer Transport", NETHERLANDS),
    Company("Fjordlast AS", NORDICS),
    Company("Northgate Parcel", BRITAIN),
)
"""Those that the pages name."""


@lru_cache(maxsize=1)
def companies() -> tuple[Company, ...]:
    """Return every company, the named ones first, the others shuffled."""
    known = {company.slug for company in FIRST_COMPANIES}
    made = [
        Company(_name(land, first, trade), land)
        for land in LANDS
        for first, trade in product(land.first, land.trade)
    ]
    others = [company for company in made if company.slug not in known]
    chance("companies").shuffle(others)
    return FIRST_COMPANIES + tuple(others)


def _name(land: Land, first: str, trade: str) -> str:
    form = chance("legal form", first, trade).choice(land.form)
    leads = land in {SPAIN, FRANCE}
    return f"{trade} {first} {form}" if leads else f"{first} {trade} {form}"
