"""One item of a review, the list around it, and the way to the next item."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from dashboard.accounts.permissions import PUBLISH, may
from dashboard.comments.assignees import assignee_of
from dashboard.comments.mentions import people
from dashboard.comments.queries import open_threads_of
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.ledger.queries.pages import page_names
from dashboard.ledger.queries.rows import AudienceKey
from dashboard.releases.models import Release, ReleaseState
from dashboard.review.decisions import last_of_run, read_basis, what_changed
from dashboard.review.models import DecisionKind, ReviewRun
from dashboard.review.runs import ReviewQueue, changed_words, go_to_next, read_queue
from dashboard.web.review.desk import SHOWS, Desk, read_desk
from dashboard.web.review.later import later_choices, later_form
from dashboard.web.ui.forms import resumed_form
from dashboard.web.ui.htmx import Request, render_partial, wants_partial

DESK = "review/desk.html"
AROUND = "around"
"""The HX-Target of requests for the list, the numbers and the last decision."""
LISTED_BEFORE, LISTED_AFTER = 30, 60
"""Number of items shown before and after the selected one. Source: our choice."""
MAX_DRAFTS = 10
FORMS = {
    "comment": DecisionKind.NEEDS_WORK.value,
    "reason": DecisionKind.REJECTED.value,
    "date": DecisionKind.LATER.value,
}
"""The kind of decision by a field that only its form has."""


@require_GET
def review_item(request: Request, run_id: int, number: int) -> HttpResponse:
    """Show an item of a review. `?show=` selects its changes, its version or the live text.

    Partials: "item" for the item alone, also used to fetch the next items in advance; "around" for
    the list and the numbers; "review-items" for the list; "now" for what has changed since the page
    was loaded with the digest `?shown=`.
    """
    run = own_run(request, run_id)
    key_of(run, number)
    queue = read_queue(run)
    if wants_partial(request, (AROUND, "review-items")):
        template = f"review/{request.htmx.target}.html"
        return render(request, template, around_context(queue, number))
    if wants_partial(request, ("now",)):
        return _show_now(request, queue, number)
    resumed = resumed_form(request)
    if resumed is None:
        return show_item(request, queue, number)
    fields = {name: str(value) for name, value in resumed.items()}
    opened = next((kind for name, kind in FORMS.items() if name in resumed), "")
    return show_item(request, queue, number, fields=fields, opened=opened)


def _show_now(request: Request, queue: ReviewQueue, number: int) -> HttpResponse:
    """Show who is deciding on an item, and what has changed since its page was loaded."""
    item = queue[number]
    record = audience_last_known(*item.key)
    basis = read_basis(record, request.user.pk) if record else None
    displayed = request.GET.get("shown", "")
    has_changed = bool(basis and displayed and basis.digest != displayed)
    context = {
        "run": queue.run,
        "number": number,
        "desk": Desk(item, basis, None),
        "displayed": displayed,
        "has_changed": has_changed,
        "change": what_changed(queue.run, basis, request.user) if basis else "",
    }
    return render(request, f"{DESK}#now", context)


def key_of(run: ReviewRun, number: int) -> AudienceKey:
    """Return the ids of the item with this number, which starts at 1. Raises Http404."""
    if not 1 <= number <= len(run.keys):
        raise Http404
    page_id, audience_id = run.keys[number - 1]
    return page_id, audience_id


def show_item(
    request: Request,
    queue: ReviewQueue,
    number: int,
    *,
    problem: str = "",
    fields: Mapping[str, str] | None = None,
    opened: str = "",
) -> HttpResponse:
    """Show an item. `problem` is why a decision was refused, `opened` the kind of its form."""
    desk = read_desk(queue[number], request.user.pk)
    show = request.GET.get("show", "")
    drafts = Release.listed.filter(state=ReleaseState.DRAFT, owner=request.user)
    context = around_context(queue, number) | {
        "desk": desk,
        "reading": desk.review.reading if desk.review else None,
        "show": show if show in SHOWS else SHOWS[0],
        "has_changed": False,
        "change": "",
        "choices": later_choices(),
        "back_at": later_form(fields or {}),
        "assignee": assignee_of(*queue[number].key),
        "people": people(),
        "drafts": drafts.order_by("-created_at")[:MAX_DRAFTS],
        "problem": problem,
        "fields": fields or {},
        "opened": opened,
    }
    return render_partial(request, DESK, context, parts=("item",), status=422 if problem else 200)


def around_context(queue: ReviewQueue, number: int) -> dict[str, Any]:
    before = [item for item in queue.selected if item.number < number]
    listed_items = (
        before[-LISTED_BEFORE:] + queue.selected[len(before) : len(before) + LISTED_AFTER]
    )
    assignees = {item.assignee_id for item in listed_items}
    return {
        "here": "review",
        "run": queue.run,
        "queue": queue,
        "number": number,
        "listed_items": listed_items,
        "listed_before": max(len(before) - LISTED_BEFORE, 0),
        "page_names": page_names(sorted({item.page_id for item in listed_items})),
        "assignees": User.objects.filter(is_active=True).in_bulk(assignees - {None}),
        "open_comments": open_threads_of([item.place for item in listed_items], queue.run.user_id),
        "words": changed_words(queue.run, [item for item in listed_items if item.is_open]),
        "last": last_of_run(queue.run),
    }


def own_run(request: Request, run_id: int) -> ReviewRun:
    """Return a review of the user. Raises Http404 if it belongs to somebody else."""
    return get_object_or_404(
        ReviewRun.objects.select_related("release"), pk=run_id, user=request.user
    )


def item_url(run: ReviewRun, number: int) -> str:
    return reverse("review-item", args=[run.pk, number])


def redirect_to_next(
    request: Request, run: ReviewRun, number: int, *, may_stay: bool = False
) -> HttpResponse:
    """Redirect to the next item, or to the summary if none is left.

    The script desk.js gets only the list around the item, with the item's URL in a header, because
    it fetches items by itself, usually in advance.
    """
    may_decide = may(request, PUBLISH)
    item = go_to_next(read_queue(run), number, may_decide=may_decide, may_stay=may_stay)
    url = item_url(run, item.number) if item else reverse("review-summary", args=[run.pk])
    if not wants_partial(request, (AROUND,)):
        return redirect(url)
    context = around_context(read_queue(run), item.number if item else number)  # with the new claim
    response = render(request, "review/around.html", context)
    response["X-Next"] = url
    return response
