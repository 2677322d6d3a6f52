"""Why no response came, in the user's words: httpx's exceptions to our error tree."""

import socket
import ssl
from collections.abc import Iterator

import httpx

from dashboard.client.errors import (
    BadAddressError,
    ConnectError,
    NoAnswerError,
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


def invalid_url_error() -> BadAddressError:
    """Return the error of a URL that httpx does not take."""
    return BadAddressError(_not_reached("the address to be called is too long"))


def transport_error(failure: httpx.TransportError, *, host: str, timeout_s: float) -> NoAnswerError:
    """Return the error that says what `failure` means; `timeout_s` is that of the whole call.

    It keeps no reference to the failure, which holds the request, and that the API key.
    """
    is_passing = isinstance(failure, httpx.NetworkError | httpx.RemoteProtocolError)
    if isinstance(failure, httpx.UnsupportedProtocol):
        return BadAddressError(_not_reached("its address is neither http nor https"))
    if isinstance(failure, _NEVER_SENT):
        reason = _why_not_reached(failure, host, min(CONNECT_TIMEOUT_S, timeout_s))
        return ConnectError(_not_reached(reason), is_passing=is_passing)
    reason = _why_lost(failure, timeout_s)
    return ResponseLostError(f"The service {reason}.", is_passing=is_passing)


def _not_reached(reason: str) -> str:
    return f"The service could not be reached: {reason}."


def _why_not_reached(failure: Exception, host: str, timeout_s: float) -> str:
    match failure:
        case httpx.TimeoutException():
            return f"{host} did not accept a connection within {timeout_s:g} s"
        case httpx.ProxyError():
            return f"the proxy refused it ({failure})"
    return _why_no_connection(failure, host)


def _why_lost(failure: Exception, timeout_s: float) -> str:
    if isinstance(failure, httpx.TimeoutException):
        return f"did not answer within {timeout_s:g} s"
    if isinstance(failure, httpx.RemoteProtocolError) and not _is_closed_early(failure):
        return "answered with something that is not HTTP"
    return "closed the connection before it answered"


def _why_no_connection(failure: BaseException, host: str) -> str:
    for cause in _chain(failure):
        match cause:
            case socket.gaierror() | UnicodeError():
                return f"the name {host} is not known"
            case ConnectionRefusedError():
                return f"{host} refused the connection"
            case ssl.SSLCertVerificationError():
                return (
                    f"TLS failure: the certificate of {host} is not valid ({cause.verify_message})"
                )
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
    # h11 and httpcore tell the two apart in words alone.
    return any(words in str(failure) for words in ("disconnected", "closed connection"))
