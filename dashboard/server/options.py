"""Types of command-line options of a server. Each raises ArgumentTypeError."""

import re
from argparse import ArgumentTypeError

from django.utils.ipv6 import is_valid_ipv6_address

LAST_PORT = 65_535
NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
"""A host name or an IPv4 address."""


def count(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise ArgumentTypeError(f"{text} must be 1 or more")
    return number


def port(text: str) -> int:
    """Return a port; 0 is refused, as it would be another one at each start."""
    number = _whole(text)
    if not 1 <= number <= LAST_PORT:
        raise ArgumentTypeError(f"{text} must be from 1 to {LAST_PORT}")
    return number


def host(text: str) -> str:
    bare = text.removeprefix("[").removesuffix("]")
    if is_valid_ipv6_address(bare):
        return f"[{bare}]"
    if not NAME.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} must be a host name or IP address, without a port")
    return text


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} must be a whole number") from None
