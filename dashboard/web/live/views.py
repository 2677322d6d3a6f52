"""The one poll of every page."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dashboard.ledger.feed import changes_since
from dashboard.ledger.models.feed import FeedKind
from dashboard.service.outages import current_outage
from dashboard.web.live.intervals import processor_use, wait_s
from dashboard.web.live.shell_state import (
    approvals_to_decide,
    counts_mark,
    shell_state,
    unread_notifications,
)
from dashboard.web.live.topics import EVERYTHING, topics_for
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import int_param

INTERVAL = "X-Poll-Interval"
"""A header of every response: the seconds until the next poll. GitHub's name."""


@require_GET
def live(request: Request) -> HttpResponse:
    """Return what changed since the cursor `?since=`, in at most 2 KB; 204 if nothing did.

    `?unread= counts= outage=` are what the page shows around its content, and are returned if they
    differ. With `?moving=` something on the screen is in progress; with `?idle=` nobody is there.
    """
    params = request.GET
    changes = changes_since(params.get("since", ""))
    has_changed = bool(changes.entries or changes.must_reload)
    # Nothing is counted of who is where, which changes often.
    are_counted = any(entry.kind != FeedKind.PRESENCE for entry in changes.entries)
    counts, _, outage = shell_state(is_fresh=are_counted or changes.must_reload)
    to_decide = approvals_to_decide(request.user, counts)
    is_out = bool(params.get("outage"))
    if bool(outage) != is_out:
        # Of two processes, the one that has cached the state before must not take it back.
        outage = current_outage()
    unread, unread_before = (
        len(unread_notifications(request.user)),
        int_param(params.get("unread", "")),
    )
    is_switched = bool(outage) != is_out
    are_counts_new = counts_mark(counts, to_decide) != params.get("counts")
    if has_changed or is_switched or are_counts_new or unread != unread_before:
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
            "is_switched": is_switched,
            "return_path": request.htmx.current_url_abs_path or "/",
        }
        response = render(request, "live/poll.html", context)
    else:
        response = HttpResponse(status=204)
    response.headers[INTERVAL] = str(
        wait_s(is_moving="moving" in params, is_idle="idle" in params, share=processor_use.share())
    )
    return response
