"""The one poll of every page."""

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.views.decorators.http import require_GET

from dashboard.ledger.feed import changes_since
from dashboard.ledger.models.feed import FeedKind
from dashboard.service.outages import current_outage
from dashboard.web.live.intervals import processor_use, wait_s
from dashboard.web.live.shell_state import (
    CACHE_SECONDS,
    approvals_to_decide,
    counts_mark,
    shell_state,
    unread_notifications,
)
from dashboard.web.live.topics import EVERYTHING, topics_for
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import int_param

INTERVAL = "X-Poll-Interval"
"""Header of every response: seconds until the next poll. The name is GitHub's."""


@require_GET
def live(request: Request) -> HttpResponse:
    """Return what changed since the cursor `?since=`, in at most 2 KB; 204 if nothing did.

    `?unread=`, `?counts=` and `?outage=` are what the page shows around its content; those that
    differ are returned. `?moving=` means that something on the screen is in progress,
    `?idle=` that there was no input lately. `?user=` is the user who opened the page. `?ended=`
    means that the page shows that the session has ended.
    """
    params = request.GET
    if params.get("user", str(request.user.pk)) != str(request.user.pk):
        return session_ended(request, request.htmx.current_url_abs_path or "/")
    changes = changes_since(params.get("since", ""))
    has_changed = bool(changes.entries or changes.must_reload)
    # Presence changes often and affects no count.
    are_counted = any(entry.kind != FeedKind.PRESENCE for entry in changes.entries)
    # The first tab that gets these changes counts for the others.
    is_fresh = (are_counted or changes.must_reload) and cache.add(
        f"counted:{changes.cursor}", value=True, timeout=CACHE_SECONDS
    )
    counts, _, outage = shell_state(is_fresh=is_fresh)
    to_decide = approvals_to_decide(request.user, counts)
    is_out = bool(params.get("outage"))
    if bool(outage) != is_out:
        # A process that has cached the earlier state must not revert the page to it.
        outage = current_outage()
    unread, unread_before = (
        len(unread_notifications(request.user)),
        int_param(params.get("unread", "")),
    )
    is_switched = bool(outage) != is_out
    is_outage_new = (outage.mark if outage else "") != params.get("outage", "")
    are_counts_new = counts_mark(request.user, counts, to_decide) != params.get("counts")
    was_ended = "ended" in params
    if has_changed or is_outage_new or are_counts_new or unread != unread_before or was_ended:
        must_reload = changes.must_reload or is_switched
        context = {
            "cursor": changes.cursor,
            "topics": EVERYTHING if must_reload else topics_for(request, changes.entries),
            "counts": counts,
            "to_decide": to_decide,
            "are_counts_new": are_counts_new,
            "unread": unread,
            "is_unread_new": unread != unread_before,
            "has_grown": unread > unread_before,
            "outage": outage,
            "is_outage_new": is_outage_new,
            "was_ended": was_ended,
            "return_path": request.htmx.current_url_abs_path or "/",
        }
        response = render(request, "live/poll.html", context)
    else:
        response = HttpResponse(status=204)
    response.headers[INTERVAL] = str(
        wait_s(is_moving="moving" in params, is_idle="idle" in params, share=processor_use.share())
    )
    return response


def session_ended(request: HttpRequest, page_url: str) -> HttpResponse:
    """Return a banner: the session of an open page has ended, or is somebody else's."""
    login_url = redirect_to_login(page_url, resolve_url(settings.LOGIN_URL)).url
    return render(request, "live/session_ended.html", {"login_url": login_url})
