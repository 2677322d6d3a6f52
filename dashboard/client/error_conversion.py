"""Convert responses outside 2xx and httpx's transport errors to our error tree.

The spec shows no error body, so the usual field names are tried.
"""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from http.client import responses
from typing import Any

import httpx

from dashboard.client.errors import (
    AuthenticationError,
    ConflictError,
    ConnectError,
    FieldProblem,
    InvalidRequestError,
    InvalidURLError,
    NoResponseError,
    NotFoundError,
    RateLimitedError,
    ResponseLostError,
    ServerError,
    StatusError,
)
from dashboard.client.response_parsing import BODY_HEAD, decode_text, parse_json
from dashboard.client.retries import read_retry_after_s

CONNECT_TIMEOUT_S = 5.0
MAX_MESSAGE = 500
MAX_PROBLEMS = 100

_NOT_REACHED = "Couldn’t reach the service"
_BY_STATUS: dict[int, type[StatusError]] = {
    401: AuthenticationError,
    403: AuthenticationError,
    404: NotFoundError,
    # A request that timed out at the service may be partly executed.
    408: ServerError,
    409: ConflictError,
    410: NotFoundError,
    429: RateLimitedError,
}


def status_error(response: httpx.Response, body: bytes) -> StatusError:
    text, status_code = decode_text(body), response.status_code
    try:
        data = parse_json(text)
    except ValueError:
        data = None
    otherwise = InvalidRequestError if 400 <= status_code < 500 else ServerError
    return _BY_STATUS.get(status_code, otherwise)(
        status_code=status_code,
        message=(_message(data) or responses.get(status_code, "Unknown status"))[:MAX_MESSAGE],
        body=text[:BODY_HEAD],
        problems=tuple(_problems(data))[:MAX_PROBLEMS],
        retry_after_s=read_retry_after_s(
            response.headers.get("retry-after"), now=datetime.now(UTC)
        ),
    )


def _message(data: Any) -> str:
    """Return the first text among the usual names, on one line, or ""."""
    if not isinstance(data, dict):
        return ""
    for name in ("detail", "message", "title", "error"):
        value = data.get(name)
        if isinstance(value, list):
            value = "; ".join(problem.message for problem in _problems(data))
        if isinstance(value, dict):
            value = _message(value)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return ""


def _problems(data: Any) -> Iterator[FieldProblem]:
    for name in ("errors", "detail"):
        entries = data.get(name) if isinstance(data, dict) else None
        for entry in entries if isinstance(entries, list) else []:
            message = _first(entry, "message", "msg")
            if isinstance(message, str):
                path = _first(entry, "path", "loc", "field")
                yield FieldProblem(path=_path(path), message=message[:MAX_MESSAGE])


def _first(entry: Any, *names: str) -> Any:
    named = entry if isinstance(entry, dict) else {}
    return next((named[name] for name in names if named.get(name) is not None), None)


def _path(path: Any) -> str:
    """Return `metadata.title` both for that text and for `["body", "metadata", "title"]`."""
    if isinstance(path, list):
        return ".".join(str(part) for part in path if part != "body")[:MAX_MESSAGE]
    return str(path)[:MAX_MESSAGE] if isinstance(path, str | int) else ""


def transport_error(
    failure: httpx.TransportError | httpx.InvalidURL, *, host: str, timeout_s: float
) -> NoResponseError:
    """Return our error for `failure`; `timeout_s` limits the whole call.

    The error doesn't refer to the failure, which holds the request and so the API key.
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
        return f"didn’t respond within {timeout_s:g} s"
    # h11 and httpcore only distinguish the two by message.
    is_closed = any(words in str(failure) for words in ("disconnected", "closed connection"))
    if isinstance(failure, httpx.RemoteProtocolError) and not is_closed:
        return "returned something that isn’t HTTP"
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
