"""Send a webhook to a URL that a user has typed: only to the public internet, over https.

The host is resolved here and each of its addresses is checked. The connection goes to a checked
address, so a name that resolves to another address a moment later gains nothing. Redirects aren't
followed, no proxy is used, and the whole call takes at most 10 s, whatever the other side does.
Source: our choice; signatures: standardwebhooks.com.
"""

import ssl
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from secrets import token_bytes
from typing import NamedTuple

import httpcore
import httpx
from standardwebhooks import Webhook

from dashboard.network import DeadlineBackend, look_up, ssl_context, within_deadline

TIME_LIMIT_S = 10.0
MAX_RESPONSE_BYTES = 64 * 1024
"""Includes the headers. The body isn't needed and isn't read."""
MAX_URL_CHARACTERS = 2_000
EXAMPLE = "Enter a URL, such as https://hooks.example.com/1."
SECRET_PREFIX = "whsec_"  # noqa: S105  # a prefix, no secret
MIN_SECRET_BYTES, MAX_SECRET_BYTES = 24, 64
"""Source: standardwebhooks.com."""
NO_SECRET = f"A secret is {SECRET_PREFIX} and 24 to 64 bytes in Base64."

_NOT_PUBLIC = [
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15"),
        # Addresses that embed an IPv4 address, perhaps one of this machine or this network.
        *("::/32", "64:ff9b:1::/48", "2001::/23", "2002::/16", "fec0::/10"),
    )
]
"""Further networks to refuse. Not every Python version calls them private, reserved, link-local or
multicast."""
_NAT64 = ip_network("64:ff9b::/96")
_PRIVATE = [
    ip_network(network)
    for network in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8"),
        *("fc00::/7", "::1/128"),
    )
]
"""Networks of an organization and of this machine."""
_OF_CLOUDS = [
    ip_network(network)
    for network in (
        # Amazon, Google, Oracle, Scaleway; Alibaba, Azure. All use 169.254.169.254 as well.
        *("fd00:ec2::/32", "fd20:ce::/32", "fd00:c1::/32", "fd00:42::/32"),
        *("100.100.100.0/24", "168.63.129.16/32"),
    )
]
"""Networks of a cloud's own services, which give out the credentials of the machine that calls
them."""


class WebhookError(Exception):
    """The webhook was not delivered, as far as we know. `str(error)` is a sentence for the user."""


class ForbiddenURLError(WebhookError):
    """The URL is invalid or not allowed, so nothing was sent."""


class WebhookResponse(NamedTuple):
    status_code: int
    retry_after_s: float | None
    """Seconds of the Retry-After header; None if it is absent or can't be read."""

    @property
    def is_accepted(self) -> bool:
        return 200 <= self.status_code < 300


def parse_url(url: str) -> httpx.URL:
    """Return a parsed URL with a valid host. Raises ForbiddenURLError."""
    try:
        parsed = httpx.URL(url)
        # `host` decodes `xn--…`; `encode` checks the lengths of a name's parts.
        has_host = bool(parsed.host and parsed.raw_host.decode("ascii").encode("idna"))
    except httpx.InvalidURL:
        raise ForbiddenURLError(EXAMPLE) from None
    except UnicodeError:
        raise ForbiddenURLError("The host of the URL isn’t a valid name.") from None
    if not has_host or parsed.port == 0 or any(map(str.isspace, url)):
        raise ForbiddenURLError(EXAMPLE)
    if len(str(parsed)) > MAX_URL_CHARACTERS:
        raise ForbiddenURLError(f"The URL is longer than {MAX_URL_CHARACTERS:,} characters.")
    return parsed


def check_url(
    url: str, *, allows_loopback: bool = False, allows_private: bool = False
) -> httpx.URL:
    """Return a parsed URL that we may send to. Raises ForbiddenURLError.

    Checks the URL alone; host names aren't resolved. `allows_loopback` also allows http and
    addresses of this machine, for tests and the demo. `allows_private` also allows private
    networks, over https.
    """
    parsed = parse_url(url.strip())
    if parsed.scheme != "https" and not (allows_loopback and parsed.scheme == "http"):
        raise ForbiddenURLError("The URL must start with https://.")
    if parsed.userinfo:
        raise ForbiddenURLError("The URL can’t have a user name or a password.")
    try:
        literal = ip_address(parsed.host)
    except ValueError:
        return parsed
    _require_allowed(
        [str(literal)], parsed.host, allows_loopback=allows_loopback, allows_private=allows_private
    )
    return parsed


def send_webhook(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allows_loopback: bool = False,
    allows_private: bool = False,
) -> WebhookResponse:
    """Send a body by POST, and return the response. Raises WebhookError."""
    allowed = {"allows_loopback": allows_loopback, "allows_private": allows_private}
    target = check_url(url, **allowed)
    deadline = time.monotonic() + TIME_LIMIT_S
    host = target.raw_host.decode()
    port = target.port or {"http": 80, "https": 443}[target.scheme]
    addresses = _resolve(host, port, deadline)
    _require_allowed(addresses, host, **allowed)
    core_url = httpcore.URL(
        scheme=target.raw_scheme, host=target.raw_host, port=port, target=target.raw_path
    )
    sent = {
        "Host": target.netloc.decode(),
        "User-Agent": "Pressroom",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    try:
        with (
            within_deadline(deadline),
            httpcore.HTTPConnection(
                core_url.origin,
                ssl_context=ssl_context(),
                network_backend=DeadlineBackend(addresses, max_bytes=MAX_RESPONSE_BYTES),
            ) as connection,
        ):
            request = httpcore.Request("POST", core_url, headers=[*sent.items()], content=body)
            response = connection.handle_request(request)
            return WebhookResponse(response.status, _retry_after(response.headers))
    except httpcore.TimeoutException:
        raise WebhookError(f"{host} didn’t respond within {TIME_LIMIT_S:.0f} s.") from None
    except httpcore.ConnectError as error:
        raise WebhookError(_connect_problem(host, error)) from None
    except (httpcore.NetworkError, httpcore.ProtocolError):
        raise WebhookError(f"The connection to {host} ended without a response.") from None


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(token_bytes(32)).decode()


def is_secret(text: str) -> bool:
    try:
        size = len(b64decode(text.removeprefix(SECRET_PREFIX), validate=True))
    except ValueError:
        return False
    return MIN_SECRET_BYTES <= size <= MAX_SECRET_BYTES


def signed_headers(secret: str, message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that sign a body. Raises ValueError if the secret is invalid."""
    signature = Webhook(secret).sign(message_id, at.astimezone(UTC), body.decode())
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signature,
    }


def is_public(address: str) -> bool:
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped:
            return is_public(str(ip.ipv4_mapped))
        if ip in _NAT64:
            return is_public(str(IPv4Address(int(ip) & 0xFFFF_FFFF)))
    is_special = ip.is_multicast or ip.is_reserved or ip.is_link_local
    return ip.is_global and not is_special and not _is_in(ip, *_NOT_PUBLIC, *_OF_CLOUDS)


def _is_private(address: str) -> bool:
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    return _is_in(ip, *_PRIVATE) and not _is_in(ip, *_OF_CLOUDS)


def _is_in(address: IPv4Address | IPv6Address, *networks: IPv4Network | IPv6Network) -> bool:
    return any(address in network for network in networks)


def _require_allowed(
    addresses: Iterable[str], host: str, *, allows_loopback: bool, allows_private: bool
) -> None:
    """Raise ForbiddenURLError unless all are allowed: a single bad address is suspect."""
    for address in addresses:
        is_loopback = ip_address(address.partition("%")[0]).is_loopback
        is_allowed = (allows_loopback and is_loopback) or (allows_private and _is_private(address))
        if not is_allowed and not is_public(address):
            raise ForbiddenURLError(f"{host} isn’t on the public internet. Nothing was sent.")


def _resolve(host: str, port: int, deadline: float) -> list[str]:
    try:
        return look_up(host, port, timeout_s=deadline - time.monotonic())
    except TimeoutError:
        raise WebhookError(f"The address of {host} wasn’t found in time.") from None
    except OSError:
        raise WebhookError(f"The address of {host} wasn’t found.") from None


def _connect_problem(host: str, error: httpcore.ConnectError) -> str:
    if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
        return f"The certificate of {host} isn’t valid, or TLS failed."
    return f"Couldn’t connect to {host}."


def _retry_after(headers: Iterable[tuple[bytes, bytes]]) -> float | None:
    """Return a Retry-After header, a number or a date, in seconds; None if it can't be read."""
    value = next((value for name, value in headers if name.lower() == b"retry-after"), b"")
    text = value.decode("ascii", "replace").strip()
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
