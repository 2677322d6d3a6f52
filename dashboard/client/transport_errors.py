"""Convert httpx's transport errors to our error tree, with messages for the user."""

import socket
import ssl
from collections.abc import Iterator

import httpx

from dashboard.client.errors import (
    ConnectError,
    InvalidURLError,
    NoResponseError,
    ResponseLostError,
)

CONNECT_TIMEOUT_S = 5.0

_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


def invalid_url_error() -> InvalidURLError:
    """Return the error for a URL that httpx rejects."""
    return InvalidURLError(_not_reached("the URL is too long"))


def transport_error(
    failure: httpx.TransportError, *, host: str, timeout_s: float
) -> NoResponseError:
    """Return our error for `failure`; `timeout_s` is that of the whole call.

    It has no reference to the failure: that has the request, and so the API key.
    """
    is_transient = isinstance(failure, httpx.NetworkError | httpx.RemoteProtocolError)
    if isinstance(failure, httpx.UnsupportedProtocol):
        return InvalidURLError(_not_reached("its URL is neither http nor https"))
    if isinstance(failure, _NEVER_SENT):
        reason = _why_not_reached(failure, host, min(CONNECT_TIMEOUT_S, timeout_s))
        return ConnectError(_not_reached(reason), is_transient=is_transient)
    reason = _why_lost(failure, timeout_s)
    return ResponseLostError(f"The service {reason}.", is_transient=is_transient)


def _not_reached(reason: str) -> str:
    return f"Couldn't reach the service: {reason}."


def _why_not_reached(failure: Exception, host: str, timeout_s: float) -> str:
    match failure:
        case httpx.TimeoutException():
            return f"{host} did not accept a connection within {timeout_s:g} s"
        case httpx.ProxyError():
            return f"the proxy refused the connection ({failure})"
    return _why_no_connection(failure, host)


def _why_lost(failure: Exception, timeout_s: float) -> str:
    if isinstance(failure, httpx.TimeoutException):
        return f"didn't respond within {timeout_s:g} s"
    if isinstance(failure, httpx.RemoteProtocolError) and not _is_closed_early(failure):
        return "returned something that isn't HTTP"
    return "closed the connection before responding"


def _why_no_connection(failure: BaseException, host: str) -> str:
    for cause in _chain(failure):
        match cause:
            case socket.gaierror() | UnicodeError():
                return f"unknown host {host}"
            case ConnectionRefusedError():
                return f"{host} refused the connection"
            case ssl.SSLCertVerificationError():
                return f"TLS failure: the certificate of {host} is invalid ({cause.verify_message})"
            case ssl.SSLError():
                return f"TLS failure: {cause.reason or 'the handshake failed'}"
            case OSError(strerror=str(words)):
                return words[:1].lower() + words[1:]
    return "no connection could be made"


def _chain(failure: BaseException | None) -> Iterator[BaseException]:
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__


def _is_closed_early(failure: httpx.RemoteProtocolError) -> bool:
    # h11 and httpcore only distinguish the two by message.
    return any(words in str(failure) for words in ("disconnected", "closed connection"))
