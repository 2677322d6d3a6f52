"""Send calls over httpx, parse their responses, and report each call once.

Also handles authentication, the deadline, and retries where they are safe.
"""

import json
import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Literal, cast
from urllib.parse import quote

import httpx

from dashboard import clock
from dashboard.client.error_conversion import CONNECT_TIMEOUT_S, status_error, transport_error
from dashboard.client.errors import (
    APIError,
    AuthenticationError,
    InvalidResponseError,
    NoResponseError,
    StatusError,
)
from dashboard.client.response_parsing import (
    ByteBoundedCache,
    ModelT,
    parse_response,
    read_body,
    read_error_body,
    strip_unstorable,
)
from dashboard.client.retries import wait_before_retry_s
from dashboard.client.transport import PooledTransport, proxy_for
from dashboard.contract.wire import WireModel
from dashboard.network import within_deadline

PREFIX = "/v0"
"""Prefix of every path of the spec (Versioning)."""
CACHE_BYTES = 12 * 1024 * 1024
"""Size of cached responses and their parsed values. Part of the 32 MB cached per process."""
MAX_CACHED_BODY_BYTES = 200_000
PARSED_SIZE_FACTOR = 6
"""Size of a body with its parsed values, relative to the body alone."""
MIN_REDACTED_KEY = 8
"""Shortest API key to redact, in characters. A shorter one may occur in a response by chance."""

_DOT_SEGMENTS = {".": "%2E", "..": "%2E%2E"}
_logger = logging.getLogger("dashboard.client")


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One of the nine operations, with its arguments. `params` that are None are not sent."""

    operation: str
    path: str
    method: Literal["GET", "POST", "PATCH"] = "GET"
    params: dict[str, str | int | None] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    @property
    def is_read(self) -> bool:
        """Whether the call is a GET, or the empty PATCH that reads a subscription."""
        return self.method == "GET" or (self.method == "PATCH" and not self.body)


def path(*segments: str) -> str:
    """Return the path of these segments, each fully percent-encoded.

    Identifiers may be any text (spec), so `/`, `?`, `#`, `%` and `..` must arrive unchanged.
    """
    url = PREFIX
    for segment in segments:
        # quote() leaves dots, and httpx resolves a segment of dots alone as a step in a directory.
        encoded = _DOT_SEGMENTS.get(segment) or quote(segment, safe="", errors="surrogatepass")
        url = f"{url}/{encoded}"
    return url


@dataclass(kw_only=True, slots=True)
class CallReport:
    """Report of a call, including its retries, and of its result once the call has ended.

    `operation` is the spec's name for it ("List pages"); `path` is as sent, without the query,
    which may contain a person's name. `started_at` is in UTC. `status_code` is None if no response
    was received; `attempts` counts from 1.
    """

    operation: str
    method: str
    path: str
    started_at: datetime
    duration_ms: float = 0.0
    status_code: int | None = None
    error: APIError | None = None
    attempts: int = 0
    clock_ahead_s: float | None = None
    """How far the service's clock is ahead of ours; None if the response has no readable date."""
    response: WireModel | None = None
    """The response, if it could be parsed. Never store it: it may contain personal data."""


@contextmanager
def reporting(call: Call, on_call: Callable[[CallReport], None] | None) -> Iterator[CallReport]:
    """Report the call once, when the block ends or raises an APIError.

    The block sets `attempts`, `status_code` and `response`.
    """
    report = CallReport(
        operation=call.operation, method=call.method, path=call.path, started_at=datetime.now(UTC)
    )
    start = time.monotonic()
    try:
        yield report
    except APIError as error:
        # A copy: this frame, which the error's traceback refers to, must not refer to the error.
        _report(replace(report, error=error), start, on_call)
        raise
    _report(report, start, on_call)


def _report(report: CallReport, start: float, on_call: Callable[[CallReport], None] | None) -> None:
    report.duration_ms = (time.monotonic() - start) * 1000
    if isinstance(report.error, StatusError | InvalidResponseError):
        report.status_code = report.error.status_code
    # Paths are percent-encoded, so no line break can forge a log line.
    facts: dict[str, object] = {
        "operation": report.operation,
        "method": report.method,
        "path": report.path,
        "status": report.status_code,
        "upstream_ms": round(report.duration_ms, 1),
        "attempts": report.attempts,
    }
    level, line = logging.INFO, "%(method)s %(path)s %(status)s %(upstream_ms).0f ms"
    if isinstance(report.error, NoResponseError):
        # The message is our own; messages of the service are not logged.
        facts["error"] = str(report.error)
        level = logging.WARNING
        line = "%(method)s %(path)s no response %(upstream_ms).0f ms: %(error)s"
    elif isinstance(report.error, AuthenticationError):
        level, line = logging.WARNING, f"{line}: the service rejected our key"
    _logger.log(level, line, facts, extra={"facts": facts})
    if on_call is None:
        return
    try:
        on_call(report)
    except Exception:
        _logger.exception("The call listener failed on %s", report.operation)


ParsedResponseCache = ByteBoundedCache[tuple[object, ...], bytes, WireModel]

_started_at: ContextVar[float | None] = ContextVar("started_at", default=None)
_is_single_attempt: ContextVar[bool] = ContextVar("is_single_attempt", default=False)


@contextmanager
def deadline_counted_from(moment: float) -> Iterator[None]:
    """Measure the time limit of calls in the block from `moment` (`time.monotonic()`)."""
    token = _started_at.set(moment)
    try:
        yield
    finally:
        _started_at.reset(token)


@contextmanager
def single_attempt() -> Iterator[None]:
    """Send the calls in the block once: the caller paces its own retries."""
    token = _is_single_attempt.set(True)
    try:
        yield
    finally:
        _is_single_attempt.reset(token)


class Session:
    """Holds the connections and the API key. Share it between threads, not processes."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        timeout_s: float,
        transport: httpx.BaseTransport | None,
        on_call: Callable[[CallReport], None] | None,
        extra_headers: Callable[[], dict[str, str]],
        guard: Callable[[Call], AbstractContextManager[None]],
    ) -> None:
        if not api_key.isascii() or not api_key.isprintable() or api_key != api_key.strip():
            raise ValueError("The API key can't be sent in a header: not printable ASCII.")
        service = httpx.URL(base_url)
        self.base_url = str(service.copy_with(userinfo=b"", fragment=None))
        self._host = service.host
        self._timeout_s = timeout_s
        self._on_call = on_call
        self._extra_headers = extra_headers
        self._guard = guard
        # The key as it is, and as JSON may write it: PHP escapes every slash.
        spellings = {api_key, json.dumps(api_key)[1:-1], api_key.replace("/", r"\/")}
        is_redacted = len(api_key) >= MIN_REDACTED_KEY
        self._redacted = [spelling.encode() for spelling in spellings] if is_redacted else []
        self._cache = ParsedResponseCache(
            CACHE_BYTES, size_of=lambda body, _: len(body) * PARSED_SIZE_FACTOR
        )
        self._http = httpx.Client(
            auth=(service.username, service.password) if service.userinfo else None,
            headers={
                "x-api-key": api_key,
                "Accept": "application/json",
                # The size of unpacked Brotli can't be limited while reading.
                "Accept-Encoding": "gzip, deflate",
                "User-Agent": "Pressroom",
            },
            # All users of this session would share a cookie.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            # A redirect would send the key elsewhere.
            follow_redirects=False,
            # httpx parses a Location even without redirects, and fails if it is invalid.
            event_hooks={"response": [lambda response: response.headers.pop("location", None)]},
            trust_env=False,
            transport=transport or PooledTransport(proxy=proxy_for(service)),
        )

    def close(self) -> None:
        self._http.close()

    def send(self, call: Call, *, model: type[ModelT], use_cache: bool = False) -> ModelT:
        """Return the service's response as a `model`; raises an APIError if there is none.

        With `use_cache`, a response equal to the last one of the same URL is not parsed again.
        """
        with self._guard(call), reporting(call, self._on_call) as report:
            report.status_code, body = self._send_with_retries(call, report)
            parse = partial(parse_response, status_code=report.status_code, model=model)
            if use_cache and len(body) <= MAX_CACHED_BODY_BYTES:
                url = (call.path, *call.params.items())
                report.response = self._cache.get_or_compute(url, body, parse)
            else:
                report.response = parse(body)
            return cast("ModelT", report.response)

    def _send_with_retries(self, call: Call, report: CallReport) -> tuple[int, bytes]:
        """Return the status and body of a 2xx response, or raise the last attempt's APIError."""
        started_at = _started_at.get()
        deadline = (time.monotonic() if started_at is None else started_at) + self._timeout_s
        while True:
            report.attempts += 1
            try:
                return self._send_once(call, deadline, report)
            except APIError as error:
                if _is_single_attempt.get():
                    raise
                wait_s = wait_before_retry_s(
                    error,
                    method=call.method,
                    attempt=report.attempts,
                    remaining_s=deadline - time.monotonic(),
                    jitter=random.random(),  # noqa: S311  # spreads retries, guards nothing
                )
                if wait_s is None:
                    raise
            time.sleep(wait_s)

    def _send_once(self, call: Call, deadline: float, report: CallReport) -> tuple[int, bytes]:
        error: APIError
        try:
            request = self._build_request(call, deadline)
            with (
                within_deadline(deadline),
                closing(self._http.send(request, stream=True)) as response,
            ):
                report.clock_ahead_s = _clock_ahead_s(response)
                if response.is_success:
                    return response.status_code, self._redact(read_body(response))
                error = status_error(response, self._redact(read_error_body(response)))
        except (httpx.InvalidURL, httpx.TransportError) as failure:
            error = transport_error(failure, host=self._host, timeout_s=self._timeout_s)
        # Raised outside the handler: httpx's exception holds the request, which holds the API key.
        raise error

    def _build_request(self, call: Call, deadline: float) -> httpx.Request:
        """Return the request of a call. Raises httpx.InvalidURL if the URL is too long."""
        params = {
            name: strip_unstorable(value) if isinstance(value, str) else value
            for name, value in call.params.items()
            if value is not None
        }
        remaining_s = max(0.001, deadline - time.monotonic())
        return self._http.build_request(
            call.method,
            # Not httpx's `base_url`, which would be taken apart and rebuilt for each request.
            f"{self.base_url.rstrip('/')}{call.path}",
            params=params or None,
            json=call.body,
            headers=self._extra_headers(),
            timeout=httpx.Timeout(remaining_s, connect=min(CONNECT_TIMEOUT_S, remaining_s)),
        )

    def _redact(self, body: bytes) -> bytes:
        """Return the body without our key: some services repeat a rejected one."""
        for spelling in self._redacted:
            body = body.replace(spelling, b"[API key]")
        return body


def _clock_ahead_s(response: httpx.Response) -> float | None:
    """Return how far the service's clock is ahead of ours, in seconds; None without a date."""
    try:
        sent_at = parsedate_to_datetime(response.headers["date"])
        # A cache on the way repeats an old date.
        age_s = float(response.headers.get("age", 0))
    except (KeyError, ValueError, OverflowError):
        return None
    if sent_at.tzinfo is None:
        sent_at = sent_at.replace(tzinfo=UTC)
    return (sent_at - clock.now()).total_seconds() + age_s
