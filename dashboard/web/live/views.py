"""The one poll of every page."""

import time

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.views.decorators.http import require_GET

from dashboard.ledger.feed import changes_since
from dashboard.ledger.models.feed import FeedKind
from dashboard.service.outages import current_outage
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
WAIT_S, MOVING_WAIT_S, IDLE_WAIT_S = 10, 3, 30
"""Seconds: usually, with something in progress on the screen, and after 5 minutes without input."""
BUSY_SHARE = 0.8
"""Share of one core. Pages of a process that uses more poll half as often. Source: our choice."""


class ProcessorUse:
    """How much of one core this process uses."""

    SPAN_S = 5.0
    """Minimum time over which the use is measured."""

    def __init__(self) -> None:
        self._share, self._at, self._used_s = 0.0, time.monotonic(), time.process_time()

    def share(self) -> float:
        """Return the share in the last complete span, 1.0 for a whole core."""
        now, used_s = time.monotonic(), time.process_time()
        if now - self._at >= self.SPAN_S:
            self._share = (used_s - self._used_s) / (now - self._at)
            self._at, self._used_s = now, used_s
        return self._share


processor_use = ProcessorUse()


def wait_s(*, is_moving: bool, is_idle: bool, share: float) -> int:
    """Return the seconds until a page polls again. `share` is from `ProcessorUse`."""
    wait = IDLE_WAIT_S if is_idle else MOVING_WAIT_S if is_moving else WAIT_S
    return wait * 2 if share > BUSY_SHARE else wait


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
    kinds = {entry.kind for entry in changes.entries}
    # Presence changes often and affects no count.
    are_counted = changes.must_reload or bool(kinds - {FeedKind.PRESENCE})
    # The first tab that gets these changes counts for the others.
    is_fresh = are_counted and cache.add(
        f"counted:{changes.cursor}", value=True, timeout=CACHE_SECONDS
    )
    counts, _, outage = shell_state(is_fresh=is_fresh)
    was_out = bool(params.get("outage"))
    if bool(outage) != was_out:
        # A process that has cached the earlier state must not revert the page to it.
        outage = current_outage()
    has_changes = changes.must_reload or bool(changes.entries)
    # They decide which requests are counted.
    are_rights_new = changes.must_reload or FeedKind.RIGHTS in kinds
    unread_before = int_param(params.get("unread", ""))
    # What changes the number of unread notifications is in the feed, which may be held back.
    is_bell_due = has_changes or changes.delay_s is not None
    unread = len(unread_notifications(request.user)) if is_bell_due else unread_before
    news = {
        "are_counts_new": are_rights_new
        or counts_mark(request.user, counts) != params.get("counts"),
        "is_unread_new": unread != unread_before,
        "is_outage_new": (outage.mark if outage else "") != params.get("outage", ""),
        "was_ended": "ended" in params,
    }
    if has_changes or any(news.values()):
        must_reload = changes.must_reload or bool(outage) != was_out
        context = news | {
            "cursor": changes.cursor,
            "topics": EVERYTHING if must_reload else topics_for(request, changes.entries),
            "counts": counts,
            "unread": unread,
            "has_grown": unread > unread_before,
            "outage": outage,
            "return_path": request.htmx.current_url_abs_path or "/",
        }
        if news["are_counts_new"]:
            context["to_decide"] = approvals_to_decide(request.user, counts)
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
