"""Convert httpx's transport errors to our error tree, with messages for the user."""

import ssl

import httpx

from dashboard.client.errors import (
    ConnectError,
    InvalidURLError,
    NoResponseError,
    ResponseLostError,
)

CONNECT_TIMEOUT_S = 5.0

_NOT_REACHED = "Couldn't reach the service"


def transport_error(
    failure: httpx.TransportError | httpx.InvalidURL, *, host: str, timeout_s: float
) -> NoResponseError:
    """Return our error for `failure`; `timeout_s` is that of the whole call.

    It has no reference to the failure: that has the request, and so the API key.
    """
    is_transient = isinstance(failure, httpx.NetworkError | httpx.RemoteProtocolError)
    connect_timeout_s = min(CONNECT_TIMEOUT_S, timeout_s)
    match failure:
        case httpx.InvalidURL():
            return InvalidURLError(f"{_NOT_REACHED}: the URL is too long.")
        case httpx.UnsupportedProtocol():
            return InvalidURLError(f"{_NOT_REACHED}: its URL is neither http nor https.")
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            reason = f"{host} did not accept a connection within {connect_timeout_s:g} s"
        case httpx.ProxyError():
            reason = f"the proxy refused the connection ({failure})"
        case httpx.ConnectError():
            reason = _why_no_connection(failure, host)
        case _:
            lost = f"The service {_why_lost(failure, timeout_s)}."
            return ResponseLostError(lost, is_transient=is_transient)
    return ConnectError(f"{_NOT_REACHED}: {reason}.", is_transient=is_transient)


def _why_lost(failure: Exception, timeout_s: float) -> str:
    if isinstance(failure, httpx.TimeoutException):
        return f"didn't respond within {timeout_s:g} s"
    # h11 and httpcore only distinguish the two by message.
    is_closed = any(words in str(failure) for words in ("disconnected", "closed connection"))
    if isinstance(failure, httpx.RemoteProtocolError) and not is_closed:
        return "returned something that isn't HTTP"
    return "closed the connection before responding"


def _why_no_connection(failure: BaseException, host: str) -> str:
    cause: BaseException | None = failure
    while cause is not None:
        match cause:
            case ConnectionRefusedError():
                return f"{host} refused the connection"
            case ssl.SSLCertVerificationError():
                return f"TLS failure: the certificate of {host} is invalid ({cause.verify_message})"
            case ssl.SSLError():
                return f"TLS failure: {cause.reason or 'the handshake failed'}"
            case OSError(strerror=str(words)):
                return words[:1].lower() + words[1:]
        cause = cause.__cause__ or cause.__context__
    return "no connection could be made"
