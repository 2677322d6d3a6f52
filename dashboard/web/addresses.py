"""Addresses of the rows of a list: looked up once, and filled in for each row."""

from functools import lru_cache

from django.urls import get_script_prefix, get_urlconf, reverse

from dashboard.web.converters import IdentifierConverter

_segment = IdentifierConverter().to_url
_PLACE = "identifier-{}-stands-here"


def address_of(name: str, *identifiers: str) -> str:
    """Return the address of that name, all of whose parts are identifiers, as `reverse` does.

    Raises NoReverseMatch where there is no such address.
    """
    around = _around(name, len(identifiers), get_script_prefix(), get_urlconf())
    # What escapes an identifier is escaped once more: a server decodes an address (converters.py).
    segments = (_segment(each).replace("%", "%25") for each in identifiers)
    return around.format(*segments)


@lru_cache(maxsize=100)
def _around(name: str, count: int, _prefix: str, urlconf: str | None) -> str:
    """Return the address with `{}` in place of each identifier."""
    places = [_PLACE.format(number) for number in range(count)]
    address = reverse(name, urlconf, args=places).replace("{", "{{").replace("}", "}}")
    for place in places:
        address = address.replace(place, "{}")
    return address
