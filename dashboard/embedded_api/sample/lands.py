"""The countries that companies are from: how they are named there, and its towns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Land:
    """How companies of a country are named, and where their depots stand."""

    code: str
    """What a phone number begins with."""
    first: tuple[str, ...]
    trade: tuple[str, ...]
    form: tuple[str, ...]
    towns: tuple[str, ...]


BRITAIN = Land(
    "+44",
    (
        "Brightwater",
        "Moorland",
        "Northgate",
        "Thornbury",
        "Kirkwall",
        "Ashdown",
        "Fenwick",
        "Calder",
        "Pennine",
        "Severn",
        "Harbour",
        "Whitby",
        "Lowther",
        "Tamar",
    ),
    ("Haulage", "Foods", "Cold Stores", "Dairies", "Parcel", "Container Services", "Aggregates"),
    ("Ltd", "plc", "Group"),
    ("Grimsby", "Leeds", "Felixstowe", "Doncaster", "Bristol", "Daventry", "Perth", "Carlisle"),
)
GERMANY = Land(
    "+49",
    (
        "Hanseatic",
        "Elbtal",
        "Nordwind",
        "Schwarzwälder",
        "Weserland",
        "Bergmann",
        "Kranich",
        "Ostsee",
        "Rheinbogen",
        "Altmark",
        "Lüneburger",
        "Isar",
    ),
    ("Kühllogistik", "Spedition", "Frischdienst", "Getränkelogistik", "Transporte", "Baustoffe"),
    ("GmbH", "GmbH & Co. KG", "AG"),
    ("Hamburg", "Bremen", "Kassel", "Ulm", "Rostock", "Duisburg", "Erfurt"),
)
SPAIN = Land(
    "+34",
    (
        "Río Verde",
        "Sierra Alta",
        "Costa Brava",
        "Valdepeñas",
        "Montseny",
        "Guadalmar",
        "La Mancha",
        "Aragonesa",
        "Levante",
        "Cantábrica",
    ),
    ("Transportes", "Frigoríficos", "Cítricos", "Logística", "Distribuciones"),
    ("S.L.", "S.A."),
    ("Zaragoza", "Valencia", "Murcia", "Bilbao", "Getafe", "Algeciras"),
)
NORDICS = Land(
    "+47",
    (
        "Nordlys",
        "Fjordlast",
        "Havbris",
        "Storfjell",
        "Skagerrak",
        "Vesterhav",
        "Kvitfjell",
        "Øresund",
        "Tromsdal",
        "Bifrost",
        "Lindø",
        "Åsvang",
    ),
    ("Seafood Export", "Transport", "Termo", "Skog", "Bilfrakt", "Engros"),
    ("AS", "ASA", "AB"),
    ("Bergen", "Ålesund", "Bodø", "Drammen", "Göteborg", "Esbjerg", "Tromsø"),
)
BALTICS = Land(
    "+371",
    (
        "Baltic Timber",
        "Daugava",
        "Amber Road",
        "Kurzeme",
        "Tartu",
        "Nemunas",
        "Riga Bay",
        "Saaremaa",
    ),
    ("Lines", "Cargo", "Trans", "Forest", "Cold Chain"),
    ("SIA", "OÜ", "UAB"),
    ("Riga", "Liepāja", "Tallinn", "Pärnu", "Klaipėda", "Kaunas"),
)
POLAND = Land(
    "+48",
    ("Wisła", "Mazury", "Bałtyk", "Tatra", "Odra", "Podlasie", "Żubr", "Krakus"),
    ("Transport", "Spedycja", "Chłodnie", "Logistyka", "Mleczarnia"),
    ("Sp. z o.o.", "S.A."),
    ("Gdynia", "Łódź", "Poznań", "Wrocław", "Białystok", "Rzeszów"),
)
FRANCE = Land(
    "+33",
    (
        "Auvergne",
        "Val de Loire",
        "Bretonne",
        "Sud-Rhône",
        "Dauphiné",
        "Picarde",
        "Vosges",
        "Gascogne",
    ),
    ("Transports", "Frigo", "Messagerie", "Laiteries", "Marée"),
    ("SAS", "SARL", "SCOP"),
    ("Lyon", "Rennes", "Clermont-Ferrand", "Rungis", "Dijon", "Perpignan"),
)
NETHERLANDS = Land(
    "+31",
    (
        "Van der Meer",
        "De Vries",
        "Waalhaven",
        "Polder",
        "Zuiderzee",
        "Maasvlakte",
        "IJssel",
        "Kempen",
    ),
    ("Transport", "Koeltransport", "Bloemen", "Distributie", "Tankvaart"),
    ("B.V.", "N.V."),
    ("Rotterdam", "Venlo", "Zwolle", "Moerdijk", "Aalsmeer", "Tilburg"),
)
GHANA = Land(
    "+233",
    ("Osei & Daughters", "Volta", "Adom", "Gold Coast", "Kumasi", "Tema"),
    ("Haulage", "Freight", "Cocoa Logistics", "Cold Chain"),
    ("Ltd", "Co."),
    ("Tema", "Kumasi", "Takoradi", "Tamale"),
)
LANDS = (BRITAIN, GERMANY, SPAIN, NORDICS, BALTICS, POLAND, FRANCE, NETHERLANDS, GHANA)
