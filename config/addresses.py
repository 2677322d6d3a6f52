"""What an address in the environment must be: one that can be wrong only by what answers there.

Each check returns the address as it is used, and raises ValueError in words for who wrote it.
"""

import re
from ipaddress import IPv6Address
from urllib.parse import SplitResult, urlsplit

import dj_database_url

HOST = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*\.?")
"""The name of a machine in any script, or its IPv4 address."""
ANSWERED_HOST = re.compile(r"\*|\.?[a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\]", re.IGNORECASE)
"""As a browser sends it. Source: Django's documentation, ALLOWED_HOSTS."""
ENGINES = {"django.db.backends.postgresql", "django.db.backends.sqlite3"}


def http_url(value: str) -> str:
    """Return an absolute address of the web, without the slash at its end."""
    parts = _parts(value)
    if parts.scheme not in {"http", "https"}:
        raise ValueError("must be an absolute http or https address")
    _must_name_a_machine(parts)
    if parts.query or parts.fragment or parts.username:
        raise ValueError("must hold no log-in, query or fragment")
    return value.rstrip("/")


def issuer(value: str) -> str:
    """Return the address of a provider, which speaks https everywhere but on this machine."""
    parts = urlsplit(value)
    if parts.scheme != "https" and parts.hostname not in {"localhost", "127.0.0.1"}:
        raise ValueError("must begin with https://")
    return value


def origin(value: str) -> str:
    """Return an origin as browsers send it; `https://*.example.com` stands for many."""
    parts = _parts(value)
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"{value} must begin with http:// or https://")
    _must_name_a_machine(parts._replace(netloc=parts.netloc.removeprefix("*.")))
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username:
        raise ValueError(f"{value} must end with the host or its port")
    return f"{parts.scheme}://{parts.netloc}".lower()


def answered_host(value: str) -> str:
    """Return a host that requests may name."""
    if not ANSWERED_HOST.fullmatch(value):
        raise ValueError(
            f"{value} must be a host alone, such as desk.example.com: no https://, no port, no path"
        )
    return value


def database_url(value: str) -> str:
    """Return the address of a PostgreSQL or SQLite database."""
    try:
        known = dj_database_url.parse(value)
    except ValueError:
        raise ValueError("must be an address such as postgres://user@host:5432/name") from None
    if known.get("ENGINE") not in ENGINES:
        raise ValueError("must begin with postgres:// or sqlite://")
    if not known.get("NAME"):
        raise ValueError("must name a database, such as postgres://user@host:5432/name")
    return value


def cache_url(value: str) -> str:
    """Return the address of a Redis, with options that its client takes."""
    parts = _parts(value)
    if parts.scheme not in {"redis", "rediss"}:
        raise ValueError("must be an address such as redis://host:6379/0")
    _must_name_a_machine(parts)
    if not re.fullmatch(r"(/[0-9]*)?", parts.path):
        raise ValueError("must end in the number of a database, such as redis://host:6379/0")
    if parts.query and not _redis_takes(value):
        raise ValueError("must hold no option that the Redis client does not know")
    return value


def _parts(value: str) -> SplitResult:
    if any(map(str.isspace, value)):
        raise ValueError("must hold no blanks")
    try:
        return urlsplit(value)
    except ValueError:
        raise ValueError("must be an address") from None


def _must_name_a_machine(parts: SplitResult) -> None:
    host = parts.hostname or ""
    if not HOST.fullmatch(host) and not _is_ipv6(host):
        raise ValueError("must name one host")
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError("must name a port from 1 to 65535, or none")


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True


def _redis_takes(url: str) -> bool:
    # Loading it takes a tenth of a second, which only a start with such options is to cost.
    from redis import ConnectionPool, RedisError

    try:
        ConnectionPool.from_url(url).make_connection()
    except (TypeError, ValueError, RedisError):
        return False
    return True
