"""The service this dashboard speaks to: one client a process."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock

from django.conf import settings
from django.utils.module_loading import import_string

from dashboard.client import Call, CallReport, PublishingClient
from dashboard.web import parallel
from dashboard.web.breakers import guarded
from dashboard.web.metrics import count_call
from dashboard.web.request_notes import current_notes, headers_of_this_request
from dashboard.web.service_health import note_call
from dashboard.web.tracing import tell_call, trace_headers, traced
from dashboard.web.watching import watch

_making = Lock()

_listening: ContextVar[list[CallReport] | None] = ContextVar("listening", default=None)


def publishing_client() -> PublishingClient:
    """Return this process's client of the service that the settings name."""
    # The cache alone would let two threads that ask first at once make a client each.
    with _making:
        return _client(
            settings.SERVICE_URL,
            settings.SERVICE_API_KEY,
            settings.SERVICE_TIMEOUT_S,
            settings.SERVICE_TRANSPORT,
        )


def close_publishing_client() -> None:
    """Close this process's client once its calls have ended; the next call makes another."""
    parallel.finish()
    publishing_client().close()
    _client.cache_clear()


@contextmanager
def listening() -> Iterator[list[CallReport]]:
    """Collect the reports of the calls that this thread makes in the block, in their order."""
    heard: list[CallReport] = []
    token = _listening.set(heard)
    try:
        yield heard
    finally:
        _listening.reset(token)


@contextmanager
def _around(call: Call) -> Iterator[None]:
    with guarded(call), traced(call):
        yield


def _headers() -> dict[str, str]:
    return headers_of_this_request() | trace_headers()


def _on_call(report: CallReport) -> None:
    heard = _listening.get()
    if heard is not None:
        heard.append(report)
    if notes := current_notes():
        notes.calls += 1
        notes.upstream_ms += report.duration_ms
    count_call(report)
    tell_call(report)
    watch(report)
    note_call(report)


@lru_cache(maxsize=1)
def _client(
    url: str | None, api_key: str | None, timeout_s: float, transport_path: str | None
) -> PublishingClient:
    # Made on first use, so that each worker has connections of its own after a fork.
    transport = None
    if transport_path:
        url, api_key, transport = import_string(transport_path).for_dashboard()
    return PublishingClient(
        base_url=url or "",
        api_key=api_key or "",
        timeout_s=timeout_s,
        transport=transport,
        on_call=_on_call,
        more_headers=_headers,
        guard=_around,
    )
