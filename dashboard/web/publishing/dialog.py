"""The publish dialog on the page of an audience: its content, and the checks of its forms.

It shows the review of a version or the progress of its publish.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import wraps
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode
from django_htmx.http import (
    HttpResponseClientRedirect,
    push_url,
    replace_url,
    reswap,
    retarget,
    trigger_client_event,
)

from dashboard import clock
from dashboard.accounts.permissions import PUBLISH, View, may
from dashboard.approvals.requests import ApprovalError, valid_emergency_reason
from dashboard.approvals.rule import may_publish_in_an_emergency
from dashboard.contract.audiences import text_of
from dashboard.ledger.models import Operation, PageRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import publish_key, show_interrupted
from dashboard.ledger.queries.audiences import publications_of_versions, rollback_target
from dashboard.ledger.queries.operations import publishes_of
from dashboard.observability.request_context import tolerate_write_errors
from dashboard.operations.checking import (
    PublishTarget,
    load_version_state,
    read_version_state,
    settle_from_snapshot,
)
from dashboard.operations.publish import find_publish, has_changed, publish_in_progress
from dashboard.operations.publish_preflight import Finding, Severity
from dashboard.operations.publish_progress import Stage, publish_progress, typical_times
from dashboard.operations.publish_review import PublishReview, review_publish
from dashboard.releases.models import MAX_NOTE
from dashboard.releases.planning import planned_publishes
from dashboard.review.runs import review_at
from dashboard.text_diff import compare_texts
from dashboard.texts import storage_problem
from dashboard.web.audiences.state import head_last_known, head_of
from dashboard.web.audiences.views import audience_context
from dashboard.web.releases.schedule_form import APPROVAL, NOW, SCHEDULE, ScheduleForm
from dashboard.web.releases.summary import worker_status
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.markup import duration
from dashboard.web.ui.query_params import int_param

OUT_OF_DATE = "This form is out of date. Nothing was sent. Review it again, then publish."
CHANGED = "Something changed since you opened this form. Nothing was sent."
NOT_READ = "Nothing was scheduled or requested, as the version couldn’t be checked."
NOT_RESENT = "Not sent again. Review the warnings first."
RECENTLY = timedelta(minutes=15)
"""How recent a publish must be to explain a changed form. Source: our choice."""
NEEDS_APPROVAL = "Not sent. It needs the approval of another person. Request it instead."

_VIEWS = {NOW: "version-publish", SCHEDULE: "version-schedule", APPROVAL: "version-request"}
_KINDS = {Stage.UNKNOWN: "unknown", Stage.LIVE: "live"}
"""Stages with a dialog of their own, and its kind."""


def show_review(
    request: Request,
    review: PublishReview,
    *,
    form: ScheduleForm | None = None,
    failed: Operation | None = None,
    is_retry: bool = False,
    problem: str = "",
    entered_number: str = "",
    status: int = 200,
) -> HttpResponse:
    # A number that was typed for one risk doesn't confirm another.
    entered_number = "" if problem in (OUT_OF_DATE, CHANGED) else entered_number
    is_needed = review.needs_approval
    if form is None or (form.is_now and is_needed):
        initial = ScheduleForm.initial(needs_approval=is_needed)
        form = replace(initial, note=form.note if form else "")
    context = review_context(request, review, failed) | {
        "kind": "confirm",
        "version_state": review.state,
        "form": form,
        "problem": with_name(request, review, problem) or form.problem,
        "days": review.rule.days,
        "worker": worker_status(),
        "is_retry": is_retry,
        "entered_number": entered_number,
    }
    return render_dialog(request, review.target, context, status=status)


def review_rollback(request: Request, target: PublishTarget) -> PublishReview:
    """Review a rollback. It is a finding if another version is live than when it was offered."""
    review = review_publish(target, with_conversation=False)
    version, live = review.snapshot.version, review.snapshot.live
    offered, number = _offered(request), version.version_number if version else None
    if live and offered and live.version_number not in (offered, number):
        changed = Finding(
            Severity.RISK,
            f"Version {live.version_number} is live now, not version {offered}.",
            "It went live since you opened the page.",
        )
        review = replace(review, findings=[changed, *review.findings])
    return review


def _offered(request: Request) -> int:
    """Return the number of the version that was live when the rollback was offered, or 0."""
    return int_param(request.GET.get("from", ""))


def note_problem(note: str) -> str:
    return storage_problem("reason", note, MAX_NOTE)


def show_rollback(
    request: Request,
    review: PublishReview,
    *,
    failed: Operation | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    page_id, audience_id, version_id = review.target
    periods = publications_of_versions(page_id, audience_id, [version_id])
    offered = _offered(request)
    context = review_context(request, review, failed) | {
        "kind": "rollback",
        "period": periods[0] if periods else None,
        "note": request.POST.get("note", ""),
        "problem": with_name(request, review, problem),
        "operation_key": publish_key(*review.target) if failed else review.operation_key,
        "offered": f"?from={offered}" if offered else "",
    }
    return render_dialog(request, review.target, context, status=status)


def with_name(request: Request, review: PublishReview, problem: str) -> str:
    """Add who published meanwhile to the problem of an outdated form."""
    if problem not in (CHANGED, OUT_OF_DATE):
        return problem
    page_id, audience_id, _ = review.target
    now = clock.now()
    by_others = publishes_of(page_id, audience_id).exclude(actor=request.user)
    last = by_others.filter(outcome=Outcome.ACCEPTED, requested_at__gt=now - RECENTLY).first()
    if last is None:
        return problem
    act = "rolled back to" if last.is_rollback else "published"
    elapsed = now - last.requested_at
    at = " just now" if elapsed < timedelta(minutes=1) else f", {duration(elapsed)} ago"
    _, _, rest = problem.partition(". ")
    return f"{last.actor_name} {act} version {last.version_number}{at}. {rest}"


def review_context(
    request: Request, review: PublishReview, failed: Operation | None
) -> dict[str, Any]:
    """Return the context that the dialogs of a publish and of a rollback share.

    `failed` is the operation to try again.
    """
    page_id, audience_id, _ = review.target
    is_needed = review.needs_approval
    texts = text_of(review.snapshot.live), text_of(review.snapshot.version)
    return {
        "review": review,
        "reading": review.reading,
        "difference": SimpleLazyObject(lambda: compare_texts(*texts)),
        "usual": typical_times(timezone.localdate()),
        "needs_approval": is_needed,
        "may_skip_approval": is_needed and may_publish_in_an_emergency(request.user),
        "emergency_reason": request.POST.get("emergency_reason", ""),
        "planned": planned_publishes([page_id]).get((page_id, audience_id), []),
        "failed": failed,
        "failed_attempt": failed.attempts.last() if failed else None,
        "head": SimpleLazyObject(lambda: head_of(page_id, audience_id, review.reading.value)),
    }


def show_publish(request: Request, operation: Operation, *, is_new: bool = False) -> HttpResponse:
    """Show a recorded publish: its progress, its unknown outcome, or the form to try again.

    `is_new` means that it was just sent. Then its response is shown and nothing is fetched.
    """
    attempts = list(operation.attempts.all())
    show_interrupted(operation, attempts)
    snapshot = load_version_state(operation) if is_new else read_version_state(operation)
    if not is_new:
        with tolerate_write_errors():
            operation = settle_from_snapshot(operation, snapshot)
        show_interrupted(operation, attempts)
    if operation.has_no_effect:
        if not may(request, PUBLISH):
            record = reverse("operation-detail", args=[operation.operation_key])
            return HttpResponseClientRedirect(record) if request.htmx else redirect(record)
        review = review_publish(PublishTarget.of(operation), with_conversation=True)
        return show_review(request, review, failed=operation)
    now = clock.now()
    usual = typical_times(timezone.localdate(now))
    progress = publish_progress(operation, snapshot, usual=usual, now=now)
    if is_new and progress.stage is Stage.LIVE:
        # A response doesn't record what is live. That takes a read.
        return show_publish(request, operation)
    target = PublishTarget.of(operation)
    page_names = PageRecord.objects.filter(page_id=target.page_id).values_list("name", flat=True)
    context: dict[str, Any] = {
        "kind": _KINDS.get(progress.stage, "progress"),
        "operation": operation,
        "page_name": page_names.first() or target.page_id,
        "attempts": attempts,
        "attempt": attempts[-1] if attempts else None,
        "progress": progress,
        "snapshot": snapshot,
        "usual": usual,
        "is_new": is_new,
        "watch_url": publish_url(operation),
        "was": request.GET.get("was", ""),
    }
    if progress.stage is Stage.LIVE:
        context |= _what_comes_next(target, operation)
        page_id, audience_id, _ = target
        context["review"] = review_at(request.user.pk, page_id, audience_id)
    return render_dialog(request, target, context)


def _what_comes_next(target: PublishTarget, operation: Operation) -> dict[str, Any]:
    """Return the version to roll back to.

    After a rollback, return when the version that was rolled back was live.
    """
    page_id, audience_id, _ = target
    if not operation.is_rollback:
        return {"rollback": rollback_target(page_id, audience_id), "rolled_back": None}
    periods = publications_of_versions(page_id, audience_id, [operation.rolled_back_id])
    return {"rollback": None, "rolled_back": periods[0] if periods else None}


def show_result(request: Request, operation: Operation) -> HttpResponse:
    """Show the operation. Without htmx, redirect to its own URL."""
    if not request.htmx:
        return redirect(publish_url(operation))
    # The page behind the dialog reloads the state of the version.
    return trigger_client_event(show_publish(request, operation, is_new=True), "version-published")


def render_dialog(
    request: Request, target: PublishTarget, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    defaults: dict[str, Any] = {
        "here": "pages",
        "target": target,
        "progress": None,
        "loads_counts": False,
        "head": SimpleLazyObject(lambda: head_last_known(target.page_id, target.audience_id)),
    }
    context = defaults | context
    template = "publishing/dialog.html"
    if request.htmx.target == "progress" and request.GET.get("kind") != context["kind"]:
        # The poll got another kind of dialog, which replaces the whole dialog.
        response = render(request, f"{template}#publish", context, status=status)
        return reswap(retarget(response, "closest dialog"), "innerHTML")
    parts = ("dialogs", "publish", "progress")
    if not wants_partial(request, parts) and context["head"]:
        context = audience_context(context["head"]) | context
    response = render_partial(request, template, context, parts=parts, status=status)
    return _update_url(request, context, response)


def _update_url(request: Request, context: dict[str, Any], response: HttpResponse) -> HttpResponse:
    """Set the URL of the dialog, so that Back closes it and a reload reopens it."""
    if request.method != "POST":
        update = {"dialogs": push_url, "publish": replace_url}.get(request.htmx.target or "")
        return update(response, request.get_full_path()) if update else response
    operation: Operation | None = context.get("operation") or context.get("failed")
    url = publish_url(operation) if operation else context.get("scheduled_url")
    return replace_url(response, url) if url and request.htmx.target == "publish" else response


def publish_url(operation: Operation) -> str:
    view = "rollback-progress" if operation.is_rollback else "publish-progress"
    url = reverse(view, args=PublishTarget.of(operation))
    return f"{url}?{urlencode({'operation': operation.operation_key})}"


def chosen(choice: str) -> Callable[[View], View]:
    """Redirect a form to the view of the choice made in it.

    The Enter key presses the first button of the form, which may belong to another choice.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: Request, **ids: str) -> HttpResponse:
            when = NOW if "emergency" in request.POST else request.POST.get("when", choice)
            if when == choice or when not in _VIEWS:
                return view(request, **ids)
            return redirect(_VIEWS[when], permanent=False, preserve_request=True, **ids)

        return guarded

    return decorate


def recorded_publish(request: Request, target: PublishTarget) -> Operation:
    """Return the publish that `?operation=` names. Raises Http404."""
    operation = find_publish(target, request.GET.get("operation", ""))
    if operation is None:
        raise Http404
    return operation


def read_again(_: Request, target: PublishTarget) -> PublishReview:
    """Review a version for a submitted form, without its conversation."""
    return review_publish(target, with_conversation=False)


def reviewed_again(
    read: Callable[[Request, PublishTarget], PublishReview] = read_again,
    show: Callable[[Request, Operation], HttpResponse] = show_result,
) -> Callable[[Callable[[Request, PublishReview], HttpResponse]], View]:
    """Review the version again. If its publish is recorded or in progress, show that instead."""

    def decorate(act: Callable[[Request, PublishReview], HttpResponse]) -> View:
        @wraps(act)
        def view(request: Request, **ids: str) -> HttpResponse:
            target = PublishTarget(**ids)
            review = read(request, target)
            posted_key = request.POST.get("operation_key", "")
            if recorded := find_publish(target, posted_key) or publish_in_progress(review):
                return show(request, recorded)
            return act(request, review)

        return view

    return decorate


def stale_problem(request: Request, review: PublishReview, *, unread: str = "") -> str:
    """Return why the form doesn't fit the review, or "".

    Returns `unread` if the version couldn't be read.
    """
    if request.POST.get("operation_key", "") != review.operation_key:
        return OUT_OF_DATE
    if not review.reading.is_live:
        return unread
    return CHANGED if has_changed(review, request.POST.get("shown", "")) else ""


def emergency_reason(request: Request, review: PublishReview) -> str:
    """Return the reason for publishing without the required approval; "" if none is required.

    Raises ApprovalError if the user may not do this or gave no reason.
    """
    if not review.needs_approval:
        return ""
    if "emergency" not in request.POST:
        raise ApprovalError(NEEDS_APPROVAL)
    return valid_emergency_reason(request.user, request.POST.get("emergency_reason", ""))
