"""People at those companies, with names from many places and now and then a field left out."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Person
from dashboard.embedded_api.sample.chance import chance, mark, sample_id
from dashboard.embedded_api.sample.companies import Company, companies, plain

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
    """Return the id of the person of that number; counts from 0."""
    return sample_id("prospect", number)


def people(count: int, now: datetime) -> Iterator[Person]:
    """Make people one by one: the first hundreds are the companies' own contacts, one each."""
    all_companies = companies()
    for number in range(count):
        dice = chance("person", number)
        company = all_companies[number % len(all_companies)]
        yield _person(number, dice, company, now)


def contact_name(number: int) -> str:
    """Return the name of the person of that number."""
    if number == 0:
        return "Marisol Peña"
    dice = chance("name", number)
    title = dice.choices(("", "Dr. ", "Prof. "), (96, 3, 1))[0]
    middle = f" {dice.choice(GIVEN)[0]}." if dice.random() < 0.06 else ""
    return f"{title}{dice.choice(GIVEN)}{middle} {dice.choice(FAMILY).replace('-der-', ' der ')}"


def _person(number: int, dice: Random, company: Company, now: datetime) -> Person:
    name = contact_name(number)
    local = _local_part(dice, name)
    made = now - timedelta(days=dice.uniform(2, 700))
    is_named = number < 12 or dice.random() < 0.999  # they are listed first
    return Person(
        id=person_id(number),
        tenant_id=DEFAULT_TENANT_ID,
        name=name if is_named else "",
        email=f"{local}@{company.domain}" if number < 12 or dice.random() < 0.97 else None,
        domain=company.domain,
        slug=f"{local.replace('.', '-')}-{number}" if dice.random() < 0.7 else None,
        phone_number=_phone(dice, company) if dice.random() < 0.75 else None,
        linkedin_profile_url=_linkedin(dice, local),
        created_at=mark(made, dice),
        updated_at=mark(made + (now - made) * dice.random(), dice),
    )


def _local_part(dice: Random, name: str) -> str:
    words = [
        word for word in plain(name).lower().replace("'", "").split() if not word.endswith(".")
    ]
    first, last = words[0], "-".join(words[1:])
    return dice.choice((f"{first}.{last}", f"{first[0]}.{last}", f"{first}.{last}", first))


def _phone(dice: Random, company: Company) -> str:
    return f"{company.land.code} {dice.randint(20, 99)} 555 {dice.randint(100, 9999):04}"


def _linkedin(dice: Random, local: str) -> str | None:
    if dice.random() > 0.6:
        return None
    return f"https://linkedin.example/in/{local.replace('.', '-')}-{dice.randint(10, 999)}"
