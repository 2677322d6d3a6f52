"""For Prometheus: what this dashboard has counted."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer whoever brings METRICS_TOKEN; without such a token there is no such address."""
    token = settings.METRICS_TOKEN
    if not token:
        raise Http404
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        said = "Send the header Authorization: Bearer, with METRICS_TOKEN.\n"
        refused = HttpResponse(said, status=401, content_type="text/plain")
        refused.headers["WWW-Authenticate"] = "Bearer"
        return refused
    from dashboard.web.instruments import exposition

    return HttpResponse(exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")
