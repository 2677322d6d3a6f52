"""Validate URLs, hosts and origins in the environment, as far as possible without a connection.

Each function returns the normalised value, or raises ValueError with a message for the operator.
"""

import re
from ipaddress import IPv6Address
from urllib.parse import SplitResult, parse_qs, urlsplit

import dj_database_url

HOST = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*\.?")
"""A host name in any script, or an IPv4 address."""
ALLOWED_HOST = re.compile(r"\*|\.?[a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\]", re.IGNORECASE)
"""Source: Django's documentation, ALLOWED_HOSTS."""
ENGINES = {"django.db.backends.postgresql", "django.db.backends.sqlite3"}


def http_url(value: str) -> str:
    """Return an absolute http or https URL without a trailing slash."""
    parts = _split(value)
    if parts.scheme not in {"http", "https"}:
        raise ValueError("must be an absolute http or https URL")
    _require_hostname(parts)
    if parts.query or parts.fragment or parts.username:
        raise ValueError("must not contain credentials, a query or a fragment")
    return value.rstrip("/")


def service_url(value: str) -> str:
    """Return the base URL of the service; calls append `/v0/…`."""
    if value.endswith("/v0"):
        raise ValueError("must not include /v0, which is appended")
    return value


def issuer_url(value: str) -> str:
    """Return the URL of an identity provider: https, except on this machine."""
    parts = urlsplit(value)
    if parts.scheme != "https" and parts.hostname not in {"localhost", "127.0.0.1"}:
        raise ValueError("must start with https://")
    return value


def origin(value: str) -> str:
    """Return an origin as browsers send it; `https://*.example.com` matches subdomains."""
    parts = _split(value)
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"{value} must start with http:// or https://")
    _require_hostname(parts._replace(netloc=parts.netloc.removeprefix("*.")))
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username:
        raise ValueError(f"{value} must end with the host or its port")
    return f"{parts.scheme}://{parts.netloc}".lower()


def allowed_host(value: str) -> str:
    if not ALLOWED_HOST.fullmatch(value) or not _is_encodable(value.strip(".")):
        raise ValueError(
            f"{value} must be a host only, such as desk.example.com: no https://, port or path"
        )
    return value


def database_url(value: str) -> str:
    try:
        parsed = dj_database_url.parse(value)
    except ValueError:
        raise ValueError("must be a URL such as postgres://user@host:5432/name") from None
    if parsed.get("ENGINE") not in ENGINES:
        raise ValueError("must start with postgres:// or sqlite://")
    if value.startswith("sqlite:") and set("?#") & set(value):
        raise ValueError("must be percent-encoded: write %23 for # and %3F for ? in a path")
    if not _is_encodable(parsed.get("HOST") or ""):
        raise ValueError("must contain a host whose name is valid")
    if not parsed.get("NAME"):
        raise ValueError("must include a database, such as postgres://user@host:5432/name")
    return value


def cache_url(value: str) -> str:
    parts = _split(value)
    if parts.scheme not in {"redis", "rediss"}:
        raise ValueError("must be a URL such as redis://host:6379/0")
    _require_hostname(parts)
    if not re.fullmatch(r"(/[0-9]*)?", parts.path):
        raise ValueError("must end in the number of a database, such as redis://host:6379/0")
    if parts.query and not _is_valid_for_redis(value):
        raise ValueError("must not contain options unknown to the Redis client")
    return value


def email_url(value: str) -> str:
    """Return the URL of a mail server; `console:` writes e-mails to standard output."""
    parts = _split(value)
    if parts.scheme not in {"smtp", "submission", "console"}:
        raise ValueError("must start with smtp:// or submission://")
    if parts.scheme == "console":
        return value
    _require_hostname(parts)
    if parts.path.strip("/") or not set(parse_qs(parts.query)) <= {"ssl", "tls"}:
        raise ValueError("must be a URL such as submission://user:password@mail.example.com:587")
    return value


def _split(value: str) -> SplitResult:
    if any(map(str.isspace, value)):
        raise ValueError("must not contain spaces")
    try:
        return urlsplit(value)
    except ValueError:
        raise ValueError("must be a URL") from None


def _require_hostname(parts: SplitResult) -> None:
    host = parts.hostname or ""
    if not HOST.fullmatch(host) and not _is_ipv6(host):
        raise ValueError("must contain one host")
    if not _is_encodable(host):
        raise ValueError("must contain a host whose name is valid")
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError("must contain a port from 1 to 65535, or none")


def _is_encodable(host: str) -> bool:
    """Return whether a host name is valid, including encoded labels such as `xn--a`."""
    if host.isascii() and "xn--" not in host.lower():
        return True
    # Imported here because it takes 100 ms, and such names are rare.
    import httpx

    try:
        # Check each label: httpx decodes only the first one.
        return all(httpx.URL(f"http://{label}/").host for label in host.split(".") if label)
    except (httpx.InvalidURL, UnicodeError):
        return False


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True


def _is_valid_for_redis(url: str) -> bool:
    # Imported here because it takes 100 ms, and such options are rare.
    from redis import ConnectionPool, RedisError

    try:
        ConnectionPool.from_url(url).make_connection()
    except (TypeError, ValueError, RedisError):
        return False
    return True
