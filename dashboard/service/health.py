"""Health of the service, in the cache: the calls of each minute of the last hour, and its clock.

The calls of pages, workers and commands are counted. One cache entry holds the minutes of one hour
of the clock. The calls of a request are added at its end. Entries are plain lists, because several
releases may share a cache.

Dates of the service are compared with its own clock, which the `Date` header of its responses
shows. Otherwise a version could be in progress for a negative time.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple, cast

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from pydantic import TypeAdapter, ValidationError

from dashboard import clock
from dashboard.client import (
    AuthenticationError,
    CallReport,
    InvalidURLError,
    NoResponseError,
    ServerError,
)
from dashboard.observability.request_context import CallRecord, RequestNotes, current_notes
from dashboard.service.circuit_breaker import FAILURE_THRESHOLD
from dashboard.service.conformance import write_deviations
from dashboard.service.outages import CACHE_KEY, note_failure, note_response

SLOW_MS, FAST_MS = 2_000, 300
MINUTES = 60
_MAX_SAMPLES = 5
_CACHE_S = 2 * 60 * MINUTES
_ANSWERING, _SILENT, _FAILING = "answering", "silent", "failing"
_KEY_REFUSED = "key refused"
MAX_REASON_CHARACTERS = 300
CLOCK_TOLERANCE_S = 30
"""Clocks that differ by less count as equal: `Date` has whole seconds, and responses take time.
Source: our choice."""
_MIN_CLOCK_CHANGE_S = 5
_CLOCK_CACHE_S = 60 * 60
_CLOCK_KEY = "service:clock-ahead:1"


class MinuteBucket(NamedTuple):
    answered: int = 0
    slow: int = 0
    failed: int = 0
    state: str = _SILENT
    """State of the last call."""
    durations_ms: tuple[float, ...] = ()
    """Durations of the last calls with a response, at most 5: each page loads an hour of them."""
    responded_at: float = 0.0
    """When the last call with a response began, in seconds since the epoch."""
    failed_since: int = 0
    """Number of failed calls that began after `responded_at`."""
    failed_at: float = 0.0
    """When the last of these failed calls began, in seconds since the epoch."""
    reason: str = ""
    """Why it failed, as a sentence."""

    @property
    def calls(self) -> int:
        return self.answered + self.failed

    def with_call(self, call: CallRecord) -> "MinuteBucket":
        began = call.started_at.timestamp()
        if call.state != _ANSWERING:
            failed = self._replace(failed=self.failed + 1)
            if began < self.responded_at:
                return failed  # Later calls got a response.
            return failed._replace(
                state=call.state,
                failed_since=self.failed_since + 1,
                failed_at=began,
                reason=call.reason,
            )
        durations = (*self.durations_ms[1 - _MAX_SAMPLES :], call.duration_ms)
        slow = self.slow + (call.duration_ms > SLOW_MS)
        return MinuteBucket(
            self.answered + 1,
            slow,
            self.failed,
            _ANSWERING,
            durations,
            max(began, self.responded_at),
        )


_CACHED_MINUTES = TypeAdapter(list[tuple[int, MinuteBucket]])


@dataclass(frozen=True)
class Health:
    """The last hour, oldest minute first; None for a minute without calls."""

    minutes: list[MinuteBucket | None]
    is_responding: bool | None
    """Whether the last call got a response; None if there were no calls in the hour."""
    is_key_rejected: bool
    """Whether the service rejected our API key in the last call."""
    median_ms: float | None
    slow: int
    failed: int
    responded_at: datetime | None
    """The time of the last response in the hour, or None."""

    @property
    def active_minutes(self) -> int:
        return sum(minute is not None for minute in self.minutes)


def record_call(report: CallReport) -> None:
    """Record a call at the end of its request. Outside a request, record it at once."""
    state = _ANSWERING
    match report.error:
        case InvalidURLError():
            return  # Nothing was sent.
        case NoResponseError():
            state = _SILENT
        case ServerError():
            state = _FAILING
        case AuthenticationError():
            state = _KEY_REFUSED
    reason = "" if state == _ANSWERING else str(report.error)[:MAX_REASON_CHARACTERS]
    call = CallRecord(report.started_at.astimezone(UTC), report.duration_ms, state, reason)
    if notes := current_notes():
        notes.calls.append(call)
        notes.unwritten.append(call)
    else:
        _add_to_cache([call])


def record_calls_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Record a request's calls, and the deviations in their responses, after the request."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if notes := current_notes():
            write_calls(notes)
            write_deviations(notes)
            if response.streaming:
                streaming = cast("StreamingHttpResponse", response)
                pieces = cast("list[bytes]", streaming.streaming_content)
                streaming.streaming_content = _stream_then_write(pieces, notes)
        return response

    return middleware


def _stream_then_write(pieces: Iterable[bytes], notes: RequestNotes) -> Iterator[bytes]:
    try:
        yield from pieces
    finally:
        write_calls(notes)


def write_calls(notes: RequestNotes) -> None:
    calls, notes.unwritten = notes.unwritten, []
    _add_to_cache(calls)


def health_now() -> Health:
    now = clock.now().astimezone(UTC)
    before = now - timedelta(hours=1)
    notes = current_notes()
    cached = cache.get_many({_key(before), _key(now)})
    hours = _hours_with(list(notes.unwritten) if notes else [], cached)
    earlier, current = hours[_key(before)], hours[_key(now)]
    minutes: list[MinuteBucket | None] = [
        *map(earlier.get, range(now.minute + 1, MINUTES)),
        *map(current.get, range(now.minute + 1)),
    ]
    seen = [minute for minute in minutes if minute]
    durations = [duration for minute in seen for duration in minute.durations_ms]
    responded = [minute.responded_at for minute in seen if minute.responded_at]
    responded_at = datetime.fromtimestamp(max(responded), UTC) if responded else None
    return Health(
        minutes=minutes,
        is_responding=seen[-1].state == _ANSWERING if seen else None,
        is_key_rejected=bool(seen) and seen[-1].state == _KEY_REFUSED,
        median_ms=median(durations) if durations else None,
        slow=sum(minute.slow for minute in seen),
        failed=sum(minute.failed for minute in seen),
        responded_at=responded_at,
    )


def health_word(health: Health) -> str:
    if health.is_key_rejected:
        return "key rejected"
    return {True: "operational", False: "unavailable", None: "not checked yet"}[
        health.is_responding
    ]


def is_fast() -> bool:
    health = health_now()
    return bool(health.is_responding and (health.median_ms or 0) <= FAST_MS)


def _add_to_cache(calls: list[CallRecord]) -> None:
    """Add calls to their minutes. Two processes may overwrite each other's calls: it is a gauge."""
    if not calls:
        return
    cached = cache.get_many([CACHE_KEY, *{_key(call.started_at) for call in calls}])
    outage = cached.pop(CACHE_KEY, None)
    hours = _hours_with(calls, cached)
    for key, minutes in hours.items():
        cache.set(key, [*minutes.items()], timeout=_CACHE_S)
    if any(call.state == _ANSWERING for call in calls):
        note_response(clock.now(), outage)
        return
    last = max(calls)
    minutes = hours[_key(last.started_at)]
    failed, responded_at = 0, None
    for _, minute in sorted(minutes.items(), reverse=True):
        failed += minute.failed_since
        if minute.answered:
            responded_at = datetime.fromtimestamp(minute.responded_at, UTC)
            break
    if failed >= FAILURE_THRESHOLD:
        note_failure(clock.now(), last.reason, responded_at, cached=outage)


def _hours_with(
    calls: list[CallRecord], cached_hours: dict[str, object]
) -> dict[str, dict[int, MinuteBucket]]:
    """Return the readable cached minutes, with these calls added."""
    hours = defaultdict[str, dict[int, MinuteBucket]](dict)
    for key, cached in cached_hours.items():
        # Another release that shares the cache may have cached another format.
        with suppress(ValidationError):
            hours[key] = dict(_CACHED_MINUTES.validate_python(cached))
    for call in calls:
        minutes, minute = hours[_key(call.started_at)], call.started_at.minute
        minutes[minute] = minutes.get(minute, MinuteBucket()).with_call(call)
    return hours


def _key(moment: datetime) -> str:
    return f"service:calls:5:{int(moment.timestamp()) // 3600}"


def record_clock(report: CallReport) -> None:
    """Record by how much the clocks differ. Written only if the difference has changed."""
    if report.clock_ahead_s is None:
        return
    ahead_s = round(report.clock_ahead_s) if abs(report.clock_ahead_s) >= CLOCK_TOLERANCE_S else 0
    if abs(ahead_s - cache.get(_CLOCK_KEY, 0)) >= _MIN_CLOCK_CHANGE_S:
        cache.set(_CLOCK_KEY, ahead_s, timeout=_CLOCK_CACHE_S)


def clock_ahead() -> timedelta:
    """Return how far the service's clock is ahead of ours; negative if it is behind."""
    return timedelta(seconds=cache.get(_CLOCK_KEY, 0))


def service_time(now: datetime) -> datetime:
    return now + clock_ahead()
