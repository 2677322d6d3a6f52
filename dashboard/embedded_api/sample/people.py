"""People at the companies, with international names and some missing fields."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Person
from dashboard.embedded_api.sample.companies import Company, companies, plain
from dashboard.embedded_api.sample.randomness import mark, sample_id, seeded_random

_GIVEN = """
Marisol Callum Priya Tomasz Ingrid Amara Jonas Anneliese Owen Esi Bright Sunniva Tom Kwame
Yuki Wei Siobhán Łukasz Zofia Søren Åsa Jürgen Björn Chloé Étienne Inés Joaquín Nuria Mateus
Beatriz Giulia Matteo Eszter Gábor Oksana Taras Dmitri Aino Väinö Kristīne Jānis Rūta
Mindaugas Fatima Youssef Leila Omar Noor Aisha Chinedu Ngozi Thabo Lerato Abena Kofi Arjun
Deepika Rahul Ananya Mei-Ling Jiahao Haruto Sakura Min-jun Seo-yeon Nguyễn Linh Dewi Budi Ana
Miloš Jelena Petra Václav Radka Ioana Andrei Elif Mehmet Shira Noam Grace William Oluwaseun
Margaret Pieter Femke Sanne
"""
_FAMILY = """
Peña Reid Raman Wilk Solberg Okafor Albright Breitenbach Bright Osei Brightwell Fulbright
Mensah Tanaka Chen O'Sullivan Wójcik Kowalska Sørensen Åkesson Müller Weiß Lefèvre Dubois
Íñiguez García Ferreira Conti Szabó Kovalenko Virtanen Bērziņš Kazlauskas El-Amin Haddad
Nwosu Dlamini Mokoena Boateng Sharma Iyer Wong Zhang Suzuki Kim Park Tran Wijaya Petrović
Novák Dvořáková Popescu Yılmaz Levi Thompson MacGregor Adeyemi Jansen van-der-Berg Lindqvist
Østergaard-Lindenskjold Hakkarainen
"""

GIVEN, FAMILY = tuple(_GIVEN.split()), tuple(_FAMILY.split())


def person_id(number: int) -> str:
    """Return the id of a person; numbers start at 0."""
    return sample_id("prospect", number)


def people(count: int, now: datetime) -> Iterator[Person]:
    """Yield people; the first hundreds are the contacts of one company each."""
    for number in range(count):
        yield _person(number, companies()[number % len(companies())], now)


def contact_name(number: int) -> str:
    """Return the name of a person; numbers start at 0."""
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
    made = now - timedelta(days=rng.uniform(2, 700))
    is_named = number < 12 or rng.random() < 0.999  # they are listed first
    return Person(
        person_id=person_id(number),
        tenant_id=DEFAULT_TENANT_ID,
        name=name if is_named else "",
        email=f"{local}@{company.domain}" if number < 12 or rng.random() < 0.97 else None,
        domain=company.domain,
        slug=f"{slug}-{number}" if rng.random() < 0.7 else None,
        phone_number=f"{company.country.code} {rng.randint(20, 99)} 555 {rng.randint(100, 9999):04}"
        if rng.random() < 0.75
        else None,
        linkedin_profile_url=f"https://linkedin.example/in/{slug}-{rng.randint(10, 999)}"
        if rng.random() <= 0.6
        else None,
        created_at=mark(made, rng),
        updated_at=mark(made + (now - made) * rng.random(), rng),
    )


def _local_part(rng: Random, name: str) -> str:
    words = plain(name).lower().replace("'", "").split()
    first, *others = [word for word in words if not word.endswith(".")]
    last = "-".join(others)
    return rng.choice((f"{first}.{last}", f"{first[0]}.{last}", f"{first}.{last}", first))
