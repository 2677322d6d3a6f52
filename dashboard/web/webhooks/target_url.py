"""Validation of a subscription's target URL, and warnings about it.

The service decides what it accepts. Here we reject only invalid web URLs and URLs that could
deceive a user.
"""

import ipaddress
import re
import socket
from contextlib import suppress
from difflib import get_close_matches
from urllib.parse import urlsplit

from dashboard.web.ui.formats import number

MAX_URL = 2_000
"""In characters. Source: our choice; the spec gives no limit."""
WEB = ("https", "http")

_FORBIDDEN = re.compile("[\\s\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\\\\]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(//)?", re.IGNORECASE)
_LOCAL_NAMES = (".local", ".localdomain", ".internal", ".lan", ".home.arpa")


def url_problem(url: str) -> str:
    """Return a sentence that says why a URL can't be sent, or ""."""
    if not url:
        return "Enter the URL that receives the events."
    if len(url) > MAX_URL:
        return f"Enter at most {number(MAX_URL)} characters; this URL has {number(len(url))}."
    if _FORBIDDEN.search(url):
        return "Remove spaces, hidden characters and backslashes."
    return _scheme_problem(url) or _host_problem(url)


def url_warnings(url: str) -> list[str]:
    """Return warnings about a URL; none if it can't be sent anyway."""
    if url_problem(url):
        return []
    parts = urlsplit(url)
    warnings = []
    if parts.scheme.lower() == "http":
        warnings.append("http isn’t encrypted: others on the network can read what is sent.")
    if "@" in parts.netloc:
        warnings.append("The URL contains credentials, which every Pressroom user can see.")
    if warning := _local_warning(parts.hostname or ""):
        warnings.append(warning)
    return warnings


def _scheme_problem(url: str) -> str:
    match = _SCHEME.match(url)
    if not match:
        return "Start with https://."
    scheme = match[1].lower()
    if scheme in WEB and match[2]:
        return ""
    if match[2] and (meant := get_close_matches(scheme, WEB, n=1, cutoff=0.7)):
        return f"It starts with {match[0]}. Did you mean {meant[0]}://?"
    return f"Start with https:// or http://, not {match[0][:40]}"


def _host_problem(url: str) -> str:
    try:
        parts = urlsplit(url)
        has_host, port = bool(parts.hostname), parts.port
    except ValueError:
        return "The host or port is invalid."
    if not has_host:
        return "The URL has no host."
    return "Port 0 is invalid." if port == 0 else ""


def _local_warning(host: str) -> str:
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return f"{host} is the machine that the service runs on."
    if address := _ip_address(name):
        return _ip_warning(host, address)
    if "." not in name or name.endswith(_LOCAL_NAMES):
        return f"{host} is a local network name: the service may not be able to resolve it."
    return ""


def _ip_warning(host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    name = host if host == str(address) else f"{host}, which is {address},"
    if address.is_loopback or address.is_unspecified:
        return f"{name} is the machine that the service runs on."
    if not address.is_global or address.is_multicast:
        return f"{name} is a private address: the service can only reach it from the same network."
    return ""


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse a host as an IP address, in any spelling that programs accept."""
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return mapped or address
    # `127.1`, `2130706433` and `0x7f000001` all reach 127.0.0.1. This makes no DNS query.
    with suppress(OSError, ValueError):
        return ipaddress.IPv4Address(socket.inet_aton(host))
    return None
