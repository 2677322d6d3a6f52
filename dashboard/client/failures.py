"""Why nobody answered, in the user's words: httpx's exceptions to our error tree."""

import socket
import ssl
from collections.abc import Iterator

import httpx

from dashboard.client.errors import LostAnswerError, NoAnswerError, NotReachedError

CONNECT_LIMIT_S = 5.0
"""How long a connection may take to be made, or to become free in the pool."""

_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.InvalidURL,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


def no_answer(
    failure: httpx.TransportError | httpx.InvalidURL, *, host: str, limit_s: float
) -> NoAnswerError:
    """Return the error that says what `failure` means; `limit_s` is the time limit of the call.

    Nothing of the failure itself is kept: it holds the request, and that holds the API key.
    """
    is_passing = isinstance(failure, httpx.NetworkError | httpx.RemoteProtocolError)
    if isinstance(failure, _NEVER_SENT):
        reason = _why_not_reached(failure, host, min(CONNECT_LIMIT_S, limit_s))
        return NotReachedError(
            f"The service could not be reached: {reason}.", is_passing=is_passing
        )
    return LostAnswerError(f"The service {_what_it_did(failure, limit_s)}.", is_passing=is_passing)


def _why_not_reached(failure: Exception, host: str, limit_s: float) -> str:
    match failure:
        case httpx.TimeoutException():
            return f"{host} did not accept a connection within {limit_s:g} s"
        case httpx.UnsupportedProtocol():
            return "its address is neither http nor https"
        case httpx.InvalidURL():
            return "the address to be called is too long"
    return _why_no_connection(failure, host)


def _what_it_did(failure: Exception, limit_s: float) -> str:
    if isinstance(failure, httpx.TimeoutException):
        return f"did not answer within {limit_s:g} s"
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
