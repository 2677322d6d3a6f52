"""Health probes, Prometheus metrics, and the icon."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache as cache_of_process
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import Error, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import clock
from dashboard.observability.metrics import exposition
from dashboard.releases.worker import is_needed, is_running
from dashboard.service.health import health_now, health_word

PROBE, WRITTEN = "readiness:probe", "readiness:written"
PROBE_SIZE = 16_384
"""Characters in the row of the write probe: more than the free space of a database page."""

_logger = logging.getLogger(__name__)


def _database_is_reachable() -> bool:
    try:
        connection.ensure_connection()
    except Error:
        return False
    return connection.is_usable()


def _database_is_writable() -> bool:
    """Return whether a row can be inserted; it is deleted in the same transaction.

    After a success, the result is cached for 5 seconds. The transaction is committed, because on a
    full disk only the commit fails.
    """
    if cache.get(WRITTEN):
        return True
    row = Session(f"readiness-{uuid4().hex[:20]}", "-" * PROBE_SIZE, clock.now())
    try:
        with _short_wait_for_locks(), transaction.atomic():
            row.save(force_insert=True)
            row.delete()
    except Error as error:
        if "locked" not in str(error):  # "locked" means that others are writing.
            _logger.warning("The database can't be written: %s", error)
            return False
    cache.set(WRITTEN, 1, timeout=5)
    return True


@contextmanager
def _short_wait_for_locks() -> Iterator[None]:
    """Wait at most 0.2 s for other writers of SQLite: a load balancer doesn't wait longer."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        [usual_ms] = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute("PRAGMA busy_timeout = 200")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {usual_ms}")


def pending_migrations() -> int:
    """Return the number of migrations that are not applied. Raises django.db.Error."""
    return len(_known_migrations() - MigrationRecorder(connection).applied_migrations().keys())


@cache_of_process
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return all migrations of this release. Reading their files takes 8 ms."""
    return frozenset(MigrationLoader(None).graph.nodes)


def cache_is_working() -> bool:
    cache.set(PROBE, PROBE, timeout=10)
    return bool(cache.get(PROBE) == PROBE)


@login_not_required
@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    return HttpResponse("live\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Return 200 if database, migrations and cache are working, else 503.

    A database that can't be written, such as on a full disk, is not working.

    Three other states are reported, but never make the process unready. The service's state comes
    from earlier calls: without the service, the dashboard shows the last known state. If no worker
    runs, another process must be started, and the dashboard says what is not being done. If the
    clock differs from the database's, every time is corrected by the difference.
    """
    database, cache = _database_is_reachable(), cache_is_working()
    has_tables = database and not pending_migrations()
    checks = {
        "database": database and (not has_tables or _database_is_writable()),
        "migrations": has_tables,
        "cache": cache,
    }
    is_ready = all(checks.values())
    body = {
        "ready": is_ready,
        "checks": {name: "ok" if fine else "failed" for name, fine in checks.items()},
        "service": health_word(health_now()) if cache else "not checked yet",
        "clock": clock.warning() or "ok",
        "worker": _worker_word() if checks["migrations"] else "not checked yet",
    }
    return JsonResponse(body, status=200 if is_ready else 503)


def _worker_word() -> str:
    """Return the state of the workers: `missing` only if a release is scheduled or running."""
    if is_running(clock.now()):
        return "running"
    return "missing" if is_needed() else "not needed"


@login_not_required
@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect browsers that request the icon at its default URL."""
    return redirect(static("mark.svg"))


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to clients with METRICS_TOKEN; 404 if the setting is empty."""
    token = settings.METRICS_TOKEN
    if not token:
        raise Http404
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        message = "Send METRICS_TOKEN in the header Authorization: Bearer.\n"
        refused = HttpResponse(message, status=401, content_type="text/plain")
        refused.headers["WWW-Authenticate"] = "Bearer"
        return refused
    from dashboard.server.state_collector import StateCollector

    return HttpResponse(
        exposition(StateCollector()), content_type="text/plain; version=0.0.4; charset=utf-8"
    )
