"""Decide on an item of a review, undo a decision, or go on without one."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dashboard.accounts.permissions import PUBLISH, View, requires
from dashboard.comments.threads import CommentError
from dashboard.live.presence import place_of, take_over
from dashboard.releases.drafting import add_audiences, create_release, remove_item
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.review.decisions import (
    DecidedError,
    DecisionBasis,
    decide,
    deciding,
    is_decided_by,
    last_of_run,
    undo,
)
from dashboard.review.models import (
    MAX_REASON,
    AssignedTo,
    DecisionKind,
    ReviewDecision,
    ReviewRun,
)
from dashboard.review.runs import read_queue
from dashboard.web.review.item_views import item_url, key_of, own_run, redirect_to_next, show_item
from dashboard.web.review.later import later_columns
from dashboard.web.review.needs_work import named_accounts, needs_work, undo_needs_work
from dashboard.web.ui.forms import forget_unsent_form, keep_form
from dashboard.web.ui.htmx import Request, posted_from
from dashboard.web.ui.query_params import int_param

Columns = dict[str, Any]
Act = Callable[[Request, ReviewRun, DecisionBasis], Columns]
"""What a decision does besides its record, in the same transaction. Returns extra columns."""

REFUSAL = "You need the Publisher role to decide. You can read and comment."


def decision(kind: DecisionKind) -> Callable[[Act], View]:
    """Make a view that records a decision of this kind and goes on.

    A refused form is shown again with its fields filled in.
    """

    def decorate(act: Act) -> View:
        @posted_from("review-item")
        @requires(PUBLISH, refusal=REFUSAL)
        @wraps(act)
        def view(request: Request, run_id: int, number: int) -> HttpResponse:
            run, displayed_digest = own_run(request, run_id), request.POST.get("shown", "")
            key, named = key_of(run, number), named_accounts(request.POST)
            try:
                with deciding(run, key, request.user, displayed_digest, accounts=named) as basis:
                    columns = act(request, run, basis)
                    decide(run, basis, request.user, kind, **columns)
            except (DecidedError, ReleaseError, CommentError) as error:
                # The same form may have been sent just before, as by a double click.
                if not is_decided_by(run, kind, displayed_digest):
                    return show_item(
                        request,
                        read_queue(run),
                        number,
                        problem=str(error),
                        fields=request.POST.dict(),
                        opened=kind.value,
                    )
            forget_unsent_form(request)
            return redirect_to_next(request, run, number)

        return view

    return decorate


@decision(DecisionKind.RELEASE)
def review_release(request: Request, run: ReviewRun, basis: DecisionBasis) -> Columns:
    """Add the version to this review's draft, or to the draft that the user chose."""
    record = basis.record
    key = (record.page_id, record.audience_id)
    chosen = Release.objects.filter(pk=int_param(request.POST.get("release", ""))).first()
    is_draft = run.release is not None and run.release.state == ReleaseState.DRAFT
    release = chosen or (run.release if is_draft else None)
    if release is None:
        release = create_release(
            name=f"Review: {run.title}"[:200], note="", audiences=[key], user=request.user
        )
    else:
        add_audiences(release, [key], request.user)
    ReviewRun.objects.filter(pk=run.pk).update(release=release)
    item = release.items.get(page_id=record.page_id, audience_id=record.audience_id)
    return {"release_item": item}


@decision(DecisionKind.NEEDS_WORK)
def review_needs_work(request: Request, run: ReviewRun, basis: DecisionBasis) -> Columns:
    """Comment on the audience, and assign it to the chosen user, if any."""
    assignee = request.POST.get("assignee", "")
    words = request.POST.get("comment", "")
    return needs_work(basis, request.user, words, int_param(assignee) if assignee else None)


@decision(DecisionKind.REJECTED)
def review_reject(request: Request, run: ReviewRun, basis: DecisionBasis) -> Columns:
    reason = request.POST.get("reason", "").replace("\r\n", "\n").replace("\0", "").strip()
    if len(reason) > MAX_REASON:
        raise DecidedError(f"The maximum is {MAX_REASON:,} characters. Nothing was decided.")
    return {"reason": reason}


@decision(DecisionKind.LATER)
def review_later(request: Request, run: ReviewRun, basis: DecisionBasis) -> Columns:
    return later_columns(request.POST)


@decision(DecisionKind.SKIPPED)
def review_skip(request: Request, run: ReviewRun, basis: DecisionBasis) -> Columns:
    return {}


@require_POST
def review_next(request: Request, run_id: int, number: int) -> HttpResponse:
    """Go to the next open item that nobody else claims, without a decision."""
    return redirect_to_next(request, own_run(request, run_id), number)


@require_POST
def review_narrow(request: Request, run_id: int, number: int) -> HttpResponse:
    """Narrow a review by assignee; stay at the item if it is among the open ones."""
    run = own_run(request, run_id)
    run.assigned_to = request.POST.get("assigned_to", "")
    if run.assigned_to not in AssignedTo:
        raise Http404
    run.save(update_fields=["assigned_to"])
    return redirect_to_next(request, run, number, may_stay=True)


@require_POST
@requires(PUBLISH, refusal=REFUSAL)
def review_take_over(request: Request, run_id: int, number: int) -> HttpResponse:
    """Claim an item on which somebody else is deciding. Their page shows it at once."""
    run = own_run(request, run_id)
    take_over(request.user.pk, run.tab, place_of("audience", *key_of(run, number)))
    return redirect(item_url(run, number))


@require_POST
@requires(PUBLISH, refusal=REFUSAL)
def review_undo(request: Request, run_id: int, number: int) -> HttpResponse:
    """Undo a decision of this review and show its item, with what was typed in its form again.

    Without `decision`, undo the last one.
    """
    run = own_run(request, run_id)
    named = ReviewDecision.objects.filter(run=run, pk=int_param(request.POST.get("decision", "")))
    decision = named.first() or last_of_run(run)
    if decision is None:
        problem = "Nothing to undo. A publish can be rolled back."
        return show_item(request, read_queue(run), number, problem=problem)
    fields: dict[str, list[Any]] = {}
    try:
        with transaction.atomic():
            item = ReleaseItem.objects.filter(pk=decision.release_item_id or 0).first()
            if undo(decision):
                if item:
                    remove_item(item)
                if comment := undo_needs_work(decision):
                    fields = {"comment": [comment], "assignee": [decision.assignee_id or ""]}
                elif decision.reason:
                    fields = {"reason": [decision.reason]}
    except ReleaseError as error:
        return show_item(request, read_queue(run), number, problem=str(error))
    key = [decision.page_id, decision.audience_id]
    url = item_url(run, run.keys.index(key) + 1 if key in run.keys else number)
    return redirect(keep_form(request, url, fields, request.user.pk) if fields else url)
