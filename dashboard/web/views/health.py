"""For load balancers: whether this process lives, and whether it can do its work."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.web.readiness import cache_keeps, database_answers, pending_migrations
from dashboard.web.service_health import health_now

SERVICE = {True: "answering", False: "not answering", None: "not asked yet"}


@login_not_required
@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Answer as long as this process does."""
    return HttpResponse("live\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Say whether database, migrations and cache are in order: 200 when they are, else 503.

    The service is told from the calls already made, and never makes this process unready:
    without it the dashboard still shows what was last known.
    """
    database, cache = database_answers(), cache_keeps()
    checks = {
        "database": database,
        "migrations": database and not pending_migrations(),
        "cache": cache,
    }
    is_ready = all(checks.values())
    body = {
        "ready": is_ready,
        "checks": {name: "ok" if fine else "failed" for name, fine in checks.items()},
        "service": SERVICE[health_now().is_answering if cache else None],
    }
    return JsonResponse(body, status=200 if is_ready else 503)
