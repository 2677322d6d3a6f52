"""Fictional carriers and shippers, the readers of the pages, all under `.example`."""

import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

from dashboard.embedded_api.sample.randomness import seeded_random


@dataclass(frozen=True)
class Country:
    """Company names, legal forms and towns of a country."""

    code: str
    """The prefix of phone numbers."""
    first: tuple[str, ...]
    trade: tuple[str, ...]
    form: tuple[str, ...]
    towns: tuple[str, ...]


def _country(code: str, *lists: str) -> Country:
    first, trade, form, towns = (tuple(text.split(", ")) for text in lists)
    return Country(code, first, trade, form, towns)


BRITAIN = _country(
    "+44",
    "Brightwater, Moorland, Northgate, Thornbury, Kirkwall, Ashdown, Fenwick, Calder,"
    " Pennine, Severn, Harbour, Whitby, Lowther, Tamar",
    "Haulage, Foods, Cold Stores, Dairies, Parcel, Container Services, Aggregates",
    "Ltd, plc, Group",
    "Grimsby, Leeds, Felixstowe, Doncaster, Bristol, Daventry, Perth, Carlisle",
)
GERMANY = _country(
    "+49",
    "Hanseatic, Elbtal, Nordwind, Schwarzwälder, Weserland, Bergmann, Kranich, Ostsee,"
    " Rheinbogen, Altmark, Lüneburger, Isar",
    "Kühllogistik, Spedition, Frischdienst, Getränkelogistik, Transporte, Baustoffe",
    "GmbH, GmbH & Co. KG, AG",
    "Hamburg, Bremen, Kassel, Ulm, Rostock, Duisburg, Erfurt",
)
SPAIN = _country(
    "+34",
    "Río Verde, Sierra Alta, Costa Brava, Valdepeñas, Montseny, Guadalmar, La Mancha,"
    " Aragonesa, Levante, Cantábrica",
    "Transportes, Frigoríficos, Cítricos, Logística, Distribuciones",
    "S.L., S.A.",
    "Zaragoza, Valencia, Murcia, Bilbao, Getafe, Algeciras",
)
NORDICS = _country(
    "+47",
    "Nordlys, Fjordlast, Havbris, Storfjell, Skagerrak, Vesterhav, Kvitfjell, Øresund,"
    " Tromsdal, Bifrost, Lindø, Åsvang",
    "Seafood Export, Transport, Termo, Skog, Bilfrakt, Engros",
    "AS, ASA, AB",
    "Bergen, Ålesund, Bodø, Drammen, Göteborg, Esbjerg, Tromsø",
)
BALTICS = _country(
    "+371",
    "Baltic Timber, Daugava, Amber Road, Kurzeme, Tartu, Nemunas, Riga Bay, Saaremaa",
    "Lines, Cargo, Trans, Forest, Cold Chain",
    "SIA, OÜ, UAB",
    "Riga, Liepāja, Tallinn, Pärnu, Klaipėda, Kaunas",
)
POLAND = _country(
    "+48",
    "Wisła, Mazury, Bałtyk, Tatra, Odra, Podlasie, Żubr, Krakus",
    "Transport, Spedycja, Chłodnie, Logistyka, Mleczarnia",
    "Sp. z o.o., S.A.",
    "Gdynia, Łódź, Poznań, Wrocław, Białystok, Rzeszów",
)
FRANCE = _country(
    "+33",
    "Auvergne, Val de Loire, Bretonne, Sud-Rhône, Dauphiné, Picarde, Vosges, Gascogne",
    "Transports, Frigo, Messagerie, Laiteries, Marée",
    "SAS, SARL, SCOP",
    "Lyon, Rennes, Clermont-Ferrand, Rungis, Dijon, Perpignan",
)
NETHERLANDS = _country(
    "+31",
    "Van der Meer, De Vries, Waalhaven, Polder, Zuiderzee, Maasvlakte, IJssel, Kempen",
    "Transport, Koeltransport, Bloemen, Distributie, Tankvaart",
    "B.V., N.V.",
    "Rotterdam, Venlo, Zwolle, Moerdijk, Aalsmeer, Tilburg",
)
GHANA = _country(
    "+233",
    "Osei & Daughters, Volta, Adom, Gold Coast, Kumasi, Tema",
    "Haulage, Freight, Cocoa Logistics, Cold Chain",
    "Ltd, Co.",
    "Tema, Kumasi, Takoradi, Tamale",
)
COUNTRIES = (BRITAIN, GERMANY, SPAIN, NORDICS, BALTICS, POLAND, FRANCE, NETHERLANDS, GHANA)


@dataclass(frozen=True)
class Company:
    """A company with its name and country."""

    name: str
    country: Country

    @cached_property
    def slug(self) -> str:
        """The name for URLs, without the legal form."""
        words = "".join(c if c.isalnum() else " " for c in plain(self.name).lower()).split()
        return "-".join([word for word in words if word not in _LEGAL_FORMS][:3])

    @property
    def fleet(self) -> int:
        """The initial number of vehicles."""
        return 14 + sum(self.slug.encode()) % 400

    @property
    def domain(self) -> str:
        """The domain of its e-mail addresses."""
        return f"{self.slug}.example"


def plain(text: str) -> str:
    """Return a text in ASCII letters, for URLs and e-mail addresses."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_TRANSLITERATIONS))
    return decomposed.encode("ascii", "ignore").decode()


_FORMS = "ltd plc group gmbh co kg ag s a l as asa ab sia ou uab sp z o sas sarl scop b v n and de"
_LEGAL_FORMS = frozenset(_FORMS.split())
_TRANSLITERATIONS = str.maketrans({
    "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i", "ß": "ss",
    "æ": "ae", "ü": "ue", "ö": "oe", "ä": "ae", "&": " ",
})  # fmt: skip

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
"""The companies that the pages name."""


@lru_cache(maxsize=1)
def companies() -> tuple[Company, ...]:
    """Return all companies: the named ones first, then the others, shuffled."""
    known = {company.slug for company in FIRST_COMPANIES}
    made = [
        Company(_name(country, first, trade), country)
        for country in COUNTRIES
        for first, trade in product(country.first, country.trade)
    ]
    others = [company for company in made if company.slug not in known]
    seeded_random("companies").shuffle(others)
    return FIRST_COMPANIES + tuple(others)


def _name(country: Country, first: str, trade: str) -> str:
    form = seeded_random("legal form", first, trade).choice(country.form)
    leads = country in {SPAIN, FRANCE}
    return f"{trade} {first} {form}" if leads else f"{first} {trade} {form}"
